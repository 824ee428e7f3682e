// SPDX-License-Identifier: GPL-2.0-only
/* The programs and what they see of CPUs, on the kernel that runs here and with real work. */
#include "native.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wakegov/abi.h"
#include "wakegov/decay.h"
#include "work.h"

#define TRIES 10 /* of what other work can be in the way of */

static bool arm(const struct native *native, uint32_t cpu, struct engine_band band)
{
	return tracer_arm(native->tracer, cpu, &band);
}

static void test_programs_attach(void **state)
{
	struct native *native = *state;
	struct tracer_program program;
	uint32_t i;

	for (i = 0; tracer_program(native->tracer, i, &program); i++) {
		enum tracer_program_state expected = TRACER_ATTACHED;

		/* Since 6.5 requests are counted when they start. */
		if (!strcmp(program.name, "block_rq_issue"))
			expected = TRACER_UNUSED;
		if (program.state != expected)
			print_message("%s: %s\n", program.name, strerror(-program.error));
		assert_int_equal(program.state, expected);
		assert_non_null(program.purpose);
	}
	assert_int_equal(i, WAKEGOV_PROGRAMS);
}

static void test_counters_grow(void **state)
{
	static const char *const names[] = {
		"sched_switch",	      "sched_waking",	    "sched_migrate_task",
		"sched_process_fork", "sched_process_exec", "sched_process_exit",
		"block_io_start",     "block_rq_complete",  "hrtimer_expire_entry",
		"sched_wakeup_new",
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
		assert_int_equal(work_wait(work_read("native-few", !cpu, native->file, 500, 0)), 0);
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

/* Until 90 % of its level is told of a CPU that becomes busy; *ret_spinner is what runs there. */
static uint64_t time_to_leave_band(struct native *native, pid_t *ret_spinner)
{
	uint64_t start_ns = native_now_ns();

	*ret_spinner = work_spin(NATIVE_OTHER);
	native_watch(native, 0);
	arm(native, NATIVE_OTHER,
	    (struct engine_band){ .high_q = DECAY_Q(1024) / 10 * 9, .watch = true });
	assert_true(native_wait(native, &native->cpu_events[NATIVE_OTHER], 1, PATIENCE_MS));
	return native_now_ns() - start_ns;
}

/*
 * Nobody else runs on the CPU of the spinner: it is the tick that tells. Where the machine has
 * other work for a second, it is tried again.
 */
static void test_busy_leaves_band(void **state)
{
	struct native *native = *state;
	pid_t spinner;
	uint64_t took_ns;

	work_pin(0, NATIVE_CPU);
	took_ns = time_to_leave_band(native, &spinner);
	for (int i = 0; i < TRIES && took_ns > NS_PER_S; i++) {
		work_end(spinner);
		usleep(500000);
		took_ns = time_to_leave_band(native, &spinner);
	}
	print_message("over 90 %% of its level after %.0f ms\n", took_ns / 1e6);
	assert_true(native_util_cap(native, NATIVE_OTHER) >= 921);
	assert_in_range(took_ns, 0, NS_PER_S);

	/* No second event until it is armed again. Other tasks may lower the level for a while. */
	native_watch(native, 0);
	for (int i = 0; i < TRIES && (i == 0 || native_util_cap(native, NATIVE_OTHER) < 921); i++) {
		usleep(100000);
		native_consume(native);
		assert_int_equal(native->cpu_events[NATIVE_OTHER], 0);
	}
	assert_true(native_util_cap(native, NATIVE_OTHER) >= 921);
	work_end(spinner);
}

/* Not for ever: a test that fails does not end it, and nothing else could run on that CPU. */
static void *spin(void *argument)
{
	uint64_t end_ns;

	work_before_others(1);
	work_pin(0, NATIVE_OTHER);
	end_ns = native_now_ns() + 2 * PATIENCE_MS * NS_PER_MS;
	while (native_now_ns() < end_ns)
		pthread_testcancel();
	return NULL;
}

/*
 * A thread of this process, the daemon's by its place, keeps everyone else from the other CPU as
 * soon as that is free: for the kernel side the CPU is idle then, whatever the machine has to do.
 */
static pthread_t start_own_work(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, spin, NULL), 0);
	return thread;
}

