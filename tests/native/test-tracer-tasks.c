// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that do I/O: who is told about, where it runs, and that its end is told. */
#include "native.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "work.h"

/* Longer than other work keeps the reader from reading. */
#define HOLD_NS (300 * NS_PER_MS)

/* A task that is told about, or the test ends here. */
static pid_t start_reader(struct native *native, uint32_t cpu)
{
	pid_t pid;

	native_watch(native, 0);
	pid = work_read("native-reader", cpu, native->file, 0, 0);
	native->watched_pid = pid;
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	assert_int_equal(native->watched.type, INPUT_TASK);
	return pid;
}

NATIVE_TEST(test_fast_reader_is_told)
{
	struct native *native = *state;
	pid_t slow = work_read("native-slow", NATIVE_CPU, native->file, 0, 10000);
	pid_t pid = start_reader(native, NATIVE_CPU);
	struct input first, input;
	double rate_per_s;

	assert_int_equal(native->watched.task.pid, pid);
	assert_int_equal(native->watched.task.tgid, pid);
	assert_int_equal(native->watched.task.cpu, NATIVE_CPU);
	assert_string_equal(native->watched.task.comm, "native-reader");
	first = native->watched;
	usleep(500000);
	assert_int_equal(
		tracer_read_task(native->tracer, first.task.handle, native_now_ns(), &input), 0);
	rate_per_s = (input.task.io_waits - first.task.io_waits) * 1e9 /
		     (input.now_ns - first.now_ns);
	print_message("%.0f I/O waits/s, %llu starts\n", rate_per_s,
		      (unsigned long long)(input.task.io_starts - first.task.io_starts));
	assert_true(rate_per_s > 500);
	assert_true(input.task.io_starts - first.task.io_starts > 250);
	assert_true(input.task.last_io_ns > first.task.last_io_ns);

	/* Released, it is told about again. */
	native_watch(native, pid);
	tracer_release_task(native->tracer, first.task.handle);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	assert_int_equal(native->watched.task.pid, pid);
	work_end(pid);

	native_watch(native, slow);
	assert_false(native_wait(native, &native->watched_events, 1, 1000));
	work_end(slow);
}

/* To learn of each would attach and detach programs at every command that reads its own program. */
NATIVE_TEST(test_short_reader_is_not_told)
{
	struct native *native = *state;
	const struct policy_io_boost easy = { .enabled = true,
					      .min_rate_per_s = 10,
					      .window_ns = NS_PER_S / IO_BOOST_ENTRY_WINDOWS };
	pid_t pid;

	tracer_set_policy(native->tracer, &easy);
	pid = work_read("native-short", NATIVE_CPU, native->file, 100, 0);
	native_watch(native, pid);
	assert_int_equal(work_wait(pid), 0);
	native_consume(native);
	assert_int_equal(native->watched_events, 0);
	tracer_set_policy(native->tracer, &native->policy);
}

NATIVE_TEST(test_move_is_told)
{
	struct native *native = *state;
	pid_t pid = start_reader(native, NATIVE_CPU);

	for (uint32_t i = 1; i <= 6; i++) {
		uint32_t cpu = i % 2 ? NATIVE_OTHER : NATIVE_CPU;

		usleep(20000);
		native_watch(native, pid);
		work_pin(pid, cpu);
		assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
		assert_int_equal(native->watched.type, INPUT_TASK);
		assert_int_equal(native->watched.task.cpu, cpu);
	}
	work_end(pid);
}

NATIVE_TEST(test_exit_is_told)
{
	struct native *native = *state;
	pid_t pid = start_reader(native, NATIVE_CPU);
	uint32_t handle = native->watched.task.handle;
	struct input input;

	native_watch(native, pid);
	work_end(pid);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	assert_int_equal(native->watched.type, INPUT_TASK_END);
	assert_int_equal(native->watched.ended_pid, pid);
	tracer_release_task(native->tracer, handle);
	if (tracer_read_task(native->tracer, handle, native_now_ns(), &input) == 0)
		assert_int_not_equal(native_pid_of(&input), pid);
}

