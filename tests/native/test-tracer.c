// SPDX-License-Identifier: GPL-2.0-only
/* The programs and what they see of CPUs, on the kernel that runs here and with real work. */
#include "native.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wakegov/abi.h"
#include "wakegov/decay.h"
#include "work.h"

/* Before what was disturbed is done again. Nothing is that was not. */
#define REST_US 500000

static bool arm(const struct native *native, uint32_t cpu, struct engine_band band)
{
	return tracer_arm(native->tracer, cpu, &band);
}

NATIVE_TEST(test_programs_attach)
{
	struct native *native = *state;
	struct tracer_program program;
	uint32_t i;

	tracer_follow_chains(native->tracer, true);
	for (i = 0; tracer_program(native->tracer, i, &program); i++) {
		enum tracer_program_state expected = TRACER_ATTACHED;

		/* Since 6.5 requests are counted when they start. */
		if (!strcmp(program.name, "block_rq_issue"))
			expected = TRACER_UNUSED;
		/* At a function, where this kernel may allow no program. */
		if (!strcmp(program.name, "add_input_randomness") &&
		    program.state == TRACER_MISSING)
			expected = TRACER_MISSING;
		if (program.state != expected)
			print_message("%s: %s\n", program.name, strerror(-program.error));
		assert_int_equal(program.state, expected);
	}
	assert_int_equal(i, WAKEGOV_PROGRAMS);
}

NATIVE_TEST(test_counters_grow)
{
	static const char *const names[] = {
		"sched_switch",	      "sched_waking",	    "sched_migrate_task",
		"sched_process_fork", "sched_process_exec", "sched_process_exit",
		"sched_wakeup_new",   "block_io_start",	    "tick",
	};
	static const char *const argv[] = { "true", NULL };
	struct native *native = *state;
	uint64_t before[sizeof(names) / sizeof(names[0])];
	pid_t spinner;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		before[i] = native_program_events(native, names[i]);
	arm(native, NATIVE_OTHER, (struct engine_band){ .high_q = UINT32_MAX, .watch = true });
	work_wait(work_exec(argv));
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		work_pin(0, cpu);
		assert_int_equal(work_wait(work_read("native-few", !cpu, native->file, 5000, 0)),
				 0);
	}
	spinner = work_spin(NATIVE_OTHER);
	work_pin(0, NATIVE_CPU);
	usleep(50000);
	work_end(spinner);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t after = native_program_events(native, names[i]);

		print_message("%s: %llu more\n", names[i], (unsigned long long)(after - before[i]));
		assert_true(after > before[i]);
	}
}

/* Whether the CPU is above 90 % of its level: it has become busy, and others' tasks took no part
 * away. */
static bool is_busy(const struct native *native)
{
	return native_util_cap(native, NATIVE_OTHER) >= 921;
}

/* Nobody else runs on the CPU of the spinner: it is the tick that tells. */
NATIVE_TEST(test_busy_leaves_band)
{
	struct native *native = *state;
	uint64_t start_ns = native_now_ns();
	pid_t spinner = work_spin(NATIVE_OTHER);

	work_pin(0, NATIVE_CPU);
	do { /* until it is not about a task of other work that has ended */
		native_watch(native, 0);
		arm(native, NATIVE_OTHER,
		    (struct engine_band){ .high_q = DECAY_Q(1024) / 10 * 9, .watch = true });
		assert_true(native_wait(native, &native->cpu_events[NATIVE_OTHER], 1, PATIENCE_MS));
	} while (!is_busy(native));
	print_message("over 90 %% of its level after %.0f ms\n",
		      (native_now_ns() - start_ns) / 1e6);

	/* No second event until it is armed again. Other tasks may lower the level for a while. */
	native_watch(native, 0);
	for (int ms = 0; ms < PATIENCE_MS && (ms == 0 || !is_busy(native)); ms += 100) {
		usleep(100000);
		native_consume(native);
		assert_int_equal(native->cpu_events[NATIVE_OTHER], 0);
	}
	assert_true(is_busy(native));
	work_end(spinner);
}

