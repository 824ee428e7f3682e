/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The places of chains' tasks: two for each remainder of a pid, so that a look-up is one test. A
 * tick gives them to the task that it meets and to its parent, a fork to the child.
 */

#include "maps.bpf.h"
#include "wakegov/chain.h"

static inline struct wakegov_chain_pair *chain_pair(__u32 pid)
{
	__u32 pair = pid % WAKEGOV_CHAIN_PAIRS;

	return bpf_map_lookup_elem(&chains, &pair);
}

/* The chain of a thread; NULL: it has none, as the idle task. */
static inline struct chain_task *find_chain(__u32 pid)
{
	struct wakegov_chain_pair *pair;

	if (!pid)
		return NULL;
	pair = chain_pair(pid);
	if (!pair)
		return NULL;
	if (pair->pids[0] == pid)
		return &pair->chains[0];
	return pair->pids[1] == pid ? &pair->chains[1] : NULL;
}

/*
 * Whether the place may go to another task. A task that a tick has met has a user. It may also
 * displace three kinds of tasks: one that no tick has met; one of a user with both places; and one
 * that works alone, unless this user has the other place.
 */
static inline bool may_claim_place(const struct wakegov_chain_pair *pair, __u32 place, __u32 user,
				   __u64 now_ns)
{
	const struct chain_task *chain = &pair->chains[place & 1];
	__u32 has = pair->users[place & 1], other = pair->users[!place];

	if (!pair->pids[place & 1] || chain->flags & CHAIN_EXITED ||
	    now_ns > chain->updated_ns + CHAIN_KEPT_NS)
		return true;
	return user && (!has || (has == other ? has != user : !chain->waker.pid && other != user));
}

/* The user's number in a pair of places. */
static inline __u32 user_of(const struct task_struct *task)
{
	return task->cred->uid.val + 1;
}

/* Reports when the task may keep a minimum clamp between its pieces, and when no longer. */
static __noinline int keep_clamp(struct chain_task *chain, __u32 pid, bool keeps)
{
	if (chain && keeps == !(chain->flags & CHAIN_KEEPS) &&
	    emit_class(WAKEGOV_RECORD_WAITED, 0, pid, keeps))
		chain->flags ^= CHAIN_KEEPS;
	return 0;
}

/* The task forks, and its children inherit clamps: it keeps none. Returns whether it did. */
static __noinline bool end_keeping(__u32 pid)
{
	struct chain_task *chain = find_chain(pid);
	bool keeps = chain && chain->flags & CHAIN_KEEPS;

	keep_clamp(chain, pid, false);
	if (chain)
		chain->flags |= CHAIN_FORKS;
	return keeps;
}

/*
 * Returns the task's place or a new one; NULL: there is none. Never displaces a task at work, which
 * a storm of forks would otherwise do. is_met: a tick has met the task, so it counts for its user.
 */
static inline struct chain_task *claim_chain(struct task_struct *task, bool is_met, __u64 now_ns)
{
	__u32 pid = task->pid, place, user = 0;
	struct wakegov_chain_pair *pair = chain_pair(pid);
	struct chain_task *chain;

	if (!pid || !pair)
		return NULL;
	for (place = 0; place < 2; place++) {
		if (pair->pids[place] != pid)
			continue;
		if (is_met && !pair->users[place])
			pair->users[place] = user_of(task);
		return &pair->chains[place];
	}
	if (is_met)
		user = user_of(task);
	for (place = 0; place < 4; place++)
		if (may_claim_place(pair, place & 1, place < 2 ? 0 : user, now_ns))
			break;
	if (place == 4) {
		if (user)
			__sync_fetch_and_add(&chains_refused, 1);
		return NULL;
	}
	place &= 1;
	chain = &pair->chains[place];
	keep_clamp(chain, pair->pids[place], false);
	__builtin_memset(chain, 0, sizeof(*chain));
	/* While only ticks are traced all CPUs are full: it has one until its waits are seen. */
	chain->generation = settings.only_ticks_since_ns != 0;
	chain->util_q = CHAIN_ONE;
	/* A child has its parent's. */
	chain->flags = is_met && task->flags & PF_KTHREAD ? CHAIN_KERNEL : 0;
	chain->updated_ns = now_ns; /* it works, even before its first switch */
	pair->pids[place] = pid;
	pair->users[place] = user;
	return chain;
}
