// SPDX-License-Identifier: GPL-2.0-only
/* Bursts of tasks with a clamp class: which tasks are long-running. */
#include "native.h"

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
	tracer_set_task_class(native->tracer, &class);
	assert_int_equal(tracer_send_task_classes(native->tracer), 0);
	tracer_arm(native->tracer, NATIVE_OTHER, &band);
}

/* After a long burst a short one is that of a long-running task: by its mean. */
static void test_mean_of_long_bursts(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mean_of_long_bursts),
	};

	return native_run(tests);
}
