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

static int read_some(struct native *native, const char *disk, int file)
{
	work_wait(work_read("native-few", NATIVE_CPU, file, 50, 0));
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
static void test_loop_on_disk(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct loop loop;
	struct input input;
	int index;

	disk_find(native, &disk);
	loop_new(&loop, native->file);
	index = read_some(native, loop.name, loop.device);
	assert_true(index >= 0);
	assert_int_equal(tracer_read_device(native->tracer, index, native_now_ns(), &input),
			 -ENOENT);
	loop_end(&loop);
	native_watch(native, 0);
	native_resync(native);
	/* Nobody was told of it. */
	assert_int_equal(native->device_ends[index], 0);
	assert_int_equal(disk_index_of(native, loop.name), -1);
}

static void test_partition(void **state)
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
	assert_in_range(completions_of(native, index) - before, 50, 55);
	loop_end(&loop);
}

/* Its index is free and told about once, and no task keeps anything under it. */
static void test_disappears(void **state)
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
	native_resync(native);
	assert_int_equal(native->device_ends[index], 0);
	loop_end(&loop);
	for (int i = 0; i < 3; i++)
		native_resync(native);
	assert_int_equal(native->device_ends[index], 1);
	assert_int_equal(tracer_read_device(native->tracer, index, native_now_ns(), &input),
			 -ENOENT);
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		for (uint32_t j = 0; j < WAKEGOV_SLOT_IOS; j++)
			if (native->tracer->slots[i].pid)
				assert_int_not_equal(native->tracer->slots[i].ios[j].device, index);
}

/* Another medium in the same disk counts from 0. */
static void test_comes_back(void **state)
{
	struct native *native = *state;
	struct loop loop;
	uint64_t first;
	int index;

	for (int i = 0; i < 100; i++) {
		loop_new(&loop, -1);
		index = read_some(native, loop.name, loop.device);
		assert_true(index >= 0);
		first = completions_of(native, index);
		assert_in_range(first, 50, 99);
		loop_end(&loop);
		native_resync(native);
		assert_int_equal(disk_index_of(native, loop.name), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop_on_disk),
		cmocka_unit_test(test_partition),
		cmocka_unit_test(test_disappears),
		cmocka_unit_test(test_comes_back),
	};

	return native_run(tests);
}
