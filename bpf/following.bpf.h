/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Decides when chains are followed. They are not while all CPUs are full, as no chain could ask for
 * more. While they are steady, they are followed for a fifth of the time, at a fifth of the cost. A
 * new generation begins whenever following resumes: chain_start().
 */

#include "maps.bpf.h"
#include "wakegov/chain.h"

/*
 * Chains unchanged for CHAINS_SETTLED_NS are followed for CHAINS_FOLLOWED_NS at a time, a fifth of
 * the time. A change in between is seen that much later.
 */
#define CHAINS_SETTLED_NS  100000000ULL
#define CHAINS_FOLLOWED_NS 8000000ULL
#define CHAINS_PAUSED_NS   DECAY_HALF_LIFE_NS

/* A chain that comes to a CPU in each followed time continues to count there. */
_Static_assert(CHAINS_PAUSED_NS + 2 * CHAINS_FOLLOWED_NS <= WAKEGOV_CHAIN_HOLD_NS,
	       "the pause is too long");

/* Not static: tests write them. */
bool chains_change;	/* a chain has changed since the last choose_following() */
__u64 chains_pause_ns;	/* earliest start of the next pause … */
__u64 chains_resume_ns; /* … and end of the present one; 0: there is none */

/*
 * The last generation that did not end a pause. It began after a longer time, with runnable tasks:
 * the sleep of a task that slept before it may have ended at any time.
 */
static __u32 chains_unpaused;

/* By how much CLOCK_MONOTONIC is ahead of the run queues' clocks, to some microseconds. */
static __s64 clock_ahead_ns;

#define CLOCK_NOISE_NS 16000 /* with less, each CPU would write it for what another one wrote */

/* At a switch, for which the scheduler has just read the run queue's clock. */
static inline void compare_clocks(__u64 queue_ns, __u64 now_ns)
{
	__s64 ahead_ns = now_ns - queue_ns, apart_ns = ahead_ns - clock_ahead_ns;

	if (apart_ns > CLOCK_NOISE_NS || apart_ns < -CLOCK_NOISE_NS)
		clock_ahead_ns = ahead_ns;
}

static inline void follow_chains_until(__u64 until_ns)
{
	if (chains_pause_ns < until_ns)
		chains_pause_ns = until_ns;
}

static inline void stop_chains(__u64 now_ns, __u64 resume_ns)
{
	chains_resume_ns = resume_ns;
	chains_stopped_ns = now_ns;
	followed_chains = 0;
}

static __noinline int resume_chains(__u64 now_ns)
{
	__u32 generation = settings.chains;

	if (followed_chains || !generation || settings.only_ticks_since_ns)
		return 0;
	if (__sync_val_compare_and_swap(&settings.chains, generation, generation + 1) != generation)
		return 0;
	chains_skipped_ns += now_ns - chains_stopped_ns;
	if (chains_resume_ns) {
		follow_chains_until(now_ns + CHAINS_FOLLOWED_NS);
	} else {
		follow_chains_until(now_ns + CHAINS_SETTLED_NS);
		chains_unpaused = generation + 1;
	}
	chains_resume_ns = 0;
	followed_chains = generation + 1;
	if (!settings.chains) /* the daemon has just stopped it */
		followed_chains = 0;
	return 0;
}

/*
 * A chain arrived at a CPU, gap_ns after the last arrival of any. A rare one could miss the times
 * in which chains are followed: following continues for the hold time, to see its next arrival.
 */
static inline void note_arrival(__u64 gap_ns, __u64 now_ns)
{
	if (gap_ns > CHAINS_FOLLOWED_NS)
		follow_chains_until(now_ns + WAKEGOV_CHAIN_HOLD_NS);
}

/*
 * With the default headroom a CPU asks for the highest frequency from 13/16 of its capacity. A full
 * CPU stays full down to that; it becomes full a little above. The frequency of a CPU without a
 * domain is unknown.
 */
static inline bool is_cpu_full(const struct wakegov_cpu *cpu)
{
	return cpu->domain != WAKEGOV_NO_DOMAIN &&
	       account_util_q(&cpu->load) >=
		       DECAY_Q(cpu->load.capacity) / 16 * (cpu->full ? 13 : 14);
}

/*
 * Where fewer tasks come and go nothing is saved by pauses, and pieces would begin unseen. With
 * twice as many switches, to follow chains costs a CPU twice as much: at this rate 0.01 %. A quiet
 * CPU is asked 100 ms later: a piece of some ms, as a shell's command, leaves it quiet.
 */
#define QUIET_NS 1000000ULL /* between two switches, in the mean since the CPU was last asked */

static inline bool is_quiet(struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u64 switches = cpu->events[WAKEGOV_SCHED_SWITCH];
	bool quiet = now_ns - cpu->asked_ns > QUIET_NS * (switches - cpu->asked_switches);

	cpu->asked_ns = now_ns;
	cpu->asked_switches = switches;
	return quiet;
}

/* One step for bpf_loop(). Returns 1 at a CPU that is not full, or after the last. */
static long find_room(__u32 index, bool *ret)
{
	const struct wakegov_cpu *cpu = cpu_at(index);

	if (!cpu)
		return 1;
	if (cpu->full)
		return 0;
	*ret = true;
	return 1;
}

#define CPUS_MAX 8192 /* NR_CPUS of any kernel is no higher */

static inline bool are_all_full(void)
{
	bool room = false;

	bpf_loop(CPUS_MAX, find_room, &room, 0);
	return !room;
}

/*
 * Called after the CPU was accounted. The daemon learns later that all CPUs are full, and then
 * traces less too. A CPU that was full when it went idle has room from its next wake-up.
 */
static __noinline int choose_following(struct wakegov_cpu *cpu, __u64 now_ns)
{
	bool was_full = cpu->full, full = is_cpu_full(cpu);

	cpu->full = full;
	if (!followed_chains) {
		if (!full && (now_ns >= chains_resume_ns || chains_change))
			resume_chains(now_ns);
	} else if (full && !was_full && are_all_full()) {
		stop_chains(now_ns, 0);
	} else if (chains_change) {
		chains_change = false;
		follow_chains_until(now_ns + CHAINS_SETTLED_NS);
	} else if (now_ns > chains_pause_ns) {
		if (is_quiet(cpu, now_ns))
			follow_chains_until(now_ns + CHAINS_SETTLED_NS);
		else
			stop_chains(now_ns, now_ns + CHAINS_PAUSED_NS);
	}
	return 0;
}
