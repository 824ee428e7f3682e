// SPDX-License-Identifier: GPL-2.0-only
/* Requests that are only counted, and what is known when they are followed again. */
#include "native.h"

#include <unistd.h>

#include "disk_under_test.h"
#include "work.h"

static struct input_task read_task(struct native *native)
{
	struct input input;

	assert_int_equal(tracer_read_task(native->tracer, native->watched.task.handle,
					  native_now_ns(), &input),
			 0);
	assert_int_equal(input.type, INPUT_TASK);
	return input.task;
}

static pid_t start_work(struct native *native, const struct work_uring *uring)
{
	pid_t pid = uring ? work_uring(uring)
			  : work_read("native-reader", NATIVE_OTHER, native->file, 0, 0);

	native->watched_pid = pid;
	tracer_learn(native->tracer, true);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	return pid;
}

/* Until the task has started a hundred more; returns its totals then. Others use the CPU, too. */
static struct input_task wait_for_starts(struct native *native, uint64_t before)
{
	struct input_task task;

	for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += 100) {
		usleep(100000);
		native_check_devices(native);
		task = read_task(native);
		if (task.io_starts > before + 100)
			return task;
	}
	fail_msg("no I/O");
	return task;
}

/* Starts and their time go on; which device they go to, and what is in flight, do not. */
NATIVE_TEST(test_count_only)
{
	struct native *native = *state;
	struct input_task before, after;
	uint64_t now_ns, wakeups;
	pid_t pid;

	disk_find(native);
	native_watch(native, 0);
	pid = start_work(native, NULL);
	tracer_learn(native->tracer, false);
	usleep(20000); /* programs that run while it changes */
	before = read_task(native);
	wakeups = native_program_events(native, "sched_waking");
	now_ns = native_now_ns();
	after = wait_for_starts(native, before.io_starts);
	assert_true(after.io_waits > before.io_waits); /* some are over before it can wait */
	assert_in_range(after.last_io_ns, now_ns, native_now_ns());
	assert_true(after.worked_ns > before.worked_ns);
	assert_int_equal(after.in_flight_ns, before.in_flight_ns);
	/* It is not even run. */
	assert_int_equal(native_program_events(native, "sched_waking"), wakeups);

	tracer_learn(native->tracer, true);
	read_task(native);
	before = wait_for_starts(native, after.io_starts);
	after = wait_for_starts(native, before.io_starts);
	assert_true(after.ios[0].ios > before.ios[0].ios + 50);
	assert_true(after.in_flight_ns > before.in_flight_ns);
	work_end(pid);
	tracer_learn(native->tracer, true); /* nothing changes */
}

/* So that its requests are known: as the daemon looks at a task while it is followed. */
static struct input_task learn_requests(struct native *native)
{
	struct input_task task = read_task(native);

	for (int i = 0; i < 3; i++)
		task = wait_for_starts(native, task.io_starts);
	return task;
}

/* Others on a busy machine may have the program attached for a while, but not all the time. */
static bool starts_unseen(struct native *native)
{
	uint64_t events = native_program_events(native, "block_io_start");

	wait_for_starts(native, read_task(native).io_starts);
	return native_program_events(native, "block_io_start") == events;
}

/* Its starts go on by its bytes when no program sees them, and from where they are. */
static void check_by_bytes(struct native *native, const struct work_uring *uring)
{
	struct input_task before, after;
	uint64_t events, counted, starts, bytes;
	bool unseen = false;
	pid_t pid;

	native_watch(native, 0);
	pid = start_work(native, uring);
	learn_requests(native);
	tracer_learn(native->tracer, false);
	bytes = work_read_bytes(pid);
	before = read_task(native);
	for (int i = 0; i < 5 || (!unseen && i < 600); i++)
		unseen |= starts_unseen(native);
	after = read_task(native);
	bytes = work_read_bytes(pid) - bytes;
	starts = after.io_starts - before.io_starts;
	print_message("%llu starts, %llu of 4 KiB\n", (unsigned long long)starts,
		      (unsigned long long)bytes / WORK_BLOCK_BYTES);
	assert_in_range(starts * 100, bytes / WORK_BLOCK_BYTES * 95,
			bytes / WORK_BLOCK_BYTES * 105);
	assert_true(unseen);

	tracer_learn(native->tracer, true);
	events = native_program_events(native, "block_io_start");
	before = read_task(native);
	assert_true(before.io_starts >= after.io_starts);
	after = wait_for_starts(native, before.io_starts);
	counted = native_program_events(native, "block_io_start") - events;
	assert_true(after.io_starts - before.io_starts <= counted);
	work_end(pid);
}

NATIVE_TEST(test_by_bytes)
{
	struct native *native = *state;
	const struct work_uring queue = { "native-queue", NATIVE_OTHER, native->file, 8 };

	check_by_bytes(native, NULL);
	check_by_bytes(native, &queue);
}

/* Requests of two sizes in turn, each for long: their bytes do not say how many there are. */
NATIVE_TEST(test_uneven_requests_are_counted)
{
	struct native *native = *state;
	uint64_t events;
	pid_t pid;

	native_watch(native, 0);
	pid = work_read_sizes("native-sizes", NATIVE_OTHER, native->file, 150);
	native->watched_pid = pid;
	tracer_learn(native->tracer, true);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	learn_requests(native);
	tracer_learn(native->tracer, false);
	events = native_program_events(native, "block_io_start");
	wait_for_starts(native, read_task(native).io_starts);
	assert_true(native_program_events(native, "block_io_start") > events + 50);
	work_end(pid);
}
