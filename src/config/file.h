/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The files of a policy, which may be anything: a directory, a pipe, as large as the disk. */

#include <stddef.h>
#include <sys/stat.h>

#define POLICY_FILE_MAX (1024 * 1024)

/*
 * Reads a whole regular file of at most POLICY_FILE_MAX bytes; /dev/null, or a link to it, is an
 * empty file. Never blocks on other files. The caller frees *ret_text, which ends with a NUL that
 * *ret_size does not count. Returns 0, or a negative errno and *ret_message.
 */
int policy_file_read(const char *path, char **ret_text, size_t *ret_size, char **ret_message);

/*
 * Refuses a file or directory that others than root and the user and group of this process may
 * write: its text is used with our rights. Returns 0, or -EPERM and *ret_message.
 */
int policy_file_check_writers(const char *path, const struct stat *status, char **ret_message);

#define POLICY_DROPINS_MAX 128 /* files in the directory */

/* Paths, sorted by the bytes of their names. All zero is an empty list. */
struct policy_dropins {
	char *paths[POLICY_DROPINS_MAX];
	size_t n;
};

/*
 * Adds the *.conf files of the directory whose names are not in the list; a missing directory has
 * none. Returns 0, or a negative errno and *ret_message. Call policy_dropins_free() in both cases.
 */
int policy_dropins_add(const char *directory, struct policy_dropins *dropins, char **ret_message);
void policy_dropins_free(struct policy_dropins *dropins);
