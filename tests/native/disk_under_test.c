// SPDX-License-Identifier: GPL-2.0-only
#include "disk_under_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "work.h"

/* A partition's directory lies in its disk's. */
static void find_name(int file, char name[64])
{
	char path[128], target[512];
	struct stat stat;
	ssize_t n;
	char *last;

	assert_int_equal(fstat(file, &stat), 0);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(stat.st_dev),
		 minor(stat.st_dev));
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		skip(); /* btrfs, overlay and the like: no disk to be named */
	target[n] = '\0';
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(stat.st_dev),
		 minor(stat.st_dev));
	if (access(path, F_OK) == 0)
		*strrchr(target, '/') = '\0';
	last = strrchr(target, '/');
	assert_non_null(last);
	snprintf(name, 64, "%.63s", last + 1);
}

int disk_index_of(const struct native *native, const char *name)
{
	char seen[TRACER_DISK_SIZE];

	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++)
		if (tracer_device_name(native->tracer, i, seen) == 0 && !strcmp(seen, name))
			return i;
	return -1;
}

struct disk_under_test disk_find(struct native *native)
{
	struct disk_under_test disk;
	int index;

	find_name(native->file, disk.name);
	work_wait(work_read("native-few", NATIVE_CPU, native->file, 10, 0));
	native_consume(native);
	index = disk_index_of(native, disk.name);
	if (index < 0)
		fail_msg("%s is not seen", disk.name);
	disk.index = index;
	return disk;
}

struct input_device disk_read(const struct native *native, const struct disk_under_test *disk)
{
	struct input input;

	assert_int_equal(tracer_read_device(native->tracer, disk->index, native_now_ns(), &input),
			 0);
	assert_int_equal(input.type, INPUT_DEVICE);
	return input.device;
}

struct input_task_io disk_io_of(const struct input *task, const struct disk_under_test *disk)
{
	for (uint32_t i = 0; i < task->task.n_ios; i++)
		if (task->task.ios[i].device == disk->index)
			return task->task.ios[i];
	return (struct input_task_io){ .device = disk->index };
}