/* Not while the task goes on, and once when it pauses. */
NATIVE_TEST(test_hold_end_is_told)
{
	struct native *native = *state;
	pid_t pid = start_reader(native, NATIVE_CPU);
	uint32_t handle = native->watched.task.handle;
	struct input input;

	assert_false(native->watched.task.watched);
	tracer_watch_hold(native->tracer, handle, HOLD_NS);
	native_watch(native, pid);
	assert_false(native_wait(native, &native->watched_events, 1, 1000));
	assert_int_equal(tracer_read_task(native->tracer, handle, native_now_ns(), &input), 0);
	assert_true(input.task.watched);
	kill(pid, SIGSTOP);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	assert_int_equal(native->watched.type, INPUT_TASK);
	assert_false(native->watched.task.watched);
	assert_true(native->watched.now_ns - native->watched.task.last_io_ns >= HOLD_NS);
	assert_false(native_wait(native, &native->watched_events, 2, 3 * HOLD_NS / NS_PER_MS));

	/* What is no longer wanted is not told. */
	tracer_watch_hold(native->tracer, handle, HOLD_NS);
	tracer_watch_hold(native->tracer, handle, 0);
	assert_false(native_wait(native, &native->watched_events, 2, 3 * HOLD_NS / NS_PER_MS));
	work_end(pid);
}

/* Off, nothing is told; on again, it is. */
NATIVE_TEST(test_policy_switches_off)
{
	struct native *native = *state;
	struct policy_io_boost off = native->policy;
	pid_t pid;

	off.enabled = false;
	tracer_set_policy(native->tracer, &off);
	native_watch(native, 0);
	pid = work_read("native-reader", NATIVE_CPU, native->file, 0, 0);
	native->watched_pid = pid;
	assert_false(native_wait(native, &native->watched_events, 1, 500));
	tracer_set_policy(native->tracer, &native->policy);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	work_end(pid);
}

/*
 * Its requests wait in a queue and it does not wait for each: they are seen when they start or,
 * where no program sees that, by its bytes.
 */
static void run_fio(struct native *native, const char *engine, bool learn)
{
	char engine_option[64], file_option[64];
	const char *const argv[] = { "./native-fio", "--name=native",
				     engine_option,  file_option,
				     "--direct=1",   "--rw=randread",
				     "--iodepth=8",  "--bs=4k",
				     "--size=16m",   "--time_based",
				     "--runtime=60", "--allow_file_create=0",
				     "--thread=1",   NULL };
	uint64_t waits = 0, starts = 0;
	struct input first, last;
	pid_t pid;

	snprintf(engine_option, sizeof(engine_option), "--ioengine=%s", engine);
	snprintf(file_option, sizeof(file_option), "--filename=/proc/%d/fd/%d", getpid(),
		 native->file);
	tracer_learn(native->tracer, learn);
	native_watch(native, 0);
	pid = work_exec(argv);
	native->watched_tgid = pid; /* its worker; the first thread only reads it in */
	if (!native_wait(native, &native->watched_events, 1, PATIENCE_MS)) {
		print_message("exit status %d\n", work_end(pid));
		fail_msg("fio with %s is not seen", engine);
	}
	first = native->watched;
	/* At once, where the machine has nothing else to do. */
	for (uint32_t ms = 0; ms < PATIENCE_MS; ms += 500) {
		usleep(500000);
		assert_int_equal(
			tracer_read_task(native->tracer, first.task.handle, native_now_ns(), &last),
			0);
		waits = last.task.io_waits - first.task.io_waits;
		starts = last.task.io_starts - first.task.io_starts;
		if (starts > 250)
			break;
	}
	work_end(pid);
	print_message("%s, %s: %llu waits, %llu starts in %.0f ms\n", engine,
		      learn ? "learnt" : "by bytes", (unsigned long long)waits,
		      (unsigned long long)starts, (last.now_ns - first.now_ns) / 1e6);
	assert_string_equal(first.task.comm, "native-fio");
	assert_true(starts > 250);
	assert_true(waits < starts / 2);
}

NATIVE_TEST(test_queued_io_is_told)
{
	static const char *const engines[] = { "libaio", "io_uring" };

	unlink("native-fio");
	if (symlink("/usr/bin/fio", "native-fio") < 0 || access("native-fio", X_OK) < 0) {
		unlink("native-fio");
		skip();
	}
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		run_fio(*state, engines[i], true);
		run_fio(*state, engines[i], false);
	}
	unlink("native-fio");
}
