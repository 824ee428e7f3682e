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

enum what { COMPUTES, COMPUTES_BEFORE_OTHERS, SLEEPS };

/*
 * A child with that number that does so; 0: another has it. Only the first kind shares the CPU with
 * what else the machine does; the others also end at once.
 */
static pid_t start_as(pid_t number, enum what what)
{
	FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	pid_t pid;

	assert_non_null(last);
	fprintf(last, "%d", number - 1);
	fclose(last);
	pid = what == COMPUTES ? work_start() : work_start_on("before-others", NATIVE_CPU);
	while (!pid)
		if (what == SLEEPS)
			pause();
	if (pid == number)
		return pid;
	work_end(pid);
	return 0;
}

/* 0: no number with that remainder is free. */
static pid_t start_with_remainder(pid_t remainder, enum what what)
{
	for (int i = 0; i < 1000; i++) {
		pid_t number = remainder + (1 + i % 15) * WAKEGOV_CHAIN_PAIRS;
		pid_t pid = kill(number, 0) ? start_as(number, what) : 0;

		if (pid)
			return pid;
	}
	return 0;
}

static bool has_chain(const struct native *native, pid_t pid, bool expected)
{
	struct chain_task chain;

	for (int i = 0; i < LOOKS && tracer_chain(native->tracer, pid, &chain) != expected; i++)
		usleep(LOOK_US);
	return tracer_chain(native->tracer, pid, &chain);
}

/* Of three tasks at work that share a pair of places the third has one when another has ended. */
NATIVE_TEST(test_places)
{
	struct native *native = *state;
	pid_t pids[3];

	chains_follow(native);
	for (int i = 0; i < 3; i++) {
		pids[i] = start_with_remainder(1000, COMPUTES);
		assert_true(pids[i]);
		assert_int_equal(has_chain(native, pids[i], i < 2), i < 2);
	}
	work_end(pids[0]);
	assert_true(has_chain(native, pids[2], true));
	assert_false(has_chain(native, pids[0], false));
	work_end(pids[1]);
	work_end(pids[2]);
	tracer_follow_chains(native->tracer, false);
}

/* Of two places that one user has another user's task gets one; for the other one two tasks vie. */
NATIVE_TEST(test_users)
{
	const struct native *native = *state;
	struct wakegov_chain_pair pair;
	uint32_t index = 1100;
	pid_t pids[3];

	chains_follow(native);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(setresuid(i < 2 ? NOBODY : 0, 0, 0), 0);
		pids[i] = start_with_remainder(index, COMPUTES);
		assert_true(pids[i]);
		assert_true(has_chain(native, pids[i], true));
	}
	assert_int_equal(
		bpf_map_lookup_elem(native->tracer->programs.maps[MAP_CHAINS], &index, &pair), 0);
	for (int i = 0; i < 2; i++)
		if (pair.pids[i] != (uint32_t)pids[2])
			assert_true(pair.pids[i] == (uint32_t)pids[0] ||
				    pair.pids[i] == (uint32_t)pids[1]);
	for (int i = 0; i < 3; i++)
		work_end(pids[i]);
	tracer_follow_chains(native->tracer, false);
}

#define FAMILIES 8
#define KNOWN_MS 500 /* after 950 the kernel lets others run, which is a switch */

/* This task, which runs before others, works until it has a chain in this generation. */
static bool work_until_known(const struct native *native)
{
	const volatile struct wakegov_settings *settings = &native->tracer->programs.bss->settings;
	uint64_t end_ns = time_now_ns() + KNOWN_MS * NS_PER_MS;
	struct chain_task chain = { 0 };

	while (!tracer_chain(native->tracer, getpid(), &chain) ||
	       chain.generation != settings->chains)
		if (time_now_ns() > end_ns)
			return false;
	return true;
}

/*
 * It works on over a pause, without a switch, and before a tick meets it again. There are pauses
 * only where others switch often.
 */
static bool work_over_pause(const struct native *native)
{
	const volatile struct wakegov__bss *shared = native->tracer->programs.bss;
	uint64_t end_ns = time_now_ns() + KNOWN_MS * NS_PER_MS;
	bool known = work_until_known(native);

	while (shared->followed_chains && time_now_ns() < end_ns)
		chains_settle(native, true);
	if (shared->followed_chains)
		return false;
	chains_settle(native, false);
	while (!shared->followed_chains && time_now_ns() < end_ns)
		;
	return known;
}

/* A task at work and two children of it that sleep. Of the daemon's process none has a chain. */
static pid_t start_family(const struct native *native, pid_t remainder, pid_t children[2])
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = work_start_on("parent", NATIVE_CPU);
	if (pid) {
		assert_int_equal(read(ends[0], children, 2 * sizeof(pid)), 2 * sizeof(pid));
		close(ends[0]);
		close(ends[1]);
		return pid;
	}
	children[0] = children[1] = 0;
	if (work_over_pause(native))
		for (int i = 0; i < 2; i++)
			children[i] = start_with_remainder(remainder, SLEEPS);
	if (write(ends[1], children, 2 * sizeof(pid)) < 0)
		_exit(EXIT_FAILURE);
	for (;;)
		pause();
}

