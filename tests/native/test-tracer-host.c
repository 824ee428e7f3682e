// SPDX-License-Identifier: GPL-2.0-only
/* Host time: how long a task has nothing in flight, and what of it a faster clock would save. */
#include "native.h"

#include <unistd.h>

#include "loop.h"
#include "measure.h"
#include "work.h"

static double host_us(const struct measure *measure)
{
	return measure->ios ? measure->host_ns / 1e3 / measure->ios : 0;
}

static double host_cpu_us(const struct measure *measure)
{
	return measure->ios ? measure->host_cpu_ns / 1e3 / measure->ios : 0;
}

/* With its own watching, until its end. */
static struct measure run(struct native *native, const struct disk_under_test *disk, pid_t pid)
{
	struct measure change;

	change = measure(native, disk, pid);
	work_end(pid);
	assert_true(change.told);
	print_message("per I/O: host %.1f us, of it on a CPU %.1f us, wall %.1f us\n",
		      host_us(&change), host_cpu_us(&change), change.ns / 1e3 / change.ios);
	measure_check(native, disk, &change);
	native_watch(native, 0);
	return change;
}

/* What is computed or slept through between two reads is seen as that, no more and no less. */
/* What 300 us beside each read make of the host time, most of which others on the CPU may take. */
static bool tells_apart(const struct measure *plain, const struct measure *burning,
			const struct measure *sleeping)
{
	return host_cpu_us(burning) > host_cpu_us(plain) + 200 &&
	       host_us(burning) < burning->ns / 1e3 / burning->ios &&
	       host_us(sleeping) > host_us(plain) + 200 &&
	       sleeping->host_cpu_ns < sleeping->host_ns / 2 &&
	       host_cpu_us(sleeping) < host_cpu_us(burning) / 2;
}

static void test_psync(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct measure plain, burning, sleeping;
	bool apart = false;

	disk_find(native, &disk);
	native_watch(native, 0);
	for (int i = 0; i < QUIET_TRIES && !apart; i++) {
		plain = run(native, &disk,
			    work_read("native-plain", NATIVE_OTHER, native->file, 0, 0));
		burning = run(native, &disk,
			      work_compute("native-burn", NATIVE_OTHER, native->file, 300));
		sleeping = run(native, &disk,
			       work_read("native-sleep", NATIVE_OTHER, native->file, 0, 300));
		assert_true(plain.host_ns > 0);
		assert_true(plain.host_ns < plain.ns);
		apart = tells_apart(&plain, &burning, &sleeping);
	}
	assert_true(apart);
}

static struct measure run_uring(struct native *native, const struct disk_under_test *disk,
				struct work_uring work)
{
	work.name = "native-uring";
	work.cpu = NATIVE_OTHER;
	work.file = native->file;
	print_message("depth %u%s%s, computing %u us: ", work.depth,
		      work.batches ? " in batches" : " kept full",
		      work.no_iowait ? ", no I/O waits" : "", work.compute_us);
	return run(native, disk, work_uring(&work));
}

/*
 * A task whose queue is full has next to no host time however often it waits: what there is comes
 * from others on its CPU, while whose work the queue runs dry.
 */
static void test_full_queue(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct measure change;

	disk_find(native, &disk);
	native_watch(native, 0);
	change = run_uring(native, &disk, (struct work_uring){ .depth = 8 });
	assert_true(change.host_ns < change.ns / 3);
	assert_true(change.waits > 0);
	if (!work_uring_has_no_iowait())
		return;
	change = run_uring(native, &disk, (struct work_uring){ .depth = 8, .no_iowait = true });
	assert_true(change.host_ns < change.ns / 3);
	assert_in_range(change.waits, 0, change.ios / 20);
}

/* What a ring's owner has sent by the kernel's workers is its own I/O all the same. */
static void test_workers(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	const struct work_uring work = {
		.name = "native-uring",
		.cpu = NATIVE_OTHER,
		.file = native->file,
		.depth = 8,
		.by_workers = true,
	};
	struct measure change;
	pid_t pid;

	disk_find(native, &disk);
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
	disk_settle(native, &disk);
}

/* From the last completion of a batch to the first request of the next one. */
static void test_batches(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	bool has_no_iowait = work_uring_has_no_iowait();

	disk_find(native, &disk);
	native_watch(native, 0);
	for (uint32_t i = 0; i < (has_no_iowait ? 2 : 1); i++) {
		struct work_uring work = { .depth = 4, .batches = true, .no_iowait = i };
		struct measure plain = run_uring(native, &disk, work), burning;

		work.compute_us = 400;
		burning = run_uring(native, &disk, work);
		assert_true(host_cpu_us(&burning) > host_cpu_us(&plain) + 80);
		assert_true(burning.host_cpu_ns > burning.host_ns / 2);
	}
}

/* Each has its own, though the device is never at depth 0 for long. */
static void test_several_tasks(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct measure change;
	pid_t others[2];

	disk_find(native, &disk);
	for (uint32_t i = 0; i < 2; i++) {
		struct work_uring work = { "native-other", NATIVE_CPU, native->file, 16 };

		others[i] = work_uring(&work);
	}
	/* After an end that was missed nothing is known until that is mended. */
	for (int i = 0; i < QUIET_TRIES; i++) {
		native_watch(native, 0);
		change = measure(native, &disk,
				 work_compute("native-burn", NATIVE_OTHER, native->file, 300));
		work_end(native->watched_pid);
		if (host_cpu_us(&change) > 250)
			break;
	}
	for (uint32_t i = 0; i < 2; i++)
		work_end(others[i]);
	assert_true(change.told);
	print_message("per I/O %.1f us on a CPU\n", host_cpu_us(&change));
	assert_true(change.idle_ns < change.ns / 2);
	assert_true(host_cpu_us(&change) > 250);
	measure_check(native, &disk, &change);
}

static void test_two_devices(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk, second = { 0 };
	struct loop loop;
	struct input input;
	struct input_task_io first_io = { 0 }, second_io;
	pid_t pid;
	int index;

	disk_find(native, &disk);
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
	print_message("%llu and %llu I/Os, host %.1f and %.1f ms\n",
		      (unsigned long long)first_io.ios, (unsigned long long)second_io.ios,
		      first_io.host_ns / 1e6, second_io.host_ns / 1e6);
	assert_int_equal(input.task.n_ios, 2);
	assert_true(first_io.ios > 100);
	assert_in_range(second_io.ios, first_io.ios - first_io.ios / 20 - 5,
			first_io.ios + first_io.ios / 20 + 5);
	assert_true(first_io.host_ns > 0 && second_io.host_ns > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_psync),	    cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_batches),	    cmocka_unit_test(test_several_tasks),
		cmocka_unit_test(test_two_devices), cmocka_unit_test(test_workers),
	};

	return native_run(tests);
}
