// SPDX-License-Identifier: GPL-2.0-only
/* Devices on devices, parts of devices, and devices that disappear. */
#include "native.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "disk_under_test.h"
#include "loop.h"
#include "tracer/tracer_private.h"
#include "work.h"

#define READS 50

static int read_some(struct native *native, const char *disk, int file)
{
	work_wait(work_read("native-few", NATIVE_CPU, file, READS, 0));
	native_consume(native);
	return disk_index_of(native, disk);
}

static uint64_t completions_of(const struct native *native, uint32_t index)
{
	struct input input;

	assert_int_equal(tracer_read_device(native->tracer, index, native_now_ns(), &input), 0);
	return input.device.completions;
}

/* What is read from a file on a disk is that disk's business. */
NATIVE_TEST(test_loop_on_disk)
{
	struct native *native = *state;
	struct loop loop;
	struct input input;
	int index;

	disk_find(native);
	loop_new(&loop, native->file);
	index = read_some(native, loop.name, loop.device);
	assert_true(index >= 0);
	assert_int_equal(tracer_read_device(native->tracer, index, native_now_ns(), &input),
			 -ENOENT);
	loop_end(&loop);
	native_watch(native, 0);
	native_check_devices(native);
	/* Nobody was told of it. */
	assert_int_equal(native->device_ends[index], 0);
	assert_int_equal(disk_index_of(native, loop.name), -1);
}

NATIVE_TEST(test_partition)
{
	struct native *native = *state;
	struct loop loop;
	uint64_t before;
	int index;

	loop_new(&loop, -1);
	loop_add_partition(&loop);
	index = read_some(native, loop.name, loop.device);
	assert_true(index >= 0);
	before = completions_of(native, index);
	assert_int_equal(read_some(native, loop.name, loop.partition), index);
	assert_in_range(completions_of(native, index) - before, READS, READS + 5);
	loop_end(&loop);
}

/* Its index is free and told about once, and no task keeps anything under it. */
NATIVE_TEST(test_disappears)
{
	struct native *native = *state;
	struct loop loop;
	struct input input;
	pid_t pid;
	int index;

	loop_new(&loop, -1);
	index = read_some(native, loop.name, loop.device);
	assert_true(index >= 0);
	native_watch(native, 0);
	pid = work_read("native-reader", NATIVE_CPU, loop.device, 0, 0);
	native->watched_pid = pid;
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	usleep(100000);
	assert_int_equal(tracer_read_device(native->tracer, index, native_now_ns(), &input), 0);
	work_end(pid);
	native_check_devices(native);
	assert_int_equal(native->device_ends[index], 0);
	loop_end(&loop);
	for (int i = 0; i < 3; i++)
		native_check_devices(native);
	assert_int_equal(native->device_ends[index], 1);
	assert_int_equal(tracer_read_device(native->tracer, index, native_now_ns(), &input),
			 -ENOENT);
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		for (uint32_t j = 0; j < WAKEGOV_SLOT_IOS; j++)
			if (native->tracer->slots[i].pid)
				assert_int_not_equal(native->tracer->slots[i].ios[j].device, index);
}

/* Another medium in the same disk is another device. */
NATIVE_TEST(test_comes_back)
{
	struct native *native = *state;
	struct loop loop;
	int index;

	for (int i = 0; i < 100; i++) {
		loop_new(&loop, -1);
		index = read_some(native, loop.name, loop.device);
		assert_true(index >= 0);
		loop_end(&loop);
		native_check_devices(native);
		assert_int_equal(disk_index_of(native, loop.name), -1);
	}
}

#define MOST_LOOPS (WAKEGOV_DEVICES + 4)

static uint32_t count_placed(const struct native *native)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < WAKEGOV_DEVICES; i++)
		n += native->tracer->devices[i].seq != 0;
	return n;
}

static bool is_unplaced(const struct native *native, const char *name)
{
	for (uint32_t i = 0; i < WAKEGOV_UNPLACED; i++) {
		uint64_t seq = native->tracer->programs.bss->unplaced[i];

		if (seq && disk_is_there(name, seq))
			return true;
	}
	return false;
}

/*
 * As many disks as there are places get one. What comes then is counted as dropped, is not searched
 * for at each request, and has a place as soon as one is free.
 */
NATIVE_TEST(test_more_than_places)
{
	struct native *native = *state;
	struct loop loops[MOST_LOOPS];
	struct tracer_drops before, after;
	uint32_t n = 0;

	while (count_placed(native) < WAKEGOV_DEVICES && n < MOST_LOOPS - 1) {
		loop_new(&loops[n], -1);
		assert_true(read_some(native, loops[n].name, loops[n].device) >= 0);
		n++;
	}
	assert_int_equal(count_placed(native), WAKEGOV_DEVICES);
	loop_new(&loops[n], -1);
	tracer_drops(native->tracer, &before);
	assert_int_equal(read_some(native, loops[n].name, loops[n].device), -1);
	tracer_drops(native->tracer, &after);
	assert_in_range(after.devices - before.devices, 50, 1000);
	assert_true(is_unplaced(native, loops[n].name));
	/* More than one: other disks of the machine may be waiting too. */
	for (uint32_t i = 0; i < n / 2; i++)
		loop_end(&loops[i]);
	native_check_devices(native);
	assert_false(is_unplaced(native, loops[n].name));
	assert_true(read_some(native, loops[n].name, loops[n].device) >= 0);
	for (uint32_t i = n / 2; i <= n; i++)
		loop_end(&loops[i]);
}
