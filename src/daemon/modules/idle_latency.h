/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Idle latency: while a task with one works, the daemon holds /dev/cpu_dma_latency open with the
 * shortest of these. No CPU then uses an idle state that takes longer to leave. The kernel ends the
 * request when the descriptor is closed, also after SIGKILL.
 */

#include "daemon/module.h"

#define IDLE_LATENCY_DEVICE "/dev/cpu_dma_latency"

struct idle_latency {
	struct core *core;
	bool wanted;	  /* a rule gives one */
	bool warned;	  /* the warning that it has no effect here was given */
	int error;	  /* why the device could not be held, as a negative errno; 0: it could */
	int fd;		  /* of the device, while held_us is held; 0: it is not open */
	uint32_t held_us; /* POLICY_IDLE_LATENCY_NONE: nothing is held */
	uint64_t next_ns; /* when to see whether such tasks still work */
};

extern const struct module idle_latency_module;

/* The reason why an idle latency has no effect here, as a clause; NULL: it may have one. */
const char *idle_latency_why_not(const struct idle_latency *idle);
