// SPDX-License-Identifier: GPL-2.0-only
#include "native.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "config/keys.h"
#include "wakegov/decay.h"
#include "work.h"

#define EXIT_SKIP 77

static struct native of_tests; /* the state of each */

static struct topology *topology_new(void)
{
	struct topology *topology;

	topology = calloc(1, sizeof(*topology) + 2 * sizeof(topology->domains[0]));
	assert_non_null(topology);
	topology->n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	topology->n_domains = 2;
	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		topology->cpu_domain[cpu] = cpu != NATIVE_CPU;
	for (uint32_t i = 0; i < 2; i++)
		topology->domains[i] = (struct topology_domain){
			.name = { 'a' + i },
			.first_cpu = i,
			.n_opps = 2,
			.opp_khz = { NATIVE_MAX_KHZ / 2, NATIVE_MAX_KHZ },
			.capacity = 1024,
		};
	return topology;
}

uint64_t native_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

uint32_t native_pid_of(const struct input *input)
{
	return input->type == INPUT_TASK ? input->task.pid : input->ended_pid;
}

static bool is_watched_thread(const struct native *native, const struct input *input)
{
	return input->type == INPUT_TASK && input->task.tgid == native->watched_tgid &&
	       input->task.pid != input->task.tgid;
}

static void take_task(struct native *native, uint32_t handle)
{
	struct input input;

	native->task_events++;
	if (tracer_read_task(native->tracer, handle, native_now_ns(), &input) < 0)
		return;
	if (native_pid_of(&input) != native->watched_pid && !is_watched_thread(native, &input))
		return;
	native->watched_events++;
	native->watched = input;
}

static void on_event(void *userdata, const struct wakegov_record *record)
{
	struct native *native = userdata;

	if (record->type == WAKEGOV_RECORD_TASK)
		take_task(native, record->slot);
	else if (record->type == WAKEGOV_RECORD_CPU)
		native->cpu_events[record->cpu]++;
	else if (record->type == WAKEGOV_RECORD_DEVICE)
		tracer_classify_device(native->tracer, record->device);
	else if (record->type == WAKEGOV_RECORD_DEVICE_END)
		native->device_ends[record->device]++;
}

void native_check_devices(struct native *native)
{
	tracer_check_devices(native->tracer, on_event, native);
}

void native_consume(struct native *native)
{
	assert_true(tracer_consume(native->tracer, on_event, native) >= 0);
}

void native_watch(struct native *native, uint32_t pid)
{
	native_consume(native);
	memset(native->cpu_events, 0, sizeof(native->cpu_events));
	memset(native->device_ends, 0, sizeof(native->device_ends));
	native->task_events = 0;
	native->watched_pid = pid;
	native->watched_tgid = 0;
	native->watched_events = 0;
}

bool native_wait(struct native *native, const uint32_t *count, uint32_t n, uint32_t timeout_ms)
{
	uint64_t end_ns = native_now_ns() + timeout_ms * NS_PER_MS;
	struct pollfd poll_fd = { .fd = tracer_fd(native->tracer), .events = POLLIN };

	native_consume(native);
	while (*count < n && native_now_ns() < end_ns) {
		poll(&poll_fd, 1, 10);
		native_consume(native);
	}
	return *count >= n;
}

uint64_t native_program_events(const struct native *native, const char *name)
{
	struct tracer_program program;

	for (uint32_t i = 0; tracer_program(native->tracer, i, &program); i++)
		if (!strcmp(program.name, name))
			return program.events;
	fail_msg("no program %s", name);
	return 0;
}

uint32_t native_util_cap(const struct native *native, uint32_t cpu)
{
	struct input input;

	tracer_read_cpu(native->tracer, cpu, native_now_ns(), &input);
	return DECAY_CAP(input.cpu.util_q);
}

int native_start_tracer(struct native *native)
{
	const char *why = NULL;
	int r = tracer_new(native->topology, &native->policy, &native->tracer, &why);

	if (r < 0)
		print_message("%s: %s\n", why, strerror(-r));
	else
		tracer_learn(native->tracer, true);
	return r;
}

int native_set_up(void **state)
{
	struct policy policy;

	*state = &of_tests;
	policy_init(&policy);
	/* Half of the usual rate: a disk that others use too must still reach it. */
	policy.io_boost.min_rate_per_s = 500;
	policy.io_boost.window_ns = 20 * NS_PER_MS;
	of_tests.policy = policy.io_boost;
	return native_start_tracer(&of_tests);
}

int native_tear_down(void **state)
{
	work_end_all();
	of_tests.tracer = tracer_free(of_tests.tracer);
	return 0;
}

static const char *unfit(void)
{
	if (geteuid() != 0)
		return "not root";
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return "one CPU only";
	of_tests.file = work_file_new();
	return of_tests.file < 0 ? "no direct I/O in the current directory" : NULL;
}

/*
 * Until this process ends no other one of these runs on this machine: what they start takes a CPU
 * before all others, and two of them would wait for each other.
 */
static int be_alone(void)
{
	int lock = open("/run/lock", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return lock < 0 || flock(lock, LOCK_EX) < 0 ? -errno : 0;
}

int main(void)
{
	const char *why = unfit();
	int r;

	if (why) {
		print_message("skipped: %s\n", why);
		return EXIT_SKIP;
	}
	assert_int_equal(be_alone(), 0);
	work_before_others(2); /* what it measures: see work_start_on() */
	of_tests.topology = topology_new();
	r = tests_run(NULL, NULL);
	free(of_tests.topology);
	close(of_tests.file);
	return r;
}
