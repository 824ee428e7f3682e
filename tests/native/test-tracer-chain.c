// SPDX-License-Identifier: GPL-2.0-only
/* Who has a place among chains, and what they do while all CPUs are full. */
#include "native.h"

#include <bpf/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "chains.h"
#include "shared/time.h"
#include "tracer/tracer_private.h"
#include "work.h"

#define LOOKS	500
#define LOOK_US 10000
#define NOBODY	65534

/* A child with that number that computes, or sleeps; 0: another has it. */
static pid_t start_as(pid_t number, bool sleeps)
{
	FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	pid_t pid;

	assert_non_null(last);
	fprintf(last, "%d", number - 1);
	fclose(last);
	pid = work_start();
	while (!pid)
		if (sleeps)
			pause();
	if (pid == number)
		return pid;
	work_end(pid);
	return 0;
}

static pid_t start_with_remainder(pid_t remainder, bool sleeps)
{
	for (int i = 0; i < 1000; i++) {
		pid_t number = remainder + (1 + i % 15) * WAKEGOV_CHAIN_PAIRS;
		pid_t pid = kill(number, 0) ? start_as(number, sleeps) : 0;

		if (pid)
			return pid;
	}
	fail_msg("no number with the remainder %d is free", remainder);
	return 0;
}

static bool has_chain(const struct native *native, pid_t pid, bool expected)
{
	struct chain_task chain;

	for (int i = 0; i < LOOKS && chains_read(native, pid, &chain) != expected; i++)
		usleep(LOOK_US);
	return chains_read(native, pid, &chain);
}

/* Of three tasks at work that share a pair of places the third has one when another has ended. */
static void test_places(void **state)
{
	struct native *native = *state;
	pid_t pids[3];

	chains_follow(native);
	for (int i = 0; i < 3; i++) {
		pids[i] = start_with_remainder(1000, false);
		assert_int_equal(has_chain(native, pids[i], i < 2), i < 2);
	}
	work_end(pids[0]);
	assert_true(has_chain(native, pids[2], true));
	assert_false(has_chain(native, pids[0], false));
	work_end(pids[1]);
	work_end(pids[2]);
	tracer_follow_chains(native->tracer, false);
}

/* Of two places that one user has another user's task gets one. */
static void test_users(void **state)
{
	const struct native *native = *state;
	struct chain_task chain;
	pid_t pids[3];

	chains_follow(native);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(setresuid(i < 2 ? NOBODY : 0, 0, 0), 0);
		pids[i] = start_with_remainder(1100, false);
		assert_true(has_chain(native, pids[i], true));
	}
	assert_int_equal(
		chains_read(native, pids[0], &chain) + chains_read(native, pids[1], &chain), 1);
	for (int i = 0; i < 3; i++)
		work_end(pids[i]);
	tracer_follow_chains(native->tracer, false);
}

/* Sleeps, and has a place, as its parent has worked and is followed. */
static pid_t start_child_with_chain(const struct native *native, pid_t remainder)
{
	struct chain_task chain;

	for (int i = 0; i < 50; i++) {
		uint64_t end_ns = time_now_ns() + 20 * NS_PER_MS;
		pid_t pid;

		chains_settle(native, false);
		while (time_now_ns() < end_ns)
			;
		pid = start_with_remainder(remainder, true);
		if (chains_read(native, pid, &chain))
			return pid;
		work_end(pid);
	}
	fail_msg("no child has a chain");
	return 0;
}

/* Children of a task with a chain, which no tick has met, give way to one at work. */
static void test_children_that_sleep(void **state)
{
	const struct native *native = *state;
	struct chain_task chain;
	pid_t children[2], at_work;

	chains_follow(native);
	for (int i = 0; i < 2; i++)
		children[i] = start_child_with_chain(native, 1200);
	at_work = start_with_remainder(1200, false);
	usleep(200000); /* less than CHAIN_KEPT_NS */
	assert_true(chains_read(native, at_work, &chain));
	work_end(at_work);
	for (int i = 0; i < 2; i++)
		work_end(children[i]);
	tracer_follow_chains(native->tracer, false);
}

static void see_update(uint32_t pid, const struct chain_task *chain, void *userdata)
{
	struct chain_task *last = userdata;

	if (chain->updated_ns > last->updated_ns)
		*last = *chain;
}

/* Of the thread of the process whose chain changed last. */
static struct chain_task last_change(const struct native *native, pid_t process)
{
	struct chain_task last = { 0 };

	chains_look(native, process, see_update, &last);
	return last;
}

/* Chains are not followed for longer than a pause of chains that go on as they are. */
static bool is_saturated(const struct native *native)
{
	const volatile struct wakegov__bss *shared = native->tracer->programs.bss;
	uint32_t generation = shared->settings.chains;

	for (int i = 0; i < 10; i++) {
		if (shared->followed_chains || shared->settings.chains != generation)
			return false;
		usleep(LOOK_US);
	}
	return true;
}

static void wait_until_saturated(const struct native *native, bool saturated)
{
	bool is = is_saturated(native);

	for (int ms = 0; ms < PATIENCE_MS && is != saturated; ms += 10) {
		usleep(10000);
		is = is_saturated(native);
	}
	assert_int_equal(is, saturated);
}

/* While all CPUs are full chains stand still; then they go on with what they had. */
static void test_saturation(void **state)
{
	struct native *native = *state;
	const volatile struct wakegov_settings *settings = &native->tracer->programs.bss->settings;
	struct wakegov_cpu *cpus = native->tracer->cpus;
	struct chain_task before, after;
	pid_t token, spinners[TOPOLOGY_CPUS_MAX];
	uint32_t generation;

	tracer_follow_chains(native->tracer, true);
	cpus[0].domain = WAKEGOV_NO_DOMAIN; /* never full, whatever else the machine does */
	token = chains_start("token", false);
	for (int i = 0; i < LOOKS && last_change(native, token).util_q < DECAY_Q(800); i++)
		usleep(LOOK_US);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		cpus[cpu].load.capacity = 1; /* full by whatever it does */
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		spinners[cpu] = work_spin(cpu);
	cpus[0].domain = NATIVE_CPU;
	wait_until_saturated(native, true);
	generation = settings->chains;
	before = last_change(native, token);
	usleep(10 * LOOK_US);
	after = last_change(native, token);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(settings->chains, generation);
	cpus[0].domain = WAKEGOV_NO_DOMAIN;
	wait_until_saturated(native, false);
	assert_true(settings->chains > generation);
	for (int i = 0; i < LOOKS && after.generation <= generation; i++) {
		usleep(LOOK_US);
		after = last_change(native, token);
	}
	assert_true(after.generation > generation);
	assert_true(after.util_q >= before.util_q / 16 * 15);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		work_end(spinners[cpu]);
	work_end(token);
	tracer_follow_chains(native->tracer, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_children_that_sleep),
		cmocka_unit_test(test_saturation),
	};

	return native_run(tests);
}
