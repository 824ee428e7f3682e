// SPDX-License-Identifier: GPL-2.0-only
/* What a task's time goes to: its work, waits for its CPU, and requests in flight. */
#include "native.h"

#include <unistd.h>

#include "loop.h"
#include "measure.h"
#include "work.h"

#define COMPUTE_US 300

static double per_io_us(const struct measure *measure, uint64_t ns)
{
	return measure->ios ? ns / 1e3 / measure->ios : 0;
}

static double depth(const struct measure *measure)
{
	return (double)measure->in_flight_ns / measure->ns;
}

/* With its own watching, until its end. */
static struct measure run(struct native *native, const struct disk_under_test *disk, pid_t pid)
{
	struct measure change = measure(native, disk, pid);

	work_end(pid);
	assert_true(change.told);
	measure_check(&change);
	native_watch(native, 0);
	return change;
}

/* What is computed beside each read is its work, what it sleeps through is not. */
static bool tells_apart(const struct measure *plain, const struct measure *burning,
			const struct measure *sleeping)
{
	double plain_us = per_io_us(plain, plain->worked_ns);

	return per_io_us(burning, burning->worked_ns) > plain_us + COMPUTE_US * 0.9 &&
	       per_io_us(sleeping, sleeping->worked_ns) < plain_us + COMPUTE_US / 3;
}

NATIVE_TEST(test_psync)
{
	struct native *native = *state;
	struct disk_under_test disk = disk_find(native);
	struct measure plain, burning, sleeping;
	bool apart = false;

	native_watch(native, 0);
	for (int i = 0; i < QUIET_TRIES && !apart; i++) {
		plain = run(native, &disk,
			    work_read("native-plain", NATIVE_OTHER, native->file, 0, 0));
		burning = run(native, &disk,
			      work_compute("native-burn", NATIVE_OTHER, native->file, COMPUTE_US));
		sleeping =
			run(native, &disk,
			    work_read("native-sleep", NATIVE_OTHER, native->file, 0, COMPUTE_US));
		assert_true(plain.worked_ns > 0);
		/* Slow reads of others count in part. */
		apart = tells_apart(&plain, &burning, &sleeping) && depth(&plain) < 1.1 &&
			depth(&burning) < 1.1 && depth(&sleeping) < 1.1;
	}
	assert_true(apart);
}

/* Of three that compute on one CPU each waits for the others two thirds of its time. */
NATIVE_TEST(test_waits_for_its_cpu)
{
	struct native *native = *state;
	struct disk_under_test disk = disk_find(native);
	struct measure change;
	pid_t others[2];

	work_start_ordinary(true);
	for (uint32_t i = 0; i < 2; i++)
		others[i] = work_compute("native-other", NATIVE_OTHER, native->file, 20000);
	for (int i = 0; i < QUIET_TRIES; i++) {
		native_watch(native, 0);
		change = run(native, &disk,
			     work_compute("native-burn", NATIVE_OTHER, native->file, COMPUTE_US));
		if (change.waited_ns > change.ns / 2)
			break;
	}
	for (uint32_t i = 0; i < 2; i++)
		work_end(others[i]);
	work_start_ordinary(false);
	assert_true(change.waited_ns > change.ns / 2);
	assert_true(change.worked_ns < change.ns / 2);
}

static struct measure run_uring(struct native *native, const struct disk_under_test *disk,
				struct work_uring work)
{
	work.name = "native-uring";
	work.cpu = NATIVE_OTHER;
	work.file = native->file;
	print_message("depth %u%s%s: ", work.depth, work.batches ? " in batches" : " kept full",
		      work.no_iowait ? ", no I/O waits" : "");
	return run(native, disk, work_uring(&work));
}

/* A queue, until the disk is quiet: slow reads of others count in part. */
static struct measure run_queue(struct native *native, const struct disk_under_test *disk,
				struct work_uring work, double most)
{
	struct measure change;

	for (int i = 0; i < QUIET_TRIES; i++) {
		native_watch(native, 0);
		change = run_uring(native, disk, work);
		if (depth(&change) < most)
			break;
	}
	return change;
}

/* A queue that is kept full, and one that empties while its task computes. */
NATIVE_TEST(test_queues)
{
	struct native *native = *state;
	struct disk_under_test disk = disk_find(native);
	struct measure change;

	change = run_queue(native, &disk, (struct work_uring){ .depth = 8 }, 8.8);
	assert_true(depth(&change) > 5 && depth(&change) < 8.8);
	assert_true(change.waits > 0);
	change = run_queue(native, &disk,
			   (struct work_uring){ .depth = 4, .batches = true, .compute_us = 4000 },
			   2);
	assert_true(depth(&change) < 2);
	assert_true(per_io_us(&change, change.worked_ns) > 900);
	if (!work_uring_has_no_iowait())
		return;
	change = run_queue(native, &disk, (struct work_uring){ .depth = 8, .no_iowait = true },
			   8.8);
	assert_true(depth(&change) > 5 && depth(&change) < 8.8);
	assert_in_range(change.waits, 0, change.ios / 20);
}

