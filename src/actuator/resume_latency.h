/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * cpuN/power/pm_qos_resume_latency_us: the kernel's idle governor puts the CPU into no idle state
 * that takes longer to leave. Saved and restored as the controls of domains are: the file is one
 * request of user space, which all programs share.
 */

#include "actuator/saved.h"

enum resume_latency_outcome {
	RESUME_LATENCY_DONE,
	RESUME_LATENCY_UNCHANGED, /* the CPU is limited to that, or to less by another program */
	RESUME_LATENCY_FOREIGN,	  /* another program changed what we had set: it is theirs */
};

/*
 * Limits the CPU to us; restore_resume_latency() ends it. Returns an outcome or a negative errno,
 * -ENOENT where there is no such file; then nothing of ours is set.
 */
int resume_latency_limit(struct saved_values *saved, uint32_t cpu, uint32_t us);
