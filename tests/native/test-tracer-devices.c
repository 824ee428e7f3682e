// SPDX-License-Identifier: GPL-2.0-only
/* What tasks do to a block device, by each way there is to it. Needs fio for the queued ones. */
#include "native.h"

#include <stdio.h>
#include <unistd.h>

#include "measure.h"
#include "tracer/tracer_private.h"
#include "work.h"

static struct measure run(struct native *native, const struct disk_under_test *disk, pid_t pid)
{
	struct measure change = measure(native, disk, pid);

	work_end(pid);
	measure_check(&change);
	return change;
}

/* What a task that does this to the file is seen to do. */
static struct measure see(struct native *native, pid_t (*work)(const char *, int))
{
	struct disk_under_test disk = disk_find(native);

	native_watch(native, 0);
	return run(native, &disk, work("native-work", native->file));
}

struct job {
	const char *engine, *depth;
	bool never_waits; /* as far as in_iowait tells */
};

NATIVE_TEST(test_fio)
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
	disk = disk_find(native);
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
		assert_true(change.told);
		assert_true(change.ios > 250);
		if (jobs[i].never_waits)
			assert_in_range(change.waits, 0, change.ios / 20);
	}
}

NATIVE_TEST(test_page_faults)
{
	const struct measure change = see(*state, work_fault);

	assert_true(change.told);
	assert_true(change.ios > 250);
	assert_true(change.worked_ns > 0);
}

NATIVE_TEST(test_readahead)
{
	const struct measure change = see(*state, work_read_buffered);

	assert_true(change.completions > 50);
}

/* Kernel threads send what it wrote: it is not the writer's I/O. */
NATIVE_TEST(test_writeback)
{
	const struct measure change = see(*state, work_write_buffered);

	assert_true(change.completions > 50);
	assert_true(change.ios < change.completions / 4);
}

static uint64_t count_ios(const struct native *native, const struct disk_under_test *disk)
{
	uint64_t ios = 0;

	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		for (uint32_t j = 0; j < WAKEGOV_SLOT_IOS; j++)
			if (native->tracer->slots[i].pid &&
			    native->tracer->slots[i].ios[j].device == disk->index)
				ios += native->tracer->slots[i].ios[j].ios;
	return ios;
}

NATIVE_TEST(test_many_tasks)
{
	static const char *const options[] = {
		"--direct=1",	 "--rw=randread", "--bs=4k", "--ioengine=psync",
		"--numjobs=200", "--thread=1",	  NULL
	};
	struct native *native = *state;
	struct policy_io_boost policy = native->policy;
	struct disk_under_test disk;
	uint64_t completions, ios = 0;
	pid_t pid;

	/* A disk that others use too has little for each of so many. */
	policy.min_rate_per_s = 50;
	tracer_set_policy(native->tracer, &policy);
	disk = disk_find(native);
	pid = work_fio(native->file, options);
	usleep(2000000);
	native_consume(native);
	completions = disk_read(native, &disk).completions;
	ios = count_ios(native, &disk);
	usleep(1000000);
	ios = count_ios(native, &disk) - ios;
	completions = disk_read(native, &disk).completions - completions;
	work_end(pid);
	print_message("%llu completions, %llu of followed tasks\n", (unsigned long long)completions,
		      (unsigned long long)ios);
	assert_in_range(ios, completions / 2, completions + completions / 50 + 300);
	native_consume(native);
	for (uint32_t handle = 0; handle < WAKEGOV_SLOTS; handle++)
		tracer_release_task(native->tracer, handle);
	for (uint32_t i = 0; i < WAKEGOV_HOT; i++)
		assert_int_equal(native->tracer->programs.bss->hot_tasks[i], 0);
}