struct own_work {
	pthread_t thread;
	_Atomic pid_t tid; /* 0: it has not begun */
};

/* Not for ever: a test that fails does not end it, and nothing else could run on that CPU. */
static void *spin(void *argument)
{
	struct own_work *own = argument;
	uint64_t end_ns;

	work_before_others(1);
	work_pin(0, NATIVE_OTHER);
	own->tid = gettid();
	end_ns = native_now_ns() + 2 * PATIENCE_MS * NS_PER_MS;
	while (native_now_ns() < end_ns)
		pthread_testcancel();
	return NULL;
}

/*
 * A thread of this process, the daemon's by its place, keeps everyone else from the other CPU as
 * soon as that is free: for the kernel side the CPU is idle then, whatever the machine has to do.
 */
static void start_own_work(struct own_work *own)
{
	own->tid = 0;
	assert_int_equal(pthread_create(&own->thread, NULL, spin, own), 0);
}

static void end_own_work(struct own_work *own)
{
	pthread_cancel(own->thread);
	pthread_join(own->thread, NULL);
}

/* What it is in the end. A host that takes the CPU away makes that late: such time does not count.
 */
static uint32_t risen_cap(const struct native *native)
{
	uint32_t before = 0, cap = native_util_cap(native, NATIVE_OTHER);

	for (int waited_ms = 0; waited_ms < PATIENCE_MS && cap != before; waited_ms += 100) {
		before = cap;
		usleep(100000);
		cap = native_util_cap(native, NATIVE_OTHER);
	}
	return cap;
}

/* As the kernel counts it: where other work leaves a CPU none, it cannot be seen to be idle. */
static uint64_t idle_ticks(uint32_t cpu)
{
	unsigned long long idle = 0;
	char line[256], name[16];
	FILE *file = fopen("/proc/stat", "re");

	assert_non_null(file);
	snprintf(name, sizeof(name), "cpu%u ", cpu);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			assert_int_equal(sscanf(line, "%*s %*u %*u %*u %llu", &idle), 1);
	fclose(file);
	return idle;
}

static const struct engine_band until_idle = { .high_q = UINT32_MAX, .watch_idle = true };

/* What happened to a CPU that was busy and went idle. */
struct going_idle {
	bool armed;
	bool disturbed; /* the task lost its CPU meanwhile: to another task, or to idleness */
	uint32_t told_early, told;
	uint32_t busy_cap, idle_cap;
};

/*
 * The kernel takes a CPU for 50 ms from tasks that run before others when they had it for 950 ms,
 * and leaves it idle then if there is nothing else. This takes 550.
 */
static struct going_idle go_idle(struct native *native)
{
	uint32_t *events = &native->cpu_events[NATIVE_OTHER];
	pid_t spinner = work_spin(NATIVE_OTHER);
	struct going_idle ret;
	struct own_work own;
	uint64_t switches;

	usleep(200000);
	start_own_work(&own);
	switches = work_switches(spinner);
	native_watch(native, 0);
	ret.armed = arm(native, NATIVE_OTHER, until_idle);
	ret.busy_cap = risen_cap(native);
	native_consume(native);
	ret.told_early = *events;
	ret.disturbed = work_switches(spinner) != switches;

	work_end(spinner);
	native_wait(native, events, 1, PATIENCE_MS);
	switches = work_switches(own.tid);
	usleep(150000);
	ret.idle_cap = native_util_cap(native, NATIVE_OTHER);
	native_consume(native);
	ret.told = *events;
	ret.disturbed |= !own.tid || work_switches(own.tid) != switches;
	end_own_work(&own);
	print_message("busy %u, idle %u%s\n", ret.busy_cap, ret.idle_cap,
		      ret.disturbed ? ", disturbed" : "");
	return ret;
}

static bool is_told_once(const struct going_idle *cpu)
{
	return cpu->armed && !cpu->told_early && cpu->told == 1 && cpu->busy_cap >= 1000 &&
	       cpu->idle_cap <= 128;
}

