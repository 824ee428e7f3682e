/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Children inherit the utilisation clamps of their parents, ours among them. The daemon is told of
 * a child that has any, and gives it back what its parent has without us.
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

static inline void tell_clamped_child(const struct task_struct *parent,
				      const struct task_struct *child)
{
	if (settings.follow_clamps && has_clamps(child))
		tell_set(WAKEGOV_RECORD_CLAMPED, parent->pid, child->pid, 0);
}
