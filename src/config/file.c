// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the files of a policy, which may be anything: a directory, a pipe, as large as the disk,
 * or writable by others.
 */
#include "config/draft.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "config/error.h"
#include "shared/cleanup.h"

static int refuse(const char *path, int error, const char *why, char **ret_message)
{
	struct policy_place place = { .file = path };

	return policy_error_set(ret_message, error, place, "%s", why);
}

static int refuse_unreadable(const char *path, int error, char **ret_message)
{
	struct stat st;

	if (error == -ENOENT && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return refuse(path, error,
			      "found a symbolic link to nothing, expected a policy file "
			      "(a link to /dev/null stands for an empty one)",
			      ret_message);
	errno = -error;
	return policy_error_set(ret_message, error, (struct policy_place){ .file = path },
				"cannot be read: %m");
}

int policy_file_check_writers(const char *path, const struct stat *status, char **ret_message)
{
	const char *what = S_ISDIR(status->st_mode) ? "directory" : "file";
	char who[32] = "";

	if (status->st_uid != 0 && status->st_uid != geteuid())
		snprintf(who, sizeof(who), "user %u", status->st_uid);
	else if (status->st_mode & S_IWOTH)
		snprintf(who, sizeof(who), "everybody");
	else if (status->st_mode & S_IWGRP && status->st_gid != 0 && status->st_gid != getegid())
		snprintf(who, sizeof(who), "group %u", status->st_gid);
	if (!who[0])
		return 0;
	return policy_error_set(ret_message, -EPERM, (struct policy_place){ .file = path },
				"found a %s that %s may write, expected one that only root may "
				"(chown root, chmod go-w)",
				what, who);
}

/* O_NONBLOCK, so that a pipe without a writer does not block. */
static int open_file(const char *path, char **ret_message)
{
	_cleanup_close_ int fd = -1;
	bool is_dev_null;
	struct stat st;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return refuse_unreadable(path, -errno, ret_message);
	is_dev_null = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
	if (S_ISDIR(st.st_mode))
		return refuse(path, -EISDIR, "found a directory, expected a policy file",
			      ret_message);
	if (!S_ISREG(st.st_mode) && !is_dev_null)
		return refuse(path, -EINVAL,
			      "found a pipe, socket or device, expected a policy file",
			      ret_message);
	if (S_ISREG(st.st_mode) && policy_file_check_writers(path, &st, ret_message) < 0)
		return -EPERM;
	return take_fd(&fd);
}

int policy_file_read(const char *path, char **ret_text, size_t *ret_size, char **ret_message)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	ssize_t n;

	fd = open_file(path, ret_message);
	if (fd < 0)
		return fd;

	/*
	 * Reads one byte more than allowed to notice a file that is too large: the size in stat may
	 * be wrong.
	 */
	text = malloc(POLICY_FILE_MAX + 1);
	if (!text)
		return -ENOMEM;
	do {
		n = read(fd, text + size, POLICY_FILE_MAX + 1 - size);
		if (n < 0 && errno != EINTR)
			return refuse_unreadable(path, -errno, ret_message);
		size += n > 0 ? n : 0;
	} while (n != 0 && size <= POLICY_FILE_MAX);
	if (size > POLICY_FILE_MAX)
		return refuse(path, -EFBIG, "found more than 1MiB, expected a policy file of less",
			      ret_message);

	text[size] = '\0';
	*ret_text = take_ptr(text);
	*ret_size = size;
	return 0;
}

/* Leaves out hidden files and those of editors and package managers, which end differently. */
static int is_dropin(const struct dirent *entry)
{
	const char *name = entry->d_name;
	size_t length = strlen(name);

	return name[0] != '.' && length > strlen(".conf") &&
	       !strcmp(name + length - strlen(".conf"), ".conf");
}

/* A missing directory is like an empty one; one that cannot be read is not. */
static int check_missing(const char *directory, int error, char **ret_message)
{
	struct policy_place place = { .file = directory };
	struct stat st;

	if (error == -ENOENT && lstat(directory, &st) < 0)
		return 0;
	errno = -error;
	return policy_error_set(ret_message, error, place,
				"cannot be read: %m; expected a directory of drop-ins");
}

/* The place of the name in the list, present or not. */
static size_t find_dropin(const struct policy_dropins *dropins, const char *name)
{
	size_t i = 0;

	while (i < dropins->n && strcmp(strrchr(dropins->paths[i], '/') + 1, name) < 0)
		i++;
	return i;
}

/* Skips a drop-in if the list has one of that name already, which replaces or masks it. */
static int add_dropin(struct policy_dropins *dropins, const char *directory, const char *name,
		      char **ret_message)
{
	struct policy_place place = { .file = directory };
	size_t i = find_dropin(dropins, name);
	char *path;

	if (i < dropins->n && !strcmp(strrchr(dropins->paths[i], '/') + 1, name))
		return 0;
	if (dropins->n == POLICY_DROPINS_MAX)
		return policy_error_set(ret_message, -E2BIG, place,
					"found one more file, expected at most %d in all",
					POLICY_DROPINS_MAX);
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return -ENOMEM;
	memmove(&dropins->paths[i + 1], &dropins->paths[i],
		(dropins->n++ - i) * sizeof(dropins->paths[0]));
	dropins->paths[i] = path;
	return 0;
}

int policy_dropins_add(const char *directory, struct policy_dropins *dropins, char **ret_message)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	struct stat status;
	int r;

	if (stat(directory, &status) < 0)
		return check_missing(directory, -errno, ret_message);
	r = policy_file_check_writers(directory, &status, ret_message);
	if (r < 0)
		return r;
	dir = opendir(directory);
	if (!dir)
		return check_missing(directory, -errno, ret_message);
	while (r == 0 && (errno = 0, entry = readdir(dir)))
		if (is_dropin(entry))
			r = add_dropin(dropins, directory, entry->d_name, ret_message);
	if (r == 0 && errno)
		return check_missing(directory, -errno, ret_message);
	return r;
}

void policy_dropins_free(struct policy_dropins *dropins)
{
	for (size_t i = 0; i < dropins->n; i++)
		free(dropins->paths[i]);
	dropins->n = 0;
}
