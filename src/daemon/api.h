/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What clients of the socket may ask for: the callbacks of struct query_source. */

#include "daemon/state.h"

/* Opens the socket. Returns 0 or a negative errno, logged. */
int api_open(struct manager *manager);

/* As query_source.reload; userdata is the manager. */
int api_reload(void *userdata, void (*warn)(void *context, const char *line), void *context,
	       char **ret_message);
