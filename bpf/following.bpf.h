/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * When chains are followed. Not while all CPUs are full, as no chain could ask for more then; and
 * not all the time where they go on as they are, which takes a fifth of the cost. Each time that
 * they are followed again begins a generation: chain_start().
 */

#include "maps.bpf.h"
#include "wakegov/chain.h"

/*
 * Chains that have not changed for CHAINS_SETTLED_NS are followed for CHAINS_FOLLOWED_NS at a time:
 * a fifth of the time. What changes while they are not followed is seen as much later.
 */
#define CHAINS_SETTLED_NS  100000000ULL
#define CHAINS_FOLLOWED_NS 8000000ULL
#define CHAINS_PAUSED_NS   DECAY_HALF_LIFE_NS

/* A chain that comes to a CPU in each of these times goes on to count there. */
_Static_assert(CHAINS_PAUSED_NS + 2 * CHAINS_FOLLOWED_NS <= WAKEGOV_CHAIN_HOLD_NS,
	       "the pause is too long");

/* Not static: tests write them. */
bool chains_change;	       /* one of them has changed since the last choose_following() */
__u64 chains_pause_ns;	       /* when the next pause may begin … */
static __u64 chains_resume_ns; /* … and when this one ends; 0: there is none */

/*
 * The last generation that did not end a pause. It began after longer than that, with tasks that
 * wait for a CPU: of those that slept before it is not known until when.
 */
static __u32 chains_unpaused;

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

	if (followed_chains || !generation)
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
	if (!settings.chains) /* the daemon has just ended them */
		followed_chains = 0;
	return 0;
}

/*
 * A chain came to a CPU where it, or another, was gap_ns ago. One that comes seldom could be missed
 * while chains are followed: its next arrival is waited for, as long as this one counts there.
 */
static inline void note_arrival(__u64 gap_ns, __u64 now_ns)
{
	if (gap_ns > CHAINS_FOLLOWED_NS)
		follow_chains_until(now_ns + WAKEGOV_CHAIN_HOLD_NS);
}

/*
 * With the default headroom a CPU asks for the highest frequency from 13/16 of its capacity on.
 * Once it is full it is so until then; to become so it takes a little more. Of a CPU without a
 * domain the frequency is not known.
 */
static inline bool is_cpu_full(const struct wakegov_cpu *cpu)
{
	return cpu->domain != WAKEGOV_NO_DOMAIN &&
	       account_util_q(&cpu->load) >=
		       DECAY_Q(cpu->load.capacity) / 16 * (cpu->full ? 13 : 14);
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
 * After the CPU was accounted. The daemon finds out later that all CPUs are full, and then also
 * traces less. A CPU that is idle and full by its last look has room when it is woken.
 */
static __noinline int choose_following(struct wakegov_cpu *cpu, __u64 now_ns)
{
	bool was_full, full;

	if (!cpu)
		return 0; /* for the verifier: never so */
	was_full = cpu->full;
	full = is_cpu_full(cpu);
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
		stop_chains(now_ns, now_ns + CHAINS_PAUSED_NS);
	}
	return 0;
}
