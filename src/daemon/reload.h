/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/state.h"

/*
 * Reads the policy again; warn, if it is not NULL, gets each line that warns of something
 * meanwhile. On failure returns a negative errno and an allocated message in *ret_message
 * (file:line: what is wrong), which the caller frees and which is NULL without memory; the old
 * policy stays.
 */
int manager_reload(struct manager *manager, void (*warn)(void *context, const char *line),
		   void *context, char **ret_message);
