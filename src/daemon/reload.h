/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/state.h"

/*
 * Reads the policy again; warn, if not NULL, gets each line of warning. On failure returns a
 * negative errno with the old policy in force, and in *ret_message an allocated message (file:line:
 * error), which the caller frees and which is NULL without memory.
 */
int manager_reload(struct manager *manager, void (*warn)(void *context, const char *line),
		   void *context, char **ret_message);
