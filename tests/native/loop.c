// SPDX-License-Identifier: GPL-2.0-only
#include "loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "native.h"
#include "work.h"

/* It keeps its name until the end: a deleted file says no more what it lies on. */
static int file_in_memory(char path[64])
{
	int file;

	snprintf(path, 64, "/dev/shm/native-test-XXXXXX");
	file = mkostemp(path, O_CLOEXEC);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, 2 * WORK_FILE_BYTES), 0);
	return file;
}

/* Read through a node of its own: nobody need have made one. */
static int open_device(const char *sys_path)
{
	char path[128], node[64];
	unsigned int major_number, minor_number;
	FILE *dev;
	int device;

	snprintf(path, sizeof(path), "%s/dev", sys_path);
	dev = fopen(path, "re");
	assert_non_null(dev);
	assert_int_equal(fscanf(dev, "%u:%u", &major_number, &minor_number), 2);
	fclose(dev);
	snprintf(node, sizeof(node), "/dev/native-test-%d", getpid());
	assert_int_equal(mknod(node, S_IFBLK | 0600, makedev(major_number, minor_number)), 0);
	device = open(node, O_RDONLY | O_DIRECT | O_CLOEXEC);
	unlink(node);
	assert_true(device >= 0);
	return device;
}

/* False: somebody else took the free one between the two calls. */
static bool configure_free(struct loop *loop, int control)
{
	const struct loop_config config = { .fd = loop->file, .info.lo_flags = LO_FLAGS_PARTSCAN };
	int number = ioctl(control, LOOP_CTL_GET_FREE);
	char path[64];

	assert_true(number >= 0);
	snprintf(loop->name, sizeof(loop->name), "loop%d", number);
	snprintf(path, sizeof(path), "/sys/block/%s", loop->name);
	loop->device = open_device(path);
	if (ioctl(loop->device, LOOP_CONFIGURE, &config) == 0)
		return true;
	assert_int_equal(errno, EBUSY);
	close(loop->device);
	return false;
}

void loop_new(struct loop *ret, int file)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	assert_true(control >= 0);
	ret->path[0] = '\0';
	ret->file = file < 0 ? file_in_memory(ret->path) : file;
	ret->partition = -1;
	while (!configure_free(ret, control))
		;
	close(control);
	if (file < 0)
		close(ret->file);
}

void loop_add_partition(struct loop *loop)
{
	struct blkpg_partition part = {
		.start = WORK_FILE_BYTES,
		.length = WORK_FILE_BYTES,
		.pno = 1,
	};
	struct blkpg_ioctl_arg arg = {
		.op = BLKPG_ADD_PARTITION,
		.datalen = sizeof(part),
		.data = &part,
	};
	char path[128];

	assert_int_equal(ioctl(loop->device, BLKPG, &arg), 0);
	snprintf(path, sizeof(path), "/sys/block/%s/%sp1", loop->name, loop->name);
	loop->partition = open_device(path);
}

void loop_end(struct loop *loop)
{
	struct blkpg_partition part = { .pno = 1 };
	struct blkpg_ioctl_arg arg = {
		.op = BLKPG_DEL_PARTITION,
		.datalen = sizeof(part),
		.data = &part,
	};

	if (loop->partition >= 0) {
		close(loop->partition);
		assert_int_equal(ioctl(loop->device, BLKPG, &arg), 0);
	}
	assert_int_equal(ioctl(loop->device, LOOP_CLR_FD, 0), 0);
	close(loop->device);
	if (loop->path[0])
		unlink(loop->path);
}