/* The children have both places, but where another task's number is near theirs. */
static pid_t start_sleepers(const struct native *native, pid_t *remainder)
{
	struct chain_task chain;
	pid_t children[2], parent = 0;
	int found = 0;

	for (*remainder = 1200; *remainder < 1200 + 16 * FAMILIES; *remainder += 16) {
		if (parent)
			work_end(parent);
		parent = start_family(native, *remainder, children);
		found += tracer_chain(native->tracer, children[0], &chain) &&
			 tracer_chain(native->tracer, children[1], &chain);
	}
	assert_true(found >= FAMILIES * 3 / 4);
	*remainder -= 16;
	return parent;
}

/* Children of a task with a chain, which no tick has met, give way to one at work. */
NATIVE_TEST(test_children_that_sleep)
{
	const struct native *native = *state;
	pid_t nappers[TOPOLOGY_CPUS_MAX], parent, at_work, remainder;
	uint64_t begin_ns;
	bool has;

	chains_follow(native);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		nappers[cpu] = work_nap("nap", cpu);
	parent = start_sleepers(native, &remainder);
	begin_ns = time_now_ns();
	at_work = start_with_remainder(remainder, COMPUTES_BEFORE_OTHERS);
	has = at_work && has_chain(native, at_work, true);
	assert_true(time_now_ns() - begin_ns < CHAIN_KEPT_NS / 2); /* before any place is free */
	work_end(at_work);
	assert_true(has);
	work_end(parent);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		work_end(nappers[cpu]);
	tracer_follow_chains(native->tracer, false);
}

/* A thread's chain. */
struct change {
	uint32_t pid;
	struct chain_task chain;
};

static void see_update(uint32_t pid, const struct chain_task *chain, void *userdata)
{
	struct change *last = userdata;

	if (chain->updated_ns > last->chain.updated_ns)
		*last = (struct change){ pid, *chain };
}

/* Of the thread of the process whose chain changed last. */
static struct change last_change(const struct native *native, pid_t process)
{
	struct change last = { 0 };

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
NATIVE_TEST(test_saturation)
{
	struct native *native = *state;
	const volatile struct wakegov_settings *settings = &native->tracer->programs.bss->settings;
	struct wakegov_cpu *cpus = native->tracer->cpus;
	struct change before = { 0 };
	struct chain_task after = { 0 };
	pid_t token, spinners[TOPOLOGY_CPUS_MAX];
	uint32_t generation;

	tracer_follow_chains(native->tracer, true);
	cpus[0].domain = WAKEGOV_NO_DOMAIN; /* never full, whatever else the machine does */
	token = chains_start("token", false);
	for (int ms = 0; ms < PATIENCE_MS && before.chain.util_q < DECAY_Q(800); ms += 10) {
		usleep(LOOK_US);
		before = last_change(native, token);
	}
	assert_true(before.chain.util_q >= DECAY_Q(800));
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		cpus[cpu].load.capacity = 1; /* full by whatever it does */
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		spinners[cpu] = work_spin(cpu);
	cpus[0].domain = NATIVE_CPU;
	wait_until_saturated(native, true);
	generation = settings->chains;
	before = last_change(native, token);
	usleep(10 * LOOK_US);
	assert_true(tracer_chain(native->tracer, before.pid, &after));
	assert_memory_equal(&before.chain, &after, sizeof(after));
	assert_int_equal(settings->chains, generation);
	cpus[0].domain = WAKEGOV_NO_DOMAIN;
	wait_until_saturated(native, false);
	assert_true(settings->chains > generation);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		work_end(spinners[cpu]);
	/* The same thread: another one's may have been up to date when its waits were shorter. */
	for (int ms = 0; ms < PATIENCE_MS && after.generation <= generation; ms += 10) {
		usleep(LOOK_US);
		assert_true(tracer_chain(native->tracer, before.pid, &after));
	}
	assert_true(after.generation > generation);
	assert_true(after.util_q >= before.chain.util_q / 16 * 15);
	work_end(token);
	tracer_follow_chains(native->tracer, false);
}

/* Short processes beside a steady chain do not have all chains followed: pauses go on. */
NATIVE_TEST(test_short_processes)
{
	static const char *const shell[] = { "sh", "-c", "while :; do /bin/true; done", NULL };
	const struct native *native = *state;
	const volatile __u64 *skipped_ns = &native->tracer->programs.bss->chains_skipped_ns;
	pid_t chain = chains_start("pipe", false), processes = work_exec(shell);
	uint64_t before_ns = *skipped_ns;

	chains_follow(native);
	for (int s = 0; s < 60 && *skipped_ns - before_ns < NS_PER_S / 2; s++) {
		before_ns = *skipped_ns;
		sleep(1);
	}
	assert_true(*skipped_ns - before_ns >= NS_PER_S / 2);
	work_end(processes);
	work_end(chain);
	tracer_follow_chains(native->tracer, false);
}