NATIVE_TEST(test_idle_is_told_once)
{
	struct native *native = *state;
	struct going_idle cpu;
	bool armed = true;
	uint64_t idle;

	work_pin(0, NATIVE_CPU);
	cpu = go_idle(native);
	while (cpu.disturbed && !is_told_once(&cpu)) {
		usleep(REST_US);
		cpu = go_idle(native);
	}
	assert_true(is_told_once(&cpu));
	/* Idle already, it goes idle no more. */
	idle = idle_ticks(NATIVE_OTHER);
	for (int i = 0; i < PATIENCE_MS && armed; i++) {
		armed = arm(native, NATIVE_OTHER, until_idle);
		usleep(1000);
	}
	assert_true(!armed || idle_ticks(NATIVE_OTHER) - idle < 10);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * NS_PER_S + used.tv_nsec;
}

/*
 * The number of reports of a CPU that runs only the daemon, which arms it a hundred times.
 * *ret_disturbed: this process did not have the whole CPU.
 */
static uint32_t news_of_own_work(struct native *native, bool *ret_disturbed)
{
	uint64_t start_ns, used_ns, passed_ns;
	pid_t spinner = work_spin(NATIVE_OTHER);
	struct own_work own;

	work_pin(0, NATIVE_CPU);
	usleep(100000);
	start_own_work(&own);
	usleep(1000);
	work_end(spinner);
	work_pin(0, NATIVE_OTHER);
	native_watch(native, 0);
	start_ns = native_now_ns();
	used_ns = own_cpu_ns();
	for (int i = 0; i < 100; i++) {
		arm(native, NATIVE_OTHER, (struct engine_band){ .watch = true });
		usleep(200);
		native_consume(native);
	}
	used_ns = own_cpu_ns() - used_ns;
	passed_ns = native_now_ns() - start_ns;
	*ret_disturbed = used_ns < passed_ns / 100 * 99;
	work_pin(0, NATIVE_CPU);
	end_own_work(&own);
	print_message("%u reports, %.1f of %.1f ms\n", native->cpu_events[NATIVE_OTHER],
		      used_ns / 1e6, passed_ns / 1e6);
	return native->cpu_events[NATIVE_OTHER];
}

/*
 * What an idle CPU remembers is no reason to wake the daemon. It was: each time that the daemon
 * went to sleep there. Where it makes way for others' tasks the CPU is not idle.
 */
NATIVE_TEST(test_own_work_is_no_news)
{
	struct native *native = *state;
	bool disturbed;
	uint32_t news = news_of_own_work(native, &disturbed);

	while (disturbed && news > 10) {
		usleep(REST_US);
		news = news_of_own_work(native, &disturbed);
	}
	assert_in_range(news, 0, 10);
}

static int compare_caps(const void *a, const void *b)
{
	return *(const uint32_t *)a - *(const uint32_t *)b;
}

#define SETTLED_LOOKS 21 /* a second's: what happens once in each is in less than half of them */

/* The median of some: what others' tasks bring when they are moved here is in it for a while. */
static uint32_t settled_cap(const struct native *native, uint32_t khz)
{
	uint32_t caps[SETTLED_LOOKS];

	tracer_set_frequency(native->tracer, NATIVE_OTHER, khz);
	usleep(100000);
	risen_cap(native);
	for (int i = 0; i < SETTLED_LOOKS; i++) {
		usleep(50000);
		caps[i] = native_util_cap(native, NATIVE_OTHER);
	}
	qsort(caps, SETTLED_LOOKS, sizeof(caps[0]), compare_caps);
	return caps[SETTLED_LOOKS / 2];
}

