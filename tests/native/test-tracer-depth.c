// SPDX-License-Identifier: GPL-2.0-only
/* Depths that went wrong, devices that are stacked, and more tasks than one. */
#include "native.h"

#include <bpf/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "disk_under_test.h"
#include "tracer/tracer_private.h"
#include "work.h"

static uint64_t anomalies_of(const struct native *native)
{
	struct tracer_drops drops;

	tracer_drops(native->tracer, &drops);
	return drops.anomalies;
}

/*
 * As if a request had started that never ends. It is put into the last place of a set, which real
 * requests take where they have all others.
 */
static void add_lost_request(struct tracer *tracer, uint32_t device, uint32_t set)
{
	struct wakegov_flight *flight = &tracer->flights[set].ways[WAKEGOV_FLIGHT_WAYS - 1];

	assert_int_equal(flight->start_ns, 0);
	*flight = (struct wakegov_flight){
		.request = 64 + set,
		.start_ns = native_now_ns(),
		.device = device,
	};
	__atomic_fetch_add(&tracer->devices[device].flow, 1, __ATOMIC_RELAXED);
}

/* As after a reset of the device: requests that were started and never end. */
static void test_start_without_completion(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	uint64_t before;

	disk_find(native, &disk);
	before = anomalies_of(native);
	for (uint32_t set = 0; set < 3; set++)
		add_lost_request(native->tracer, disk.index, set);
	native_resync(native);
	assert_true(disk_read(native, &disk).depth >= 3);
	disk_settle(native, &disk);
	assert_true(anomalies_of(native) >= before + 3); /* and those of others who use the disk */
}

/* The end of each request is missed until it is used again: neither depth stays up. */
static void test_lost_completions(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct tracer *tracer;
	struct input input;
	const struct wakegov_slot *slot;
	pid_t pid;

	/* A child with the links of the tracer would keep them. */
	native_watch(native, 0);
	native->tracer = tracer_free(native->tracer);
	pid = work_read("native-reader", NATIVE_OTHER, native->file, 0, 0);
	assert_int_equal(native_start_tracer(native), 0);
	tracer = native->tracer;
	native->watched_pid = pid;
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	disk_find(native, &disk);
	close(tracer->programs.links[WAKEGOV_BLOCK_COMPLETE]);
	usleep(100000);
	tracer->programs.links[WAKEGOV_BLOCK_COMPLETE] =
		bpf_raw_tracepoint_open(NULL, tracer->programs.fds[WAKEGOV_BLOCK_COMPLETE]);
	assert_true(tracer->programs.links[WAKEGOV_BLOCK_COMPLETE] > 0);
	slot = &tracer->slots[native->watched.task.handle];
	for (int i = 0; i < 200 && (i < 20 || slot->started - slot->completed > 1); i++) {
		usleep(100000);
		native_resync(native);
	}
	assert_int_equal(
		tracer_read_task(tracer, native->watched.task.handle, native_now_ns(), &input), 0);
	assert_int_equal(input.task.pid, pid);
	assert_in_range(slot->started - slot->completed, 0, 1);
	work_end(pid);
	print_message("%llu anomalies\n", (unsigned long long)anomalies_of(native));
	assert_true(anomalies_of(native) > 0);
	disk_settle(native, &disk);
	assert_int_equal(slot->started, slot->completed);
}

/* What a task leaves in flight is not the next one's that gets its slot. */
static void test_exit_in_flight(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	const struct wakegov_slot *slot;
	uint32_t id;

	disk_find(native, &disk);
	for (int i = 0; i < 20; i++) {
		struct work_uring work = { "native-queue", NATIVE_OTHER, native->file, 32 };
		pid_t pid;

		native_watch(native, 0);
		pid = work_uring(&work);
		native->watched_pid = pid;
		assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
		slot = &native->tracer->slots[native->watched.task.handle];
		id = slot->id;
		work_end(pid);
		assert_true(native_wait(native, &native->watched_events, 2, PATIENCE_MS));
		tracer_release_task(native->tracer, native->watched.task.handle);
		disk_settle(native, &disk);
		if (slot->id == id)
			assert_int_equal(slot->started, slot->completed);
	}
}

