// SPDX-License-Identifier: GPL-2.0-only
/* Requests that are only counted, and what is known when they are followed again. */
#include "native.h"

#include <unistd.h>

#include "disk_under_test.h"
#include "work.h"

static uint64_t anomalies_of(const struct native *native)
{
	struct tracer_drops drops;

	tracer_drops(native->tracer, &drops);
	return drops.anomalies;
}

static struct input_task read_task(struct native *native)
{
	struct input input;

	assert_int_equal(tracer_read_task(native->tracer, native->watched.task.handle,
					  native_now_ns(), &input),
			 0);
	assert_int_equal(input.type, INPUT_TASK);
	return input.task;
}

static void follow(struct native *native, bool follow)
{
	tracer_follow_requests(native->tracer, follow, native_now_ns());
}

/*
 * A program stays attached for as long as anybody has its link: children that were forked while
 * nothing is followed have none of those that come and go.
 */
static pid_t start_unlinked(struct native *native, const struct work_uring *uring)
{
	pid_t pid;

	follow(native, false);
	pid = uring ? work_uring(uring)
		    : work_read("native-reader", NATIVE_OTHER, native->file, 0, 0);
	native->watched_pid = pid;
	follow(native, true);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	return pid;
}

/* Until the task has started a hundred more; returns its totals then. Others use the CPU, too. */
static struct input_task wait_for_starts(struct native *native, uint64_t before)
{
	struct input_task task;

	for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += 100) {
		usleep(100000);
		native_resync(native);
		task = read_task(native);
		if (task.io_starts > before + 100)
			return task;
	}
	fail_msg("no I/O");
	return task;
}

/* Starts and their time go on; what is in flight, host times and the disk's totals do not. */
static void test_count_only(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct input_device disk_before, disk_after;
	struct input_task before, after;
	uint64_t anomalies, now_ns, completions, wakeups;
	pid_t pid;

	disk_find(native, &disk);
	native_watch(native, 0);
	pid = start_unlinked(native, NULL);
	follow(native, false);
	usleep(20000); /* programs that run while it changes */
	before = read_task(native);
	disk_before = disk_read(native, &disk);
	anomalies = anomalies_of(native);
	completions = native_program_events(native, "block_rq_complete");
	wakeups = native_program_events(native, "sched_waking");
	now_ns = native_now_ns();
	after = wait_for_starts(native, before.io_starts);
	disk_after = disk_read(native, &disk);
	assert_true(after.io_waits > before.io_waits); /* some are over before it can wait */
	assert_in_range(after.last_io_ns, now_ns, native_now_ns());
	assert_int_equal(after.depth, 0);
	assert_int_equal(after.in_flight_ns, before.in_flight_ns);
	assert_int_equal(after.ios[0].host_ns, before.ios[0].host_ns);
	assert_int_equal(disk_after.completions, disk_before.completions);
	assert_int_equal(anomalies_of(native), anomalies);
	/* They are not even run. */
	assert_int_equal(native_program_events(native, "block_rq_complete"), completions);
	assert_int_equal(native_program_events(native, "sched_waking"), wakeups);

	follow(native, true);
	before = after;
	after = wait_for_starts(native, before.io_starts);
	assert_true(after.ios[0].ios > before.ios[0].ios + 50);
	assert_true(after.ios[0].host_ns > before.ios[0].host_ns);
	assert_true(after.in_flight_ns > before.in_flight_ns);
	assert_true(disk_read(native, &disk).completions > disk_after.completions + 50);
	/* An end that no program heard of is mended by and by. */
	for (int ms = 0; ms < PATIENCE_MS && read_task(native).depth > 1; ms += 10) {
		usleep(10000);
		native_resync(native);
	}
	assert_in_range(read_task(native).depth, 0, 1);
	work_end(pid);
	disk_settle(native, &disk);
	follow(native, true); /* nothing changes */
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
	pid = start_unlinked(native, uring);
	learn_requests(native);
	follow(native, false);
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

	follow(native, true);
	events = native_program_events(native, "block_io_start");
	before = read_task(native);
	assert_true(before.io_starts >= after.io_starts);
	after = wait_for_starts(native, before.io_starts);
	counted = native_program_events(native, "block_io_start") - events;
	assert_true(after.io_starts - before.io_starts <= counted);
	work_end(pid);
}

static void test_by_bytes(void **state)
{
	struct native *native = *state;
	const struct work_uring queue = { "native-queue", NATIVE_OTHER, native->file, 8 };

	check_by_bytes(native, NULL);
	check_by_bytes(native, &queue);
}

/* Requests of two sizes in turn, each for long: their bytes do not say how many there are. */
static void test_uneven_requests_are_counted(void **state)
{
	struct native *native = *state;
	uint64_t events;
	pid_t pid;

	native_watch(native, 0);
	follow(native, false);
	pid = work_read_sizes("native-sizes", NATIVE_OTHER, native->file, 150);
	native->watched_pid = pid;
	follow(native, true);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	learn_requests(native);
	follow(native, false);
	events = native_program_events(native, "block_io_start");
	wait_for_starts(native, read_task(native).io_starts);
	assert_true(native_program_events(native, "block_io_start") > events + 50);
	work_end(pid);
}

/* What is in flight at either change of a deep queue stays in nobody's depth, and is no fault. */
static void test_changes_at_depth(void **state)
{
	struct native *native = *state;
	const struct work_uring work = { "native-queue", NATIVE_OTHER, native->file, 32 };
	struct disk_under_test disk;
	struct input_task task;
	uint64_t anomalies;
	pid_t pid;

	disk_find(native, &disk);
	native_watch(native, 0);
	pid = start_unlinked(native, &work);
	anomalies = anomalies_of(native);
	for (int i = 0; i < 20; i++) {
		follow(native, false);
		usleep(20000);
		follow(native, true);
		usleep(20000);
	}
	task = wait_for_starts(native, read_task(native).io_starts);
	task = wait_for_starts(native, task.io_starts);
	assert_in_range(task.max_depth, 16, 32);
	work_end(pid);
	disk_settle(native, &disk);
	print_message("%llu anomalies\n", (unsigned long long)(anomalies_of(native) - anomalies));
	/*
	 * Mostly a few; on a CPU that is taken away at a change, all that it had in flight, and
	 * what others had there.
	 */
	assert_in_range(anomalies_of(native) - anomalies, 0, 2 * 40 * 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count_only),
		cmocka_unit_test(test_by_bytes),
		cmocka_unit_test(test_uneven_requests_are_counted),
		cmocka_unit_test(test_changes_at_depth),
	};

	return native_run(tests);
}
