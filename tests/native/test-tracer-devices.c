// SPDX-License-Identifier: GPL-2.0-only
/* What tasks do to a block device, by each way there is to it. Needs fio for the queued ones. */
#include "native.h"

#include <stdio.h>
#include <unistd.h>

#include "measure.h"
#include "work.h"

static struct measure run(struct native *native, const struct disk_under_test *disk, pid_t pid)
{
	struct measure change = measure(native, disk, pid);

	work_end(pid);
	return change;
}

static uint64_t heard_ios(const struct measure *change)
{
	return change->ios > change->anomalies ? change->ios - change->anomalies : 0;
}

#define COMPUTE_US 300
#define PAUSE_US   1000

static void test_computing_reader(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct measure change;

	disk_find(native, &disk);
	native_watch(native, 0);
	change = run(native, &disk,
		     work_compute("native-compute", NATIVE_OTHER, native->file, COMPUTE_US));
	measure_check(native, &disk, &change);
	assert_true(change.told);
	/* However long the disk takes, which others use, too. */
	assert_true(change.host_ns > heard_ios(&change) * COMPUTE_US * 900);
	assert_true(change.host_cpu_ns > change.host_ns * 9 / 10);
}

static void test_thinking_reader(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct measure change;

	disk_find(native, &disk);
	/*
	 * On a CPU that others want too it waits for that, which is host time on a CPU. Where the
	 * end of a request was not seen, host times are not known until that is corrected.
	 */
	for (int i = 0; i < QUIET_TRIES; i++) {
		native_watch(native, 0);
		change = run(native, &disk,
			     work_read("native-think", NATIVE_OTHER, native->file, 0, PAUSE_US));
		measure_check(native, &disk, &change);
		assert_true(change.told);
		if (!change.anomalies && change.host_cpu_ns < change.host_ns / 2)
			break;
	}
	assert_true(change.host_ns > heard_ios(&change) * PAUSE_US * 900);
	assert_true(change.host_cpu_ns < change.host_ns / 2);
}

struct job {
	const char *engine, *depth;
	bool never_waits; /* as far as in_iowait tells */
};

static void test_fio(void **state)
{
	static const struct job jobs[] = {
		{ "psync", "1" },
		{ "libaio", "32", .never_waits = true },
		{ "io_uring", "32" },
		{ "io_uring", "1" },
	};
	struct native *native = *state;
	struct disk_under_test disk;

	if (access("/usr/bin/fio", X_OK) < 0) {
		print_message("skipped: no fio\n");
		skip();
	}
	disk_find(native, &disk);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		char engine[32], depth[32];
		const char *const options[] = { "--direct=1", "--rw=randread", "--bs=4k",
						"--thread=1", engine,	       depth,
						NULL };
		struct measure change;

		snprintf(engine, sizeof(engine), "--ioengine=%s", jobs[i].engine);
		snprintf(depth, sizeof(depth), "--iodepth=%s", jobs[i].depth);
		print_message("%s %s: ", jobs[i].engine, jobs[i].depth);
		native_watch(native, 0);
		native->watched_tgid = getpid(); /* until it is known */
		change = run(native, &disk, work_fio(native->file, options));
		measure_check(native, &disk, &change);
		assert_true(change.told);
		assert_true(change.ios > 250);
		if (jobs[i].never_waits)
			assert_in_range(change.waits, 0, change.ios / 20);
	}
}

static void test_page_faults(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct measure change;

	disk_find(native, &disk);
	native_watch(native, 0);
	change = run(native, &disk, work_fault("native-fault", native->file));
	measure_check(native, &disk, &change);
	assert_true(change.told);
	assert_true(change.ios > 250);
	assert_true(change.host_ns > 0);
}

static void test_readahead(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct measure change;

	disk_find(native, &disk);
	native_watch(native, 0);
	change = run(native, &disk, work_read_buffered("native-ahead", native->file));
	measure_check(native, &disk, &change);
	assert_true(change.completions > 50);
}

/* Kernel threads send what it wrote: none of it is the writer's host time. */
static void test_writeback(void **state)
{
	struct native *native = *state;
	struct disk_under_test disk;
	struct measure change;

	disk_find(native, &disk);
	native_watch(native, 0);
	change = run(native, &disk, work_write_buffered("native-write", native->file));
	measure_check(native, &disk, &change);
	assert_true(change.completions > 50);
	assert_true(change.ios < change.completions / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_computing_reader),
		cmocka_unit_test(test_thinking_reader),
		cmocka_unit_test(test_fio),
		cmocka_unit_test(test_page_faults),
		cmocka_unit_test(test_readahead),
		cmocka_unit_test(test_writeback),
	};

	return native_run(tests);
}
