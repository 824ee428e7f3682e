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

/* Whether it still holds what an earlier run put there, so that its first original stands. */
static bool still_ours(const char *put, const char *now)
{
	return strcmp(put, ORIGINALS_ANY) == 0 || strcmp(put, now) == 0;
}

static void merge(struct originals *originals, const struct original *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct original *old = originals_find(originals, entries[i].policy,
						      entries[i].control);

		if (!old)
			originals->entries[originals->n++] = entries[i];
		else if (!still_ours(old->put, entries[i].value))
			*old = entries[i];
	}
}

static void merge_tunables(struct originals *originals, const struct tunable *tunables, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tunable *old = originals_find_tunable(originals, &tunables[i]);

		if (!old)
			originals->tunables[originals->n_tunables++] = tunables[i];
		else if (!still_ours(old->put, tunables[i].value))
			*old = tunables[i];
	}
}

/* A copy with room for n more; NULL if there is no memory. */
static void *copy_with_room(const void *elements, size_t n_elements, size_t n, size_t size)
{
	void *copy = calloc(n_elements + n + 1, size);

	if (copy && n_elements > 0)
		memcpy(copy, elements, n_elements * size);
	return copy;
}

int originals_add(struct originals *originals, const struct original *entries, size_t n,
		  const struct tunable *tunables, size_t n_tunables)
{
	struct originals before = *originals;
	_cleanup_free_ void *merged = NULL, *merged_tunables = NULL;
	int r;

	if (originals->n + n > ORIGINALS_CONTROLS_MAX ||
	    originals->n_tunables + n_tunables > ORIGINALS_TUNABLES_MAX)
		return -E2BIG;
	merged = copy_with_room(before.entries, before.n, n, sizeof(*entries));
	merged_tunables = copy_with_room(before.tunables, before.n_tunables, n_tunables,
					 sizeof(*tunables));
	if (!merged || !merged_tunables)
		return -ENOMEM;

	originals->entries = merged;
	originals->tunables = merged_tunables;
	merge(originals, entries, n);
	merge_tunables(originals, tunables, n_tunables);
	r = originals_save(originals);
	if (r < 0) {
		*originals = before;
		return r;
	}

	merged = before.entries; /* freed */
	merged_tunables = before.tunables;
	return 0;
}

int originals_replace(struct originals *originals, uint32_t policy, enum control control,
		      const char *value)
{
	struct original *entry = originals_find(originals, policy, control);

	if (!entry)
		return 0;
	snprintf(entry->value, sizeof(entry->value), "%s", value);
	return originals_save(originals);
}

int originals_forget(struct originals *originals, uint32_t policy)
{
	for (int control = 0; control < CONTROL_N; control++)
		originals_drop(originals, policy, (enum control)control);
	for (size_t i = originals->n_tunables; i-- > 0;)
		if (!originals_awaits_governor(originals, &originals->tunables[i]))
			originals_drop_tunable(originals, i);
	return originals_save(originals);
}