/* What a ring's owner has sent by the kernel's workers is its own I/O all the same. */
NATIVE_TEST(test_workers)
{
	struct native *native = *state;
	struct disk_under_test disk = disk_find(native);
	const struct work_uring work = {
		.name = "native-uring",
		.cpu = NATIVE_OTHER,
		.file = native->file,
		.depth = 8,
		.by_workers = true,
	};
	struct measure change;
	pid_t pid;

	native_watch(native, 0);
	pid = work_uring(&work);
	change = measure(native, &disk, pid);
	native_watch(native, 0);
	native->watched_tgid = pid;
	assert_false(native_wait(native, &native->watched_events, 1, 500)); /* of a worker's own */
	work_end(pid);
	assert_true(change.told);
	/*
	 * Two workers that count at the same moment may count one; beside load 20 one in eight was.
	 * And the task is read a moment after the disk.
	 */
	assert_in_range(change.ios, change.completions * 4 / 5,
			change.completions * 101 / 100 + 20);
	assert_in_range(change.starts, change.completions * 4 / 5,
			change.completions * 101 / 100 + 20);
}

/* One request at a time beside a queue of 16: each task has its part of what the disk has. */
NATIVE_TEST(test_several_tasks)
{
	struct native *native = *state;
	struct disk_under_test disk = disk_find(native);
	struct measure change;
	pid_t others[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct work_uring work = { "native-other", NATIVE_CPU, native->file, 16 };

		others[i] = work_uring(&work);
	}
	native_watch(native, 0);
	change = run(native, &disk,
		     work_compute("native-burn", NATIVE_OTHER, native->file, COMPUTE_US));
	for (uint32_t i = 0; i < 2; i++)
		work_end(others[i]);
	assert_true(depth(&change) < 2);
	assert_true(per_io_us(&change, change.worked_ns) > COMPUTE_US * 0.9);
}

/* Of a disk that is written to, a reader has its part of the reads. */
NATIVE_TEST(test_reader_beside_writes)
{
	static const char *const options[] = {
		"--direct=1",	"--rw=randwrite", "--bs=64k", "--ioengine=libaio",
		"--iodepth=32", "--thread=1",	  NULL
	};
	struct native *native = *state;
	struct disk_under_test disk = disk_find(native);
	struct measure change;
	pid_t writer;

	writer = work_fio(native->file, options);
	native_watch(native, 0);
	/* Slow reads of others count in part. */
	for (int i = 0; i < QUIET_TRIES; i++) {
		change = run(native, &disk,
			     work_read("native-plain", NATIVE_OTHER, native->file, 0, 0));
		if (depth(&change) < 1.5)
			break;
	}
	work_end(writer);
	assert_true(depth(&change) < 1.5);
	assert_true(change.completions > change.ios);
}

NATIVE_TEST(test_two_devices)
{
	struct native *native = *state;
	struct disk_under_test disk, second = { 0 };
	struct loop loop;
	struct input input;
	struct input_task_io first_io = { 0 }, second_io;
	pid_t pid;
	int index;

	disk = disk_find(native);
	loop_new(&loop, -1);
	native_watch(native, 0);
	pid = work_read_two("native-two", NATIVE_OTHER, native->file, loop.device);
	native->watched_pid = pid;
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	for (uint32_t ms = 0; ms < PATIENCE_MS && first_io.ios <= 100; ms += 500) {
		usleep(500000);
		native_consume(native);
		assert_int_equal(tracer_read_task(native->tracer, native->watched.task.handle,
						  native_now_ns(), &input),
				 0);
		first_io = disk_io_of(&input, &disk);
	}
	work_end(pid);
	index = disk_index_of(native, loop.name);
	assert_true(index >= 0);
	second.index = index;
	loop_end(&loop);
	second_io = disk_io_of(&input, &second);
	print_message("%llu and %llu I/Os\n", (unsigned long long)first_io.ios,
		      (unsigned long long)second_io.ios);
	assert_int_equal(input.task.n_ios, 2);
	assert_true(first_io.ios > 100);
	assert_in_range(second_io.ios, first_io.ios - first_io.ios / 20 - 5,
			first_io.ios + first_io.ios / 20 + 5);
}
