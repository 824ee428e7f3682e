// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of cpufreq by their paths. Each access opens a path without following symbolic links,
 * or uses a descriptor opened that way, and reads or writes one line.
 */
#include "actuator/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/cleanup.h"

const char *const control_names[] = {
	[CONTROL_GOVERNOR] = "scaling_governor",
	[CONTROL_SETSPEED] = "scaling_setspeed",
	[CONTROL_MIN_FREQ] = "scaling_min_freq",
	[CONTROL_MAX_FREQ] = "scaling_max_freq",
	[CONTROL_PREFERENCE] = "energy_performance_preference",
	[CONTROL_BOOST] = "boost",
};

void control_path(enum control control, uint32_t policy, char ret[static CONTROL_PATH_SIZE])
{
	snprintf(ret, CONTROL_PATH_SIZE, CONTROL_DIRECTORY "/policy%u/%s", policy,
		 control_names[control]);
}

void control_tunables_path(uint32_t policy, const char *governor,
			   char ret[static CONTROL_PATH_SIZE])
{
	char directory[24] = "";

	if (policy != CONTROL_SHARED)
		snprintf(directory, sizeof(directory), "/policy%u", policy);
	snprintf(ret, CONTROL_PATH_SIZE, CONTROL_DIRECTORY "%s/%s/", directory, governor);
}

/*
 * O_NOFOLLOW applies to the last part of a path only, so each directory is opened by itself: the
 * unit may not call openat2(2), which RestrictSUIDSGID= forbids.
 */
int control_open_path(const char *path, int flags)
{
	_cleanup_close_ int directory = open("/", O_PATH | O_CLOEXEC);
	char part[NAME_MAX + 1];
	const char *slash;
	int fd;

	path += strspn(path, "/");
	while (directory >= 0 && (slash = strchr(path, '/'))) {
		if ((size_t)(slash - path) >= sizeof(part))
			return -ENAMETOOLONG;
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		fd = openat(directory, part, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
		/* For a link too, O_DIRECTORY fails with ENOTDIR. */
		if (fd < 0)
			return errno == ENOTDIR ? -ELOOP : -errno;
		close(directory);
		directory = fd;
		path = slash + strspn(slash, "/");
	}
	if (directory < 0)
		return -errno;
	fd = openat(directory, *path ? path : ".", flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

int control_open(uint32_t policy, const char *file, int flags)
{
	char path[CONTROL_PATH_SIZE];

	if (snprintf(path, sizeof(path), CONTROL_DIRECTORY "/policy%u/%s", policy, file) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	return control_open_path(path, flags);
}

int control_read(int fd, char *ret_value, size_t size)
{
	char line[512];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	size_t length;

	if (n < 0)
		return -errno;

	line[n] = '\0';
	length = strcspn(line, "\n");
	if (length >= size)
		return -EOVERFLOW;

	memcpy(ret_value, line, length);
	ret_value[length] = '\0';
	return (int)length;
}

int control_read_u32(int fd, uint32_t *ret)
{
	char value[CONTROL_VALUE_SIZE];
	unsigned long long number;
	char *end;
	int r = control_read(fd, value, sizeof(value));

	if (r < 0)
		return r;
	if (value[0] < '0' || value[0] > '9')
		return -EINVAL;

	number = strtoull(value, &end, 10);
	if (*end || number > UINT32_MAX)
		return -EINVAL;

	*ret = (uint32_t)number;
	return 0;
}

int control_read_file(uint32_t policy, const char *file, char *ret_value, size_t size)
{
	_cleanup_close_ int fd = control_open(policy, file, O_RDONLY);

	return fd < 0 ? fd : control_read(fd, ret_value, size);
}

int control_lists(uint32_t policy, const char *file, const char *word)
{
	char list[256], *listed, *rest = list;
	int r = control_read_file(policy, file, list, sizeof(list));

	while (r >= 0 && (listed = strsep(&rest, " ")))
		if (!strcmp(listed, word))
			return 1;
	return r < 0 ? r : 0;
}

/* The newline also ends the value in the tests' plain files. */
int control_write(int fd, const char *value)
{
	char line[CONTROL_LINE_SIZE];
	int length = snprintf(line, sizeof(line), "%s\n", value);
	ssize_t n;

	if (length >= (int)sizeof(line))
		return -EINVAL;

	n = pwrite(fd, line, (size_t)length, 0);
	if (n < 0)
		return -errno;
	return n == length ? 0 : -EIO;
}

int control_write_u32(int fd, uint32_t value)
{
	char text[CONTROL_VALUE_SIZE];

	snprintf(text, sizeof(text), "%u", value);
	return control_write(fd, text);
}

int control_read_path(const char *path, char *ret_value, size_t size)
{
	_cleanup_close_ int fd = control_open_path(path, O_RDONLY);

	return fd < 0 ? fd : control_read(fd, ret_value, size);
}

int control_write_path(const char *path, const char *value)
{
	_cleanup_close_ int fd = control_open_path(path, O_WRONLY);

	return fd < 0 ? fd : control_write(fd, value);
}

int control_load(enum control control, uint32_t number, char *ret_value, size_t size)
{
	char path[CONTROL_PATH_SIZE];

	control_path(control, number, path);
	return control_read_path(path, ret_value, size);
}

bool control_preference_is_hidden(uint32_t policy, const char *now)
{
	char governor[CONTROL_VALUE_SIZE];

	return strcmp(now, PREFERENCE_PERFORMANCE) == 0 &&
	       control_load(CONTROL_GOVERNOR, policy, governor, sizeof(governor)) >= 0 &&
	       strcmp(governor, "performance") == 0;
}
