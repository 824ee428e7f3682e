// SPDX-License-Identifier: GPL-2.0-only
/* Nothing is traced for a while, and what is known afterwards. */
#include "native.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tracer/tracer_private.h"
#include "work.h"

#define PAUSE_MS 300

/* Of all programs together; bpf_enable_stats() is on. */
static uint64_t runs(const struct native *native)
{
	uint64_t n = 0;

	for (int i = 0; i < WAKEGOV_PROGRAMS; i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = native->tracer->programs.fds[i];

		if (fd && bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
			n += info.run_cnt;
	}
	return n;
}

static enum tracer_program_state state_of(const struct native *native, enum wakegov_program i)
{
	struct tracer_program program;

	assert_true(tracer_program(native->tracer, i, &program));
	return program.state;
}

/* Reads, waits, switches, a fork, an exec and an exit. */
static void work(const struct native *native)
{
	static const char *const argv[] = { "true", NULL };

	work_wait(work_read("native-few", NATIVE_OTHER, native->file, 500, 0));
	work_wait(work_exec(argv));
}

/* Programs that were needed before run again, and the others do not. */
NATIVE_TEST(test_nothing_runs)
{
	struct native *native = *state;
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	uint64_t before;

	assert_true(stats >= 0);
	tracer_learn(native->tracer, false);
	tracer_pause(native->tracer);
	assert_int_equal(state_of(native, WAKEGOV_SCHED_SWITCH), TRACER_PAUSED);
	assert_int_equal(state_of(native, WAKEGOV_SCHED_WAKING), TRACER_NOT_NEEDED);
	usleep(20000); /* those that still run */
	before = runs(native);
	work(native);
	/* What a change of the policy attaches waits as well. */
	tracer_follow_clamps(native->tracer, true, true);
	tracer_learn(native->tracer, true);
	work(native);
	assert_int_equal(runs(native), before);
	tracer_resume(native->tracer);
	tracer_resume(native->tracer); /* nothing changes */
	assert_int_equal(state_of(native, WAKEGOV_SCHED_SWITCH), TRACER_ATTACHED);
	assert_int_equal(state_of(native, WAKEGOV_SCHED_WAKING), TRACER_ATTACHED);
	assert_int_equal(state_of(native, WAKEGOV_TASK_DUMP), TRACER_ATTACHED);
	work(native);
	assert_true(runs(native) > before + 500);
	close(stats);
}

/* A program stays attached for as long as anybody has its link: children begin in a pause. */
static pid_t start_reader(struct native *native)
{
	pid_t pid;

	tracer_pause(native->tracer);
	pid = work_read("native-reader", NATIVE_OTHER, native->file, 0, 0);
	native_watch(native, pid);
	tracer_resume(native->tracer);
	tracer_learn(native->tracer, true);
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	return pid;
}

static struct input read_task(const struct native *native)
{
	struct input input;

	assert_int_equal(tracer_read_task(native->tracer, native->watched.task.handle,
					  native_now_ns(), &input),
			 0);
	return input;
}

/* Stopped, and moved to another CPU, while nothing is traced; returns for how long it was traced.
 */
static uint64_t stand_still(struct native *native, pid_t pid)
{
	uint64_t stopped_ns = native_now_ns(), resumed_ns;
	struct input_task task;

	kill(pid, SIGSTOP);
	tracer_pause(native->tracer);
	stopped_ns = native_now_ns() - stopped_ns;
	work_pin(pid, NATIVE_CPU);
	usleep(PAUSE_MS * 1000);
	resumed_ns = native_now_ns();
	tracer_resume(native->tracer);
	task = read_task(native).task;
	assert_int_equal(task.pid, pid);
	assert_in_range(task.last_io_ns, resumed_ns, native_now_ns()); /* its hold time goes on */
	assert_false(task.watched);
	tracer_learn(native->tracer, true);
	read_task(native); /* the beginning of what is in flight */
	kill(pid, SIGCONT);
	for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
		usleep(10000);
		if (read_task(native).task.io_starts > task.io_starts + 100)
			break;
	}
	return native_now_ns() - resumed_ns + stopped_ns;
}

/*
 * No work and no request of a task that stood still in its I/O is as long as the pause, and where
 * it runs is known, though its move was not seen.
 */
NATIVE_TEST(test_task_goes_on)
{
	struct native *native = *state;
	pid_t pid = start_reader(native);
	struct input_task before, after;
	uint64_t traced_ns, worked, in_flight;

	usleep(50000);
	before = read_task(native).task;
	traced_ns = stand_still(native, pid);
	after = read_task(native).task;
	work_end(pid);
	worked = after.worked_ns - before.worked_ns;
	in_flight = after.in_flight_ns - before.in_flight_ns;
	print_message("worked %.1f ms, in flight %.1f ms, in %.1f ms\n", worked / 1e6,
		      in_flight / 1e6, traced_ns / 1e6);
	assert_true(after.io_starts > before.io_starts + 100);
	assert_int_equal(after.cpu, NATIVE_CPU);
	assert_in_range(worked, 1, traced_ns);
	assert_in_range(in_flight, 1, traced_ns);
}