static void end_own_work(pthread_t thread)
{
	pthread_cancel(thread);
	pthread_join(thread, NULL);
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

static void test_idle_is_told_once(void **state)
{
	const struct engine_band band = { .high_q = UINT32_MAX, .watch_idle = true };
	struct native *native = *state;
	pid_t spinner = work_spin(NATIVE_OTHER);
	uint32_t busy_cap, idle_cap = 1024;
	bool armed = true;
	uint64_t idle;
	pthread_t own;

	work_pin(0, NATIVE_CPU);
	usleep(200000);
	own = start_own_work();
	native_watch(native, 0);
	assert_true(arm(native, NATIVE_OTHER, band));
	busy_cap = risen_cap(native);
	native_consume(native);
	assert_int_equal(native->cpu_events[NATIVE_OTHER], 0);

	work_end(spinner);
	assert_true(native_wait(native, &native->cpu_events[NATIVE_OTHER], 1, PATIENCE_MS));
	/* Other work on that CPU is in it as well: it falls as soon as there is a pause. */
	for (int i = 0; i < PATIENCE_MS / 100; i++) {
		usleep(100000);
		native_consume(native);
		idle_cap = native_util_cap(native, NATIVE_OTHER);
		if (idle_cap <= 128)
			break;
	}
	end_own_work(own);
	assert_int_equal(native->cpu_events[NATIVE_OTHER], 1);
	print_message("busy %u, idle %u\n", busy_cap, idle_cap);
	/* Idle already, it goes idle no more. */
	idle = idle_ticks(NATIVE_OTHER);
	for (int i = 0; i < PATIENCE_MS && armed; i++) {
		armed = arm(native, NATIVE_OTHER, band);
		usleep(1000);
	}
	assert_true(!armed || idle_ticks(NATIVE_OTHER) - idle < 10);
	assert_in_range(busy_cap, 1000, 1024);
	assert_in_range(idle_cap, 0, 128);
}

/*
 * What an idle CPU remembers is no reason to wake the daemon. It was: each time that the daemon
 * went to sleep there.
 */
static void test_own_work_is_no_news(void **state)
{
	struct native *native = *state;
	pid_t spinner = work_spin(NATIVE_OTHER);
	pthread_t own;

	work_pin(0, NATIVE_CPU);
	usleep(100000);
	own = start_own_work();
	usleep(1000);
	work_end(spinner);
	work_pin(0, NATIVE_OTHER);
	native_watch(native, 0);
	for (int i = 0; i < 100; i++) {
		arm(native, NATIVE_OTHER, (struct engine_band){ .watch = true });
		usleep(200);
		native_consume(native);
	}
	work_pin(0, NATIVE_CPU);
	end_own_work(own);
	assert_in_range(native->cpu_events[NATIVE_OTHER], 0, 10);
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

static void test_frequency_scales(void **state)
{
	struct native *native = *state;
	pid_t spinner = work_spin(NATIVE_OTHER);
	uint32_t half_cap, full_cap;

	work_pin(0, NATIVE_CPU);
	/* Tasks of others that come and go take a part with them: then it is looked at again. */
	for (int i = 0; i < TRIES; i++) {
		half_cap = settled_cap(native, NATIVE_MAX_KHZ / 2);
		full_cap = settled_cap(native, NATIVE_MAX_KHZ);
		print_message("at half of the frequency %u, at the highest %u\n", half_cap,
			      full_cap);
		if (half_cap >= 480 && full_cap >= 960)
			break;
	}
	work_end(spinner);
	assert_in_range(half_cap, 480, 513);
	assert_in_range(full_cap, 960, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs_attach),
		cmocka_unit_test(test_counters_grow),
		cmocka_unit_test(test_busy_leaves_band),
		cmocka_unit_test(test_idle_is_told_once),
		cmocka_unit_test(test_own_work_is_no_news),
		cmocka_unit_test(test_frequency_scales),
	};

	return native_run(tests);
}
