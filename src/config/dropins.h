/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Which files of a drop-in directory count, and in which order. */

#include <stddef.h>

#define POLICY_DROPINS_MAX 128

/* Paths, in the byte order of the files' names. */
struct policy_dropins {
	char *paths[POLICY_DROPINS_MAX];
	size_t n;
};

/*
 * Adds the files of directory whose names end in .conf and do not start with a dot; a directory
 * that is missing has none. *dropins must be zeroed. Returns 0, or a negative errno and
 * *ret_message.
 */
int policy_dropins_list(const char *directory, struct policy_dropins *dropins, char **ret_message);
void policy_dropins_free(struct policy_dropins *dropins);
