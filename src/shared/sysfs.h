/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Files of one line in /sys and /proc. Anything may vanish or refuse at any time. */

#include <stdbool.h>
#include <stddef.h>

#define SYSFS_PATH_SIZE 192

/*
 * The first line without its end, cut to size. Returns false when it cannot be read or is empty;
 * ret is "" then.
 */
bool sysfs_read_line(char *ret, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A decimal number that the file begins with. A double holds integers up to 2⁵³ exactly. */
bool sysfs_read_number(double *ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Visits every path that matches, in the order of their names. */
void sysfs_each(void (*visit)(const char *path, void *context), void *context, const char *format,
		...) __attribute__((format(printf, 3, 4)));
