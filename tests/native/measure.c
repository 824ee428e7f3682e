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

static struct input read_watched(const struct native *native)
{
	struct input task;

	if (tracer_read_task(native->tracer, native->watched.task.handle, native_now_ns(), &task) <
	    0)
		fail_msg("the task is no longer followed");
	return task;
}

struct measure measure(struct native *native, const struct disk_under_test *disk, pid_t pid)
{
	struct measure change = { 0 };
	struct input first = { 0 }, last = { 0 };
	struct input_device before, after;

	watch(native, pid, &change);
	if (change.told)
		first = read_watched(native);
	before = disk_read(native, disk);
	change.ns = native_now_ns();
	for (int i = 0; i < 10; i++) {
		usleep(MEASURE_US / 10);
		native_check_devices(native); /* as the daemon does … */
		if (change.told)
			last = read_watched(native); /* … and reads it in each window */
	}
	after = disk_read(native, disk);
	change.ns = native_now_ns() - change.ns;
	change.completions = after.completions - before.completions;
	change.waits = last.task.io_waits - first.task.io_waits;
	change.starts = last.task.io_starts - first.task.io_starts;
	change.ios = disk_io_of(&last, disk).ios - disk_io_of(&first, disk).ios;
	change.worked_ns = last.task.worked_ns - first.task.worked_ns;
	change.waited_ns = last.task.waited_ns - first.task.waited_ns;
	change.in_flight_ns = last.task.in_flight_ns - first.task.in_flight_ns;
	print_message("%llu completions; task: %llu waits, %llu starts, %llu ios, worked %.0f %%, "
		      "waited %.0f %%, %.2f in flight\n",
		      (unsigned long long)change.completions, (unsigned long long)change.waits,
		      (unsigned long long)change.starts, (unsigned long long)change.ios,
		      100.0 * change.worked_ns / change.ns, 100.0 * change.waited_ns / change.ns,
		      1.0 * change.in_flight_ns / change.ns);
	return change;
}

void measure_check(const struct measure *change)
{
	/* Started between the reads of two counts at one of the looks, or in flight there. */
	uint64_t slack = change->completions / 100 + 40;

	assert_in_range(change->ios, 0, change->completions + 2 * slack);
	assert_in_range(change->ios + slack, change->starts, change->starts + 2 * slack);
	assert_true(change->worked_ns + change->waited_ns <= change->ns + change->ns / 50);
}
