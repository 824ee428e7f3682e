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

/*
 * What follows the tag in the first line that begins with it, without its end, cut to size. Returns
 * 1, 0 where no line does, or -errno; ret is "" then.
 */
int sysfs_read_tagged(char *ret, size_t size, const char *tag, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A decimal number that the file begins with. A double holds integers up to 2⁵³ exactly. */
bool sysfs_read_number(double *ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Visits every path that matches, in the order of their names. */
void sysfs_each(void (*visit)(const char *path, void *context), void *context, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/*
 * Whether turbo is on. Returns the file below /sys/devices/system/cpu (sys) that switches it for
 * the machine, or NULL where there is none.
 */
const char *sysfs_read_turbo(const char *sys, bool *ret_on);

/* Raises *highest to the highest of the numbers that the files below /sys (sys) begin with. */
void sysfs_highest(double *highest, const char *sys, const char *pattern);

/*
 * Why tasks cannot be found by their unit or cgroup here, with what to do; NULL: they can. For
 * rules, their check and doctor alike.
 */
const char *sysfs_cgroup_why_not(void);

/* The mount point of the unified hierarchy of cgroups; "" if there is none. Looked up once. */
const char *sysfs_cgroup_mount(void);
