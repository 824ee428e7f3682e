/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Real-time tasks. Their utilisation does not say what they need, since they are to be done by a
 * time that only they know. So they get what schedutil gives them: see effective_cpu_util() in
 * kernel/sched/syscalls.c (before Linux 6.11 in core.c).
 */

#include "maps.bpf.h"

/*
 * Also a task that inherits a real-time priority from a waiter. Kernel threads are not: work of an
 * interrupt is to get the same in a thread as in a handler, and the stop task does not belong here.
 */
static inline bool is_realtime(const struct task_struct *task)
{
	return task->prio < MAX_RT_PRIO && !(task->flags & PF_KTHREAD);
}

/*
 * What the CPU is known to need while the task runs: the bandwidth of its deadline tasks; else all
 * that it has, but no more than the minimum clamp, which sched_util_clamp_min_rt_default sets for
 * tasks that have none of their own.
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
