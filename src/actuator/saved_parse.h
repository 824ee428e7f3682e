/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The form of the file of actuator/saved.h. */

#include <stddef.h>

#include "actuator/saved.h"

#define SAVED_HEADER	   "wakegov originals 2\n"
#define SAVED_BOOT_ID_SIZE 37

/* /proc/sys/kernel/random/boot_id. 0 or a negative errno. */
int saved_read_boot_id(char ret_boot_id[SAVED_BOOT_ID_SIZE]);

/*
 * Parses a whole file into the four fields of an empty table; text has a NUL at text[length]. A
 * well-formed file of another boot gives no entries. Returns 0, with arrays that the table owns
 * from then on (NULL where there are none); or, the table untouched, -EBADMSG for anything that
 * saved_save would not have written, and -ENOMEM.
 */
int saved_parse(const char *text, size_t length, const char *boot_id, struct saved_values *ret);