/*
 * A CPU on which starts are only counted, as some are while following begins, handles the ends of
 * what others started: none is missed, and what a queue has in flight is not more and more.
 */
static void test_ends_where_starts_are_counted(void **state)
{
	struct work_uring work = { "native-queue", NATIVE_OTHER, 0, 32 };
	struct native *native = *state;
	const struct wakegov_slot *slot;
	struct disk_under_test disk;
	pid_t pid;

	disk_find(native, &disk);
	native_watch(native, 0);
	work.file = native->file;
	pid = work_uring(&work);
	native->watched_pid = pid;
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	slot = &native->tracer->slots[native->watched.task.handle];
	for (int ms = 0; ms < PATIENCE_MS && slot->started < 1000; ms += 10)
		usleep(10000);
	assert_true(slot->started >= 1000);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		native->tracer->cpus[cpu].count_only = true;
	for (int ms = 0; ms < PATIENCE_MS && slot->started != slot->completed; ms += 10)
		usleep(10000);
	assert_int_equal(slot->started, slot->completed);
	tracer_follow_requests(native->tracer, true, native_now_ns());
	work_end(pid);
	disk_settle(native, &disk);
}

/* The tracer comes when requests are in flight. */
static void test_completion_without_start(void **state)
{
	static const char *const options[] = {
		"--direct=1",	"--rw=randread", "--bs=4k", "--ioengine=libaio",
		"--iodepth=32", "--thread=1",	 NULL
	};
	struct native *native = *state;
	struct disk_under_test disk;
	struct input_device first, last;
	pid_t pid;

	native->tracer = tracer_free(native->tracer);
	pid = work_fio(native->file, options);
	usleep(700000);
	assert_int_equal(native_start_tracer(native), 0);
	disk_find(native, &disk);
	usleep(100000);
	native_resync(native);
	first = last = disk_read(native, &disk);
	for (int ms = 0; ms < PATIENCE_MS && last.completions <= first.completions + 1000;
	     ms += 100) {
		usleep(100000);
		last = disk_read(native, &disk);
	}
	print_message("%llu anomalies, depth %u\n", (unsigned long long)anomalies_of(native),
		      last.depth);
	work_end(pid);
	assert_true(last.completions > first.completions + 1000);
	disk_settle(native, &disk);
}

static void test_many_tasks(void **state)
{
	static const char *const options[] = {
		"--direct=1",	 "--rw=randread", "--bs=4k", "--ioengine=psync",
		"--numjobs=200", "--thread=1",	  NULL
	};
	struct native *native = *state;
	struct disk_under_test disk;
	struct input_device first, last;
	uint64_t kernel;
	pid_t pid;

	disk_find(native, &disk);
	pid = work_fio(native->file, options);
	usleep(2000000);
	native_consume(native);
	kernel = disk_kernel_completions(&disk);
	first = disk_read(native, &disk);
	usleep(1000000);
	last = disk_read(native, &disk);
	kernel = disk_kernel_completions(&disk) - kernel;
	work_end(pid);
	print_message("%llu completions (kernel %llu), depth %u, idle %.1f %%\n",
		      (unsigned long long)(last.completions - first.completions),
		      (unsigned long long)kernel, last.depth, (last.idle_ns - first.idle_ns) / 1e7);
	assert_true(last.completions - first.completions > kernel - kernel / 50 - 300);
	native_consume(native);
	for (uint32_t handle = 0; handle < WAKEGOV_SLOTS; handle++)
		tracer_release_task(native->tracer, handle);
	for (uint32_t i = 0; i < WAKEGOV_HOT; i++)
		assert_int_equal(native->tracer->programs.bss->hot_tasks[i], 0);
	disk_settle(native, &disk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_without_completion),
		cmocka_unit_test(test_ends_where_starts_are_counted),
		cmocka_unit_test(test_completion_without_start),
		cmocka_unit_test(test_lost_completions),
		cmocka_unit_test(test_exit_in_flight),
		cmocka_unit_test(test_many_tasks),
	};

	return native_run(tests);
}
