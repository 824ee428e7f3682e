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

static int open_directory(const struct saved_values *saved)
{
	int fd = open(saved->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

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
	return st.st_size > SAVED_SIZE_MAX ? -EBADMSG : 0;
}

/* Returns the length read, with a NUL after it in *ret_text. */
static ssize_t read_whole(int fd, char **ret_text)
{
	_cleanup_free_ char *text = malloc(SAVED_SIZE_MAX + 1);
	size_t length = 0;
	ssize_t n;

	if (!text)
		return -ENOMEM;

	while ((n = read(fd, text + length, SAVED_SIZE_MAX - length)) > 0)
		length += (size_t)n;
	if (n < 0)
		return -errno;

	text[length] = '\0';
	*ret_text = take_ptr(text);
	return (ssize_t)length;
}

static int load(struct saved_values *saved)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int directory = open_directory(saved);
	_cleanup_close_ int fd = -1;
	char boot_id[SAVED_BOOT_ID_SIZE];
	ssize_t length;
	int r;

	if (directory < 0)
		return directory;

	fd = openat(directory, SAVED_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EBADMSG : -errno;

	r = check_owner(fd);
	if (r < 0)
		return r;
	length = read_whole(fd, &text);
	if (length < 0)
		return (int)length;
	r = saved_read_boot_id(boot_id);
	if (r < 0)
		return r;
	return saved_parse(text, (size_t)length, boot_id, saved);
}

int saved_open(const char *directory, struct saved_values **ret)
{
	struct saved_values *saved = calloc(1, sizeof(*saved));
	int r;

	if (!saved)
		return -ENOMEM;

	saved->directory = strdup(directory);
	r = saved->directory ? load(saved) : -ENOMEM;
	if (r < 0) {
		saved_free(saved);
		return r;
	}

	*ret = saved;
	return 0;
}

static void write_tunable(FILE *file, const struct tunable *tunable)
{
	char path[SAVED_PATH_SIZE];

	if (tunable_path(tunable, path, sizeof(path)))
		fprintf(file, "%s %s %s\n", path, tunable->value, tunable->put);
}

static int write_entries(FILE *file, const void *data)
{
	const struct saved_values *saved = data;
	char boot_id[SAVED_BOOT_ID_SIZE];
	int r = saved_read_boot_id(boot_id);

	if (r < 0)
		return r;

	fprintf(file, SAVED_HEADER "boot %s\n", boot_id);
	for (size_t i = 0; i < saved->n; i++) {
		const struct saved_value *entry = &saved->entries[i];

		fprintf(file, CONTROL_DIRECTORY "/policy%u/%s %s %s\n", entry->policy,
			control_name(entry->control), entry->value, entry->put);
	}
	for (size_t i = 0; i < saved->n_tunables; i++)
		write_tunable(file, &saved->tunables[i]);
	fprintf(file, "end %zu\n", saved->n + saved->n_tunables);
	return fflush(file) || fsync(fileno(file)) < 0 ? -errno : 0;
}

int saved_save(const struct saved_values *saved)
{
	_cleanup_close_ int directory = open_directory(saved);

	if (directory < 0)
		return directory;
	if (saved->n + saved->n_tunables == 0)
		return replace_remove(directory, SAVED_FILE);
	return replace_file(directory, SAVED_FILE, write_entries, saved);
}

/* Whether it still holds what an earlier run put there, so that its first saved value stands. */
static bool still_ours(const char *put, const char *now)
{
	return strcmp(put, SAVED_ANY) == 0 || strcmp(put, now) == 0;
}

static void merge(struct saved_values *saved, const struct saved_value *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct saved_value *old = saved_find(saved, entries[i].policy, entries[i].control);

		if (!old)
			saved->entries[saved->n++] = entries[i];
		else if (!still_ours(old->put, entries[i].value))
			*old = entries[i];
	}
}

static void merge_tunables(struct saved_values *saved, const struct tunable *tunables, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tunable *old = saved_find_tunable(saved, &tunables[i]);

		if (!old)
			saved->tunables[saved->n_tunables++] = tunables[i];
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

int saved_add(struct saved_values *saved, const struct saved_value *entries, size_t n,
	      const struct tunable *tunables, size_t n_tunables)
{
	struct saved_values before = *saved;
	_cleanup_free_ void *merged = NULL, *merged_tunables = NULL;
	int r;

	if (saved->n + n > SAVED_CONTROLS_MAX ||
	    saved->n_tunables + n_tunables > SAVED_TUNABLES_MAX)
		return -E2BIG;
	merged = copy_with_room(before.entries, before.n, n, sizeof(*entries));
	merged_tunables = copy_with_room(before.tunables, before.n_tunables, n_tunables,
					 sizeof(*tunables));
	if (!merged || !merged_tunables)
		return -ENOMEM;

	saved->entries = merged;
	saved->tunables = merged_tunables;
	merge(saved, entries, n);
	merge_tunables(saved, tunables, n_tunables);
	r = saved_save(saved);
	if (r < 0) {
		*saved = before;
		return r;
	}

	merged = before.entries; /* freed */
	merged_tunables = before.tunables;
	return 0;
}

int saved_replace(struct saved_values *saved, uint32_t policy, enum control control,
		  const char *value)
{
	struct saved_value *entry = saved_find(saved, policy, control);

	if (!entry)
		return 0;
	snprintf(entry->value, sizeof(entry->value), "%s", value);
	return saved_save(saved);
}

int saved_forget(struct saved_values *saved, uint32_t policy)
{
	for (int control = 0; control < CONTROL_N; control++)
		saved_drop(saved, policy, (enum control)control);
	for (size_t i = saved->n_tunables; i-- > 0;)
		if (!saved_awaits_governor(saved, &saved->tunables[i]))
			saved_drop_tunable(saved, i);
	return saved_save(saved);
}