/* Its exit was not seen. */
NATIVE_TEST(test_task_ended)
{
	struct native *native = *state;
	pid_t pid = start_reader(native);
	struct input input;

	tracer_pause(native->tracer);
	work_end(pid);
	assert_int_equal(read_task(native).type, INPUT_TASK);
	tracer_resume(native->tracer);
	input = read_task(native);
	assert_int_equal(input.type, INPUT_TASK_END);
	assert_int_equal(input.ended_pid, pid);
	tracer_release_task(native->tracer, native->watched.task.handle);
	assert_int_equal(tracer_read_task(native->tracer, native->watched.task.handle,
					  native_now_ns(), &input),
			 -ENOENT);
}

static void *spin_for_ever(void *argument)
{
	work_before_others(1);
	work_pin(0, NATIVE_OTHER);
	for (;;)
		pthread_testcancel();
	return NULL;
}

/*
 * Who runs on after a pause does so without a switch: the tick shows it. Who ended in one does not
 * run on, and what the CPU remembers of it decays from then. A thread of this process, which counts
 * as the daemon's, keeps others away when the spinner has gone.
 */
NATIVE_TEST(test_cpu)
{
	struct native *native = *state;
	uint32_t busy_cap = 0, idle_cap = 1024;
	pthread_t own;
	pid_t spinner;

	work_pin(0, NATIVE_CPU);
	tracer_pause(native->tracer);
	spinner = work_spin(NATIVE_OTHER);
	usleep(20000);
	tracer_resume(native->tracer);
	for (int ms = 0; ms < PATIENCE_MS && busy_cap < 921; ms += 10) {
		usleep(10000);
		busy_cap = native_util_cap(native, NATIVE_OTHER);
	}
	assert_int_equal(pthread_create(&own, NULL, spin_for_ever, NULL), 0);
	tracer_pause(native->tracer);
	work_end(spinner);
	usleep(20000);
	tracer_resume(native->tracer);
	/* The level at the time of the pause: none of it is lost, and it was not busy all the time.
	 */
	for (int ms = 0; ms < PATIENCE_MS && idle_cap > 128; ms += 10) {
		usleep(10000);
		idle_cap = native_util_cap(native, NATIVE_OTHER);
	}
	pthread_cancel(own);
	pthread_join(own, NULL);
	print_message("busy %u, idle %u\n", busy_cap, idle_cap);
	assert_in_range(busy_cap, 921, 1024);
	assert_in_range(idle_cap, 0, 128);
}

static void follow_chains(struct native *native)
{
	const volatile struct wakegov__bss *shared = native->tracer->programs.bss;

	tracer_follow_chains(native->tracer, true);
	for (int ms = 0; ms < PATIENCE_MS && !shared->followed_chains; ms += 10)
		usleep(10000);
	assert_true(shared->followed_chains);
}

/* A pause also ends a time in which only ticks are traced, as if all had been traced before. */
NATIVE_TEST(test_only_ticks)
{
	struct native *native = *state;
	struct tracer *tracer = native->tracer;
	pid_t spinner = work_spin(NATIVE_OTHER);
	uint32_t generation;

	follow_chains(native);
	usleep(20000); /* a tick meets it */
	tracer_count_ticks(tracer, native_now_ns());
	tracer_trace_only_ticks(tracer, true);
	assert_true(tracer_only_ticks(tracer));
	/* Nothing ends the pause of chains that was under way. */
	tracer->programs.bss->chains_resume_ns = 1;
	work_pin(spinner, NATIVE_CPU);
	usleep(20000);
	work_end(spinner);
	assert_int_equal(tracer->programs.bss->followed_chains, 0);
	tracer_pause(tracer);
	assert_false(tracer_only_ticks(tracer));
	tracer_follow_chains(tracer, false);
	tracer_resume(tracer);
	follow_chains(native);
	/* Whether all CPUs are full is looked at again, at ticks too. */
	generation = tracer->programs.bss->settings.chains;
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		tracer->cpus[cpu].domain = WAKEGOV_NO_DOMAIN;
	tracer->programs.bss->followed_chains = 0;
	for (int ms = 0; ms < PATIENCE_MS && !tracer->programs.bss->followed_chains; ms += 10)
		usleep(10000);
	assert_int_equal(tracer->programs.bss->followed_chains, generation + 1);
	assert_int_equal(tracer->programs.bss->settings.only_ticks_since_ns, 0);
	tracer_follow_chains(tracer, false);
}
