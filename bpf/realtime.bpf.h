/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Real-time tasks. Their utilisation does not tell their need, since only they know their
 * deadlines. They get the same as from schedutil: see effective_cpu_util() in
 * kernel/sched/syscalls.c (before Linux 6.11 in core.c).
 */

#include "maps.bpf.h"

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
