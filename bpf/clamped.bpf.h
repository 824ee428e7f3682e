/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Utilisation clamps of single tasks. A task can change its own clamps at any time, and each change
 * that a program sees emits a record. Children inherit clamps, wakegov's included: a child with any
 * emits a record, and the daemon restores its parent's own clamps.
 */

#include "maps.bpf.h"

static inline bool has_clamps(const struct task_struct *task)
{
	/* CONFIG_UCLAMP_TASK */
	if (!bpf_core_field_exists(task->uclamp_req))
		return false;
	return BPF_CORE_READ_BITFIELD(task, uclamp_req[0].user_defined) ||
	       BPF_CORE_READ_BITFIELD(task, uclamp_req[1].user_defined);
}

/* Whether the task has asked for no floor, as by uclampset -m 0, or has taken its floor back. */
static inline bool wants_no_floor(const struct task_struct *task)
{
	return bpf_core_field_exists(task->uclamp_req) &&
	       BPF_CORE_READ_BITFIELD(task, uclamp_req[0].user_defined) &&
	       !BPF_CORE_READ_BITFIELD(task, uclamp_req[0].value);
}

/* The maximum within what cgroup and sysctls allow; until any is used the kernel has 0 there. */
static inline __u32 own_most(const struct task_struct *task)
{
	if (!bpf_core_field_exists(task->uclamp_req) ||
	    !(BPF_CORE_READ_BITFIELD(task, uclamp_req[1].user_defined) ||
	      BPF_CORE_READ_BITFIELD(task, uclamp[1].value)))
		return WAKEGOV_CAPACITY_MAX;
	return BPF_CORE_READ_BITFIELD(task, uclamp[1].value);
}

/*
 * The clamps that the task requests, within the limits of its cgroup and the sysctls:
 * wakegov_own().
 */
static inline __u32 own_clamps(const struct task_struct *task)
{
	__u32 min = 0, most = own_most(task), group = 0;

	if (!bpf_core_field_exists(task->uclamp_req))
		return 0;
	if (BPF_CORE_READ_BITFIELD(task, uclamp_req[0].user_defined))
		min = BPF_CORE_READ_BITFIELD(task, uclamp[0].value);
	if (most < BPF_CORE_READ_BITFIELD(task, uclamp_req[1].value))
		group = WAKEGOV_OWN_GROUP;
	return wakegov_own(min, most) | group;
}

static __noinline void emit_clamps_seen(void)
{
	clamps_seen = 1;
	keep_news(NULL, WAKEGOV_NEWS_CLAMPS);
	emit(WAKEGOV_RECORD_NEWS, 0, 0);
}

/* Until a task with own clamps is seen, wake-ups are not checked for changes. */
static inline void detect_clamps(const struct task_struct *task)
{
	if (settings.follow_own && !clamps_seen && own_clamps(task))
		emit_clamps_seen();
}

/*
 * Real-time tasks. Their utilisation does not tell their need, since only they know their
 * deadlines. They get the same as from schedutil: see effective_cpu_util() in
 * kernel/sched/syscalls.c (before Linux 6.11 in core.c).
 */

/*
 * Includes a task that inherits a real-time priority from a waiter. Excludes kernel threads: an
 * interrupt's work gets the same in a thread as in a handler; and the stop task is not meant.
 */
static inline bool is_realtime(const struct task_struct *task)
{
	return task->prio < MAX_RT_PRIO && !(task->flags & PF_KTHREAD);
}

/*
 * The CPU's need while the task runs: the bandwidth of its deadline tasks; for other real-time
 * tasks all its capacity, but at most the minimum clamp, which sched_util_clamp_min_rt_default sets
 * for tasks without one of their own.
 */
static inline __u32 realtime_need_q(const struct account_cpu *cpu, const struct task_struct *task)
{
	__u64 need_q = DECAY_Q(cpu->capacity), asked_q = need_q;

	if (task->prio < 0 && bpf_core_field_exists(task->se.cfs_rq->rq))
		asked_q = task->se.cfs_rq->rq->dl.running_bw * WAKEGOV_CAPACITY_MAX;
	else if (task->prio >= 0 && bpf_core_field_exists(task->uclamp_req))
		asked_q = DECAY_Q(BPF_CORE_READ_BITFIELD(task, uclamp_req[0].value));
	return asked_q < need_q ? asked_q : need_q;
}
