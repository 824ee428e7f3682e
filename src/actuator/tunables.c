// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/text.h"

#define LOWER_WORD "abcdefghijklmnopqrstuvwxyz0123456789_-"

_Static_assert(CONTROL_LINE_SIZE > TUNABLE_VALUE_SIZE, "control_write() has room for a value");

static bool is_word(const char *text, size_t size)
{
	size_t length = strlen(text);

	return length > 0 && length < size && text[strspn(text, LOWER_WORD)] == '\0';
}

/* Other directories there: policyN in cpufreq/, stats in policyN/. */
bool tunable_is_governor(const char *text)
{
	return is_word(text, CONTROL_VALUE_SIZE) && strncmp(text, "policy", 6) != 0 &&
	       strcmp(text, "stats") != 0;
}

bool tunable_is_name(const char *text)
{
	return is_word(text, TUNABLE_NAME_SIZE);
}

bool tunable_is_value(const char *text)
{
	size_t length = 0;

	for (; text[length]; length++)
		if (text[length] <= ' ' || text[length] > '~')
			return false;
	return length > 0 && length < TUNABLE_VALUE_SIZE;
}

bool tunable_path(const struct tunable *tunable, char *ret_path, size_t size)
{
	char policy[24] = "";

	if (tunable->policy != TUNABLE_SHARED)
		snprintf(policy, sizeof(policy), "/policy%u", tunable->policy);
	return snprintf(ret_path, size, CONTROL_DIRECTORY "%s/%s/%s", policy, tunable->governor,
			tunable->name) < (int)size;
}

static int open_at(int directory, const char *name, int flags)
{
	int fd = openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* Opens one directory at a time, as O_NOFOLLOW applies to the last part of a path only. */
static int open_directory(uint32_t policy, const char *governor)
{
	_cleanup_close_ int top = open_at(AT_FDCWD, CONTROL_DIRECTORY, O_RDONLY | O_DIRECTORY);
	_cleanup_close_ int below = -1;
	char name[24];

	if (top < 0)
		return top;
	if (!tunable_is_governor(governor))
		return -ENOENT;
	if (policy == TUNABLE_SHARED)
		return open_at(top, governor, O_RDONLY | O_DIRECTORY);

	snprintf(name, sizeof(name), "policy%u", policy);
	below = open_at(top, name, O_RDONLY | O_DIRECTORY);
	return below < 0 ? below : open_at(below, governor, O_RDONLY | O_DIRECTORY);
}

bool tunables_exist(uint32_t policy, const char *governor)
{
	_cleanup_close_ int own = open_directory(policy, governor);
	_cleanup_close_ int shared = open_directory(TUNABLE_SHARED, governor);

	return own >= 0 || shared >= 0;
}

/* Reads the whole value, without its newline. */
static int read_value(int fd, char ret_value[TUNABLE_VALUE_SIZE])
{
	char text[TUNABLE_VALUE_SIZE + 2];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	if (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	if (strlen(text) != (size_t)n || !tunable_is_value(text))
		return -EINVAL;

	memcpy(ret_value, text, (size_t)n + 1);
	return 0;
}

int tunable_read(const struct tunable *tunable, char ret_value[TUNABLE_VALUE_SIZE])
{
	_cleanup_close_ int directory = open_directory(tunable->policy, tunable->governor);
	_cleanup_close_ int fd = -1;

	if (directory < 0)
		return directory;
	fd = open_at(directory, tunable->name, O_RDONLY);
	return fd < 0 ? fd : read_value(fd, ret_value);
}

int tunable_write(const struct tunable *tunable, const char *value)
{
	_cleanup_close_ int directory = open_directory(tunable->policy, tunable->governor);
	_cleanup_close_ int fd = -1;

	if (directory < 0)
		return directory;
	fd = open_at(directory, tunable->name, O_WRONLY);
	return fd < 0 ? fd : control_write(fd, value);
}

/* Returns 1, or 0 for a file that cannot be both read and written, and so holds no setting. */
static int collect_one(int directory, const char *name, struct tunable *ret)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IRUSR) || !(st.st_mode & S_IWUSR))
		return 0;
	if (!tunable_is_name(name))
		return -EINVAL;

	fd = open_at(directory, name, O_RDONLY);
	if (fd < 0)
		return fd;
	r = read_value(fd, ret->value);
	if (r < 0)
		return r;
	strcpy(ret->name, name);
	return 1;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct tunable *)a)->name, ((const struct tunable *)b)->name);
}

static int collect(DIR *directory, const struct tunable *like, struct tunable *ret, size_t n_max,
		   char *ret_unsaved, size_t unsaved_size)
{
	const struct dirent *file;
	size_t n = 0;

	for (errno = 0; (file = readdir(directory)); errno = 0) {
		struct tunable tunable = *like;
		int r = collect_one(dirfd(directory), file->d_name, &tunable);

		if (r > 0 && n < n_max)
			ret[n++] = tunable;
		else if (r != 0)
			text_append(ret_unsaved, unsaved_size, "%s%s", ret_unsaved[0] ? ", " : "",
				    file->d_name);
	}
	if (errno)
		return -errno;

	qsort(ret, n, sizeof(*ret), compare_names);
	return (int)n;
}

int tunables_collect(uint32_t policy, const char *governor, struct tunable *ret, size_t n_max,
		     char *ret_unsaved, size_t unsaved_size)
{
	_cleanup_closedir_ DIR *directory = NULL;
	struct tunable like = { .policy = policy };
	int fd = open_directory(policy, governor);

	ret_unsaved[0] = '\0';
	if (fd == -ENOENT) {
		like.policy = TUNABLE_SHARED;
		fd = open_directory(TUNABLE_SHARED, governor);
	}
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;

	directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return -ENOMEM;
	}
	snprintf(like.governor, sizeof(like.governor), "%s", governor);
	return collect(directory, &like, ret, n_max, ret_unsaved, unsaved_size);
}
