/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Strict reading of an ini file through inih, which alone cuts long lines, joins indented ones and
 * goes on after an error: every line is looked at before inih gets it, and the first fault ends
 * the reading.
 */

#include <stddef.h>

#include "config/error.h"

struct sim_ini {
	void *data;		 /* of the caller, for the callbacks */
	unsigned int fault_line; /* a callback sets it where the fault is in an earlier line */

	/*
	 * Return 0, or a negative errno and *ret_message, "what was found, what was expected",
	 * allocated; the reader puts the place before it.
	 */
	int (*on_section)(void *data, unsigned int line, const char *name, char **ret_message);
	int (*on_key)(void *data, unsigned int line, const char *name, const char *value,
		      char **ret_message);
};

/* Returns 0, or a negative errno and *ret_message with file:line, which the caller frees. */
int sim_ini_read(struct sim_ini *ini, const char *path, char **ret_message);
