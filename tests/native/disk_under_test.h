/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The disk that the tests' file lies on, as the tracer sees it. */

#include "native.h"

struct disk_under_test {
	char name[64]; /* below /sys/block */
	uint32_t index;
};

/* Fails the test when the tracer has not seen the disk after some reads from the file. */
struct disk_under_test disk_find(struct native *native);

/* The index of a device that the tracer has seen, or -1. */
int disk_index_of(const struct native *native, const char *name);

struct input_device disk_read(const struct native *native, const struct disk_under_test *disk);

/* What the task did to the disk so far; zeros if nothing. */
struct input_task_io disk_io_of(const struct input *task, const struct disk_under_test *disk);