NATIVE_TEST(test_frequency_scales)
{
	struct native *native = *state;
	pid_t spinner = work_spin(NATIVE_OTHER);
	uint32_t half_cap, full_cap;
	uint64_t switches;

	work_pin(0, NATIVE_CPU);
	do { /* while tasks of others that come and go take a part with them */
		switches = work_switches(spinner);
		half_cap = settled_cap(native, NATIVE_MAX_KHZ / 2);
		full_cap = settled_cap(native, NATIVE_MAX_KHZ);
		switches = work_switches(spinner) - switches;
		print_message("at half of the frequency %u, at the highest %u, %llu switches\n",
			      half_cap, full_cap, (unsigned long long)switches);
	} while (switches && (half_cap < 480 || full_cap < 960));
	work_end(spinner);
	assert_in_range(half_cap, 480, 513);
	assert_in_range(full_cap, 960, 1024);
}

/*
 * How long the CPU did not work so far, as it was idle or the hypervisor had it. As the kernel
 * counts it: exact, but for the last digit.
 */
static double rested_s(uint32_t cpu)
{
	FILE *stat = fopen("/proc/stat", "re");
	unsigned long long idle, iowait, steal;
	char line[512], name[16];
	double found = -1;

	snprintf(name, sizeof(name), "cpu%u ", cpu);
	while (stat && fgets(line, sizeof(line), stat))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line + strlen(name), "%*s %*s %*s %llu %llu %*s %*s %llu", &idle,
			   &iowait, &steal) == 3)
			found = (double)(idle + iowait + steal) / sysconf(_SC_CLK_TCK);
	if (stat)
		fclose(stat);
	assert_true(found >= 0);
	return found;
}

#define BRIEF_LOOKS	100
#define BRIEF_MOST_AWAY 100 /* of 1024 */
#define BRIEF_FULL	960
#define BRIEF_TRIES	10

/* What the CPU is taken to have done, and what the kernel says, of 1024, over two seconds. */
static void compare_busy(struct native *native, double *ret_accounted, double *ret_busy)
{
	double rested = rested_s(NATIVE_OTHER), passed, caps = 0;
	uint64_t start_ns = native_now_ns();

	for (int i = 0; i < BRIEF_LOOKS; i++) {
		usleep(20000);
		caps += native_util_cap(native, NATIVE_OTHER);
	}
	passed = (native_now_ns() - start_ns) / 1e9;
	*ret_busy = 1024 * (1 - (rested_s(NATIVE_OTHER) - rested) / passed);
	*ret_accounted = caps / BRIEF_LOOKS;
	print_message("accounted %.0f, busy %.0f of 1024\n", *ret_accounted, *ret_busy);
}

/*
 * A reader's bursts are brief, and most of its switches are not accounted one by one: what the CPU
 * is taken to have done is what the kernel says that it did, whatever else runs there. A CPU that
 * others fill has late ticks, and what they are late by counts as stolen, to us alone: there it is
 * tried again, and at least not more is accounted.
 */
NATIVE_TEST(test_brief_bursts)
{
	struct native *native = *state;
	double accounted, busy;
	pid_t reader;

	work_start_ordinary(true);
	reader = work_compute("native-brief", NATIVE_OTHER, native->file, 100);
	work_start_ordinary(false);
	work_pin(0, NATIVE_CPU);
	tracer_set_frequency(native->tracer, NATIVE_OTHER, NATIVE_MAX_KHZ);
	usleep(300000);
	for (int i = 0; i < BRIEF_TRIES; i++) {
		compare_busy(native, &accounted, &busy);
		if (busy < BRIEF_FULL)
			break;
	}
	work_end(reader);
	assert_true(accounted < busy + BRIEF_MOST_AWAY);
	if (busy < BRIEF_FULL)
		assert_true(accounted > busy - BRIEF_MOST_AWAY);
}

/* A real-time task is taken to need all of its CPU, however short it has run. */
NATIVE_TEST(test_realtime_needs_all)
{
	struct native *native = *state;
	pid_t spinner = work_spin(NATIVE_OTHER);
	struct input input;

	usleep(50000);
	tracer_read_cpu(native->tracer, NATIVE_OTHER, native_now_ns(), &input);
	work_end(spinner);
	assert_true(input.cpu.running);
	assert_int_equal(input.cpu.est_q, DECAY_Q(1024));
}
