// SPDX-License-Identifier: GPL-2.0-only
/* A disk's attributes and totals in /sys/block. */
#include "tracer/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "shared/time.h"
#include "wakegov/abi.h"

static void path_of(const char *name, const char *attribute, char ret[128])
{
	snprintf(ret, 128, "/sys/block/%.*s/%s", WAKEGOV_DISK_SIZE, name, attribute);
}

/* Reads an attribute's line, cut to size. Returns 0 or a negative errno. */
static int read_text(const char *name, const char *attribute, char *ret, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	path_of(name, attribute, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, ret, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return 0;
}

void disk_sysfs_name(const char *name, char *ret)
{
	size_t i;

	for (i = 0; i < WAKEGOV_DISK_SIZE - 1 && name[i]; i++)
		ret[i] = name[i] == '/' ? '!' : name[i];
	ret[i] = '\0';
}

static bool has_entries(const char *path)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		return false;
	do {
		entry = readdir(dir);
	} while (entry && entry->d_name[0] == '.');
	closedir(dir);
	return entry;
}

/*
 * A loop device on a file in memory has no disk below it. If its file cannot be examined, it counts
 * as on a disk.
 */
static bool is_loop_on_disk(const char *name)
{
	char path[512];
	struct statfs fs;

	if (read_text(name, "loop/backing_file", path, sizeof(path)) < 0)
		return false;
	return statfs(path, &fs) < 0 || (fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC);
}

bool disk_is_stacked(const char *name)
{
	static const char *const marks[] = { "dm", "md" };
	char path[128];

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		path_of(name, marks[i], path);
		if (access(path, F_OK) == 0)
			return true;
	}
	path_of(name, "slaves", path);
	return has_entries(path) || is_loop_on_disk(name);
}

bool disk_is_there(const char *name, uint64_t seq)
{
	char text[64];

	return read_text(name, "diskseq", text, sizeof(text)) == 0 &&
	       strtoull(text, NULL, 10) == seq;
}

int disk_read_totals(const char *name, struct disk_totals *ret)
{
	char text[256], *at = text;
	int r = read_text(name, "queue/iostats", text, sizeof(text)), used;
	uint64_t ms;

	if (r < 0)
		return r;
	if (text[0] == '0')
		return -ENODATA;
	r = read_text(name, "stat", text, sizeof(text));
	/* Documentation/block/stat.rst: for each requests, merges, sectors and milliseconds. */
	for (int i = 0; r == 0 && i < DISK_DIRECTIONS; i++) {
		if (sscanf(at, "%" SCNu64 " %*u %*u %" SCNu64 "%n", &ret->of[i].done, &ms, &used) !=
		    2)
			return -EINVAL;
		ret->of[i].time_ns = ms * NS_PER_MS;
		at += used;
	}
	if (r == 0 && sscanf(at, "%" SCNu32, &ret->in_flight) != 1)
		r = -EINVAL;
	return r;
}
