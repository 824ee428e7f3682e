// SPDX-License-Identifier: GPL-2.0-only
/* Bursts of tasks with a clamp class: which tasks are long-running. */
#include "native.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define CLASS	 1
#define LONG_NS	 (300 * NS_PER_MS) /* 17 times that has more than 32 bits */
#define BURST_US 800000
#define SHORT_US 20000

static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* A child that computes for as many us as it is sent, and then says so. */
struct worker {
	pid_t pid;
	int send, receive;
};

static struct worker start_worker(uint32_t cpu)
{
	int to[2], from[2];
	uint64_t us, end_ns;
	pid_t pid;

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	pid = work_start();
	if (pid)
		return (struct worker){ pid, to[1], from[0] };
	work_pin(0, cpu);
	while (read(to[0], &us, sizeof(us)) == sizeof(us)) {
		end_ns = cpu_time_ns() + us * 1000;
		while (cpu_time_ns() < end_ns)
			;
		if (write(from[1], "", 1) != 1)
			break;
	}
	_exit(0);
}

static void compute(const struct worker *worker, uint64_t us)
{
	char done;

	assert_int_equal(write(worker->send, &us, sizeof(us)), sizeof(us));
	assert_int_equal(read(worker->receive, &done, 1), 1);
}

static void set_class(struct native *native, pid_t pid)
{
	const struct tracer_classes classes = {
		.n = 2,
		.cap = { 1024, 512 },
		.burst_limit_ns = 100 * NS_PER_S,
	};
	const struct engine_band band = { .high_q = UINT32_MAX, .long_burst_ns = LONG_NS };
	const struct task_class class = { .pid = pid, .class = CLASS };

	tracer_set_classes(native->tracer, &classes);
	assert_int_equal(tracer_set_task_class(native->tracer, &class), 0);
	tracer_apply_task_classes(native->tracer);
	tracer_arm(native->tracer, NATIVE_OTHER, &band);
}

/* After a long burst a short one is that of a long-running task: by its mean. */
NATIVE_TEST(test_mean_of_long_bursts)
{
	struct native *native = *state;
	struct worker worker = start_worker(NATIVE_OTHER);
	struct input input = { 0 };
	uint64_t begin_ns;

	set_class(native, worker.pid);
	compute(&worker, BURST_US);
	usleep(100000); /* it sleeps */
	begin_ns = native_now_ns();
	compute(&worker, SHORT_US);
	usleep(100000);
	assert_true(tracer_read_class_run(native->tracer, NATIVE_OTHER, CLASS, native_now_ns(),
					  &input));
	assert_int_equal(input.class_run.ran_pid, worker.pid);
	assert_true(input.class_run.long_running_ns >= begin_ns);
	work_end(worker.pid);
}

static void *wait_and_exec(void *context)
{
	const int *fds = context;
	pid_t tid = gettid();

	if (write(fds[1], &tid, sizeof(tid)) == sizeof(tid) && read(fds[0], &tid, 1) == 1)
		execlp("sleep", "sleep", "600", NULL);
	_exit(EXIT_FAILURE);
}

/* A process whose second thread execs. Returns the process and, in *ret_tid, that thread's number.
 */
static pid_t start_threads(int go[2], pid_t *ret_tid)
{
	int told[2];
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(told), 0);
	pid = work_start();
	if (!pid) {
		int fds[] = { go[0], told[1] };
		pthread_t thread;

		pthread_create(&thread, NULL, wait_and_exec, fds);
		for (;;)
			pause();
	}
	assert_int_equal(read(told[0], ret_tid, sizeof(*ret_tid)), sizeof(*ret_tid));
	return pid;
}

static bool is_named(pid_t pid, const char *name)
{
	char path[32], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "r");
	if (!file || !fgets(comm, sizeof(comm), file))
		comm[0] = 0;
	if (file)
		fclose(file);
	return !strncmp(comm, name, strlen(name));
}

/* A worker with this pid. Its pid is 0 where another task has that one, and does not end. */
static struct worker start_worker_as(pid_t pid, uint32_t cpu)
{
	for (int i = 0; i < 100; i++) {
		FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
		struct worker worker;

		assert_non_null(last);
		fprintf(last, "%d", pid - 1);
		fclose(last);
		worker = start_worker(cpu);
		if (worker.pid == pid)
			return worker;
		work_end(worker.pid);
	}
	return (struct worker){ 0 };
}

/* A thread's class is not left behind for who gets its number, when the thread takes its leader's.
 */
NATIVE_TEST(test_exec_of_a_thread)
{
	struct native *native = *state;
	struct input input = { 0 };
	struct worker worker;
	uint64_t begin_ns;
	pid_t pid, tid;
	int go[2];

	for (;;) {
		pid = start_threads(go, &tid);
		set_class(native, tid);
		assert_int_equal(write(go[1], "", 1), 1);
		while (!is_named(pid, "sleep"))
			usleep(1000);
		begin_ns = native_now_ns();
		worker = start_worker_as(tid, NATIVE_OTHER);
		if (worker.pid)
			break;
		work_end(pid);
	}
	compute(&worker, BURST_US);
	if (tracer_read_class_run(native->tracer, NATIVE_OTHER, CLASS, native_now_ns(), &input))
		assert_true(input.class_run.ran_ns < begin_ns);
	work_end(worker.pid);
	work_end(pid);
}

static void count_co_runner(void *userdata, const struct wakegov_record *record)
{
	uint32_t *n = userdata;

	*n += record->type == WAKEGOV_RECORD_CO_RUNNER && record->class == CLASS;
}

/* What was reported of a class before the numbers got new meanings is not taken for another's. */
NATIVE_TEST(test_renumbered_classes)
{
	struct tracer_classes classes = {
		.n = 2, .cap = { 1024, 512 }, .co_runners = true, .burst_limit_ns = 100 * NS_PER_S
	};
	struct worker capped = start_worker(NATIVE_OTHER), beside = start_worker(NATIVE_OTHER);
	struct native *native = *state;
	uint32_t n_before = 0, n_after = 0;

	set_class(native, capped.pid);
	tracer_set_classes(native->tracer, &classes);
	for (int i = 0; i < 100 && !n_before; i++) {
		usleep(150000); /* a task is reported again so late at the earliest */
		compute(&capped, 30000);
		compute(&beside, 100);
		tracer_consume(native->tracer, count_co_runner, &n_before);
	}
	assert_int_not_equal(n_before, 0);
	/* All are reported once more, and that is left in the ring. */
	tracer_forget_classes(native->tracer);
	usleep(150000);
	compute(&capped, 30000);
	compute(&beside, 100);
	work_end(capped.pid);
	work_end(beside.pid);
	tracer_forget_classes(native->tracer);
	tracer_consume(native->tracer, count_co_runner, &n_after);
	assert_int_equal(n_after, 0);
}

/* Task storage stays within its limit, and a task that gets none is counted. */
NATIVE_TEST(test_storage_is_bounded)
{
	struct native *native = *state;
	struct tracer_drops before, after;
	struct worker worker = start_worker(NATIVE_OTHER);

	tracer_drops(native->tracer, &before);
	tracer_limit_storage(native->tracer, 0);
	compute(&worker, BURST_US);
	tracer_limit_storage(native->tracer, INT64_MAX);
	tracer_drops(native->tracer, &after);
	assert_true(after.threads > before.threads);
	/* From here on the worker, and most others, have theirs. */
	compute(&worker, BURST_US);
	work_end(worker.pid);
}
