/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Utilisation clamps, of which a task can change its own at any time. The daemon is told of those
 * that changed. Children inherit them, ours among them: the daemon is told of a child that has any,
 * and gives it back what its parent has without us.
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

/* What the task asks for, as far as it may have it: see wakegov_own(). */
static inline __u32 own_clamps(const struct task_struct *task)
{
	__u32 min = 0, max = WAKEGOV_CAPACITY_MAX;

	if (!bpf_core_field_exists(task->uclamp_req))
		return 0;
	if (BPF_CORE_READ_BITFIELD(task, uclamp_req[0].user_defined))
		min = BPF_CORE_READ_BITFIELD(task, uclamp[0].value);
	if (BPF_CORE_READ_BITFIELD(task, uclamp_req[1].user_defined))
		max = BPF_CORE_READ_BITFIELD(task, uclamp[1].value);
	return wakegov_own(min, max);
}

static __noinline void tell_clamps_seen(void)
{
	clamps_seen = 1;
	keep_news(NULL, WAKEGOV_NEWS_CLAMPS);
	tell(WAKEGOV_RECORD_NEWS, 0, 0);
}

/* Mostly nobody has any, and then wake-ups are not looked at. */
static inline void look_for_clamps(const struct task_struct *task)
{
	if (settings.follow_own && !clamps_seen && has_clamps(task))
		tell_clamps_seen();
}

static inline void tell_clamped_child(const struct task_struct *parent,
				      const struct task_struct *child)
{
	if (settings.follow_clamps && has_clamps(child))
		tell_class(WAKEGOV_RECORD_CLAMPED, parent->pid, child->pid, 0);
}
