/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/module.h"

/*
 * Some CPUs run at their highest frequency whatever they do: a driver whose firmware chooses, or
 * the governor performance under backend = limits. No boost can add to that, and what is traced
 * costs each task some of its time. So once the CPUs were measured at their highest while next to
 * nothing was asked of them, and as long as no rule, limit or preference of the policy asks for
 * more than boosts, the domains go back to the governors from before for 10 s, twice that the next
 * time, and so on to 320 s. At the end of each rest every CPU's mean frequency of the whole rest is
 * measured: a lower one ends this, for ten minutes at least. Without counters of the real frequency
 * there is no rest.
 */

struct own_clock {
	struct core *core;
	uint32_t n_seen;	/* measurements of this trial that say so */
	uint64_t trial_ends_ns; /* 0: nothing was measured in it yet */
	uint64_t length_ns;	/* of the next rest */
	uint64_t again_ns;	/* none begins before */
};

extern const struct module own_clock_module;

/* Ends a rest, as for a client that wants to hand the domains back itself. */
void own_clock_end(struct own_clock *own);
