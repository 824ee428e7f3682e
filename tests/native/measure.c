// SPDX-License-Identifier: GPL-2.0-only
#include "measure.h"

#include <unistd.h>

#define MEASURE_US 1000000

/* A process with threads does its I/O in another than the first. */
static void watch(struct native *native, pid_t pid, struct measure *ret)
{
	if (!native->watched_tgid)
		native->watched_pid = pid;
	else
		native->watched_tgid = pid;
	ret->told = native_wait(native, &native->watched_events, 1, PATIENCE_MS) &&
		    native->watched.type == INPUT_TASK;
}

static void read_watched(const struct native *native, struct input *ret)
{
	if (tracer_read_task(native->tracer, native->watched.task.handle, native_now_ns(), ret) < 0)
		fail_msg("the task is no longer followed");
}

struct measure measure(struct native *native, const struct disk_under_test *disk, pid_t pid)
{
	struct measure change = { 0 };
	uint64_t around, within, flushes;
	struct input first = { 0 }, last = { 0 };
	struct input_device before, after;
	struct input_task_io io;
	struct tracer_drops drops_before, drops;

	watch(native, pid, &change);
	if (change.told)
		read_watched(native, &first);
	tracer_drops(native->tracer, &drops_before);
	flushes = disk_kernel_flushes(disk);
	around = disk_kernel_completions(disk);
	before = disk_read(native, disk);
	within = disk_kernel_completions(disk);
	change.ns = native_now_ns();
	for (int i = 0; i < 10; i++) {
		usleep(MEASURE_US / 10);
		native_resync(native); /* as the daemon does */
	}
	if (change.told)
		read_watched(native, &last);
	change.kernel_least = disk_kernel_completions(disk) - within;
	after = disk_read(native, disk);
	change.kernel_most = disk_kernel_completions(disk) - around;
	change.kernel_most += disk_kernel_flushes(disk) - flushes;
	change.ns = native_now_ns() - change.ns;
	change.completions = after.completions - before.completions;
	change.idle_ns = after.idle_ns - before.idle_ns;
	change.waits = last.task.io_waits - first.task.io_waits;
	change.starts = last.task.io_starts - first.task.io_starts;
	io = disk_io_of(&first, disk);
	change.host_ns = -io.host_ns;
	change.host_cpu_ns = -io.host_cpu_ns;
	change.ios = -io.ios;
	io = disk_io_of(&last, disk);
	change.host_ns += io.host_ns;
	change.host_cpu_ns += io.host_cpu_ns;
	change.ios += io.ios;
	tracer_drops(native->tracer, &drops);
	change.anomalies = drops.anomalies - drops_before.anomalies;
	print_message("%llu anomalies; ", (unsigned long long)change.anomalies);
	print_message(
		"%llu completions (kernel %llu to %llu), idle %.0f %%; task: %llu waits, %llu starts, "
		"%llu ios, host %.0f %%, of it on a CPU %.0f %%\n",
		(unsigned long long)change.completions, (unsigned long long)change.kernel_least,
		(unsigned long long)change.kernel_most, 100.0 * change.idle_ns / change.ns,
		(unsigned long long)change.waits, (unsigned long long)change.starts,
		(unsigned long long)change.ios, 100.0 * change.host_ns / change.ns,
		change.host_ns ? 100.0 * change.host_cpu_ns / change.host_ns : 0);
	return change;
}

void measure_check(struct native *native, const struct disk_under_test *disk,
		   const struct measure *change)
{
	/* In flight at one of the looks, or started between the reads of two counts at one. */
	uint64_t slack = change->kernel_most / 100 + 40;

	assert_in_range(change->completions + slack, change->kernel_least,
			change->kernel_most + 2 * slack);
	assert_true(change->idle_ns <= change->ns);
	assert_true(change->host_ns <= change->ns + change->ns / 50);
	assert_true(change->host_cpu_ns <= change->host_ns);
	assert_in_range(change->ios + slack, change->starts, change->starts + 2 * slack);
	/* Of some completions no program hears on some kernels; that is put right, and counted. */
	disk_settle(native, disk);
}
