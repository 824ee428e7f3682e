/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Files of one line in /sys and /proc. Anything may vanish or refuse at any time. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SYSFS_PATH_SIZE 192

/*
 * Reads the first line without its newline, cut to size. Returns false, with an empty ret, when the
 * file cannot be read or is empty.
 */
bool sysfs_read_line(char *ret, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Reads the rest of the first line that begins with the tag, without its newline, cut to size.
 * Returns 1, 0 without such a line, or -errno; ret is "" then.
 */
int sysfs_read_tagged(char *ret, size_t size, const char *tag, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Reads the decimal number at the start of the file. A double holds integers up to 2⁵³ exactly. */
bool sysfs_read_number(double *ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the first line matches the pattern of fnmatch(3). */
bool sysfs_matches(const char *pattern, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether a directory of /sys/class/power_supply is a battery of the machine, not of a mouse. */
bool sysfs_is_battery(const char *supply);

/* Visits every matching path, in the order of names. */
void sysfs_each(void (*visit)(const char *path, void *context), void *context, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/*
 * Reads whether turbo is on. Returns the file below /sys/devices/system/cpu (sys) that switches it
 * for the machine, or NULL if there is none.
 */
const char *sysfs_read_turbo(const char *sys, bool *ret_on);

/* Raises *highest to the highest number at the start of the matching files below /sys (sys). */
void sysfs_highest(double *highest, const char *sys, const char *pattern);

/*
 * Why tasks cannot be found by their unit or cgroup here, and the remedy; NULL: they can. Used by
 * rules, their check and doctor.
 */
const char *sysfs_cgroup_why_not(void);

/* The mount point of the unified cgroup hierarchy; "" without one. Looked up once. */
const char *sysfs_cgroup_mount(void);

/*
 * Whether this process is in the first PID namespace. The kernel and its BPF programs number tasks
 * as that one does; a process in another one, as in a container, has other numbers for them.
 */
bool sysfs_pids_are_the_kernels(void);

/*
 * Whether a process, given by its number here, is in this process's PID namespace, and not in one
 * below it. False also if it is gone. Reads no file of another process, which could be refused.
 */
bool sysfs_pids_are_shared_with(pid_t pid);
