/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The disk that the tests' file lies on, as the kernel and as the tracer see it. */

#include "native.h"

struct disk_under_test {
	char name[64]; /* below /sys/block */
	uint32_t index;
};

/* Fails the test when the tracer has not seen the disk after some reads from the file. */
void disk_find(struct native *native, struct disk_under_test *ret);

/* The index of a device that the tracer has seen, or -1. */
int disk_index_of(const struct native *native, const char *name);

/*
 * What the kernel counted: requests completed, those of its own that make a disk write its cache
 * out, and requests in the driver now. A write that is to last takes one or two flushes, of which
 * the tracer sees none, and a flush that somebody asks for may be another's as well.
 */
uint64_t disk_kernel_completions(const struct disk_under_test *disk);
uint64_t disk_kernel_flushes(const struct disk_under_test *disk);
uint32_t disk_kernel_in_flight(const struct disk_under_test *disk);

struct input_device disk_read(const struct native *native, const struct disk_under_test *disk);

/*
 * Waits until the tracer's depth and the kernel's agree at rest, with what sets the tracer's right
 * again where it missed an event; or at any depth, where others keep the disk busy.
 */
void disk_settle(struct native *native, const struct disk_under_test *disk);

/* What the task did to the disk so far; zeros if nothing. */
struct input_task_io disk_io_of(const struct input *task, const struct disk_under_test *disk);
