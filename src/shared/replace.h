/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Files that are there whole or not at all, whatever ends us meanwhile. */

#include <stdio.h>

/* Longer names of files are refused. */
#define REPLACE_NAME_SIZE 64

/*
 * Puts what write() writes in the place of the file of that name in an open directory: it is
 * written beside it (NAME.new) and renamed. write() returns 0 or a negative errno; what it printed
 * is flushed here. On failure, a negative errno, the file is as it was.
 */
int replace_file(int directory, const char *name, int (*write)(FILE *file, const void *data),
		 const void *data);

/* Removes it. That it is not there is no failure. */
int replace_remove(int directory, const char *name);
