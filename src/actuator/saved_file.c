// SPDX-License-Identifier: GPL-2.0-only
/* The file of actuator/saved.h as a whole: loaded, and replaced. Its form is saved_parse.c.
 */
#include "actuator/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/saved_parse.h"
#include "shared/cleanup.h"
#include "shared/replace.h"

static int open_directory(const struct originals *originals)
{
	int fd = open(originals->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* What another user can write must not tell us what to put in /sys. */
static int check_owner(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	return st.st_size > ORIGINALS_SIZE_MAX ? -EBADMSG : 0;
}

/* Returns the length read, with a NUL after it in *ret_text. */
static ssize_t read_whole(int fd, char **ret_text)
{
	_cleanup_free_ char *text = malloc(ORIGINALS_SIZE_MAX + 1);
	size_t length = 0;
	ssize_t n;

	if (!text)
		return -ENOMEM;

	while ((n = read(fd, text + length, ORIGINALS_SIZE_MAX - length)) > 0)
		length += (size_t)n;
	if (n < 0)
		return -errno;

	text[length] = '\0';
	*ret_text = take_ptr(text);
	return (ssize_t)length;
}

static int load(struct originals *originals)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int directory = open_directory(originals);
	_cleanup_close_ int fd = -1;
	char boot_id[ORIGINALS_BOOT_ID_SIZE];
	ssize_t length;
	int r;

	if (directory < 0)
		return directory;

	fd = openat(directory, ORIGINALS_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EBADMSG : -errno;

	r = check_owner(fd);
	if (r < 0)
		return r;
	length = read_whole(fd, &text);
	if (length < 0)
		return (int)length;
	r = originals_read_boot_id(boot_id);
	if (r < 0)
		return r;
	return originals_parse(text, (size_t)length, boot_id, originals);
}

int originals_open(const char *directory, struct originals **ret)
{
	struct originals *originals = calloc(1, sizeof(*originals));
	int r;

	if (!originals)
		return -ENOMEM;

	originals->directory = strdup(directory);
	r = originals->directory ? load(originals) : -ENOMEM;
	if (r < 0) {
		originals_free(originals);
		return r;
	}

	*ret = originals;
	return 0;
}

static void write_tunable(FILE *file, const struct tunable *tunable)
{
	char path[ORIGINALS_PATH_SIZE];

	if (tunable_path(tunable, path, sizeof(path)))
		fprintf(file, "%s %s %s\n", path, tunable->value, tunable->put);
}

static int write_entries(FILE *file, const void *data)
{
	const struct originals *originals = data;
	char boot_id[ORIGINALS_BOOT_ID_SIZE];
	int r = originals_read_boot_id(boot_id);

	if (r < 0)
		return r;

	fprintf(file, ORIGINALS_HEADER "boot %s\n", boot_id);
	for (size_t i = 0; i < originals->n; i++) {
		const struct original *entry = &originals->entries[i];

		fprintf(file, CONTROL_DIRECTORY "/policy%u/%s %s %s\n", entry->policy,
			control_name(entry->control), entry->value, entry->put);
	}
	for (size_t i = 0; i < originals->n_tunables; i++)
		write_tunable(file, &originals->tunables[i]);
	fprintf(file, "end %zu\n", originals->n + originals->n_tunables);
	return fflush(file) || fsync(fileno(file)) < 0 ? -errno : 0;
}

int originals_save(const struct originals *originals)
{
	_cleanup_close_ int directory = open_directory(originals);

	if (directory < 0)
		return directory;
	if (originals->n + originals->n_tunables == 0)
		return replace_remove(directory, ORIGINALS_FILE);
	return replace_file(directory, ORIGINALS_FILE, write_entries, originals);
}
