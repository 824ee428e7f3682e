/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The frequency at which a domain is to run, and why: the record that explain, status and replay
 * read.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"

/* What won the merge over the domain's CPUs. */
enum reason {
	REASON_IDLE,	    /* nothing ran for the hold time */
	REASON_UTILISATION, /* headroom · utilisation of a CPU */
	REASON_IO_BOOST,    /* a task whose I/O a higher frequency speeds up */
	REASON_FLOOR,	    /* a task that a rule gives a floor */
	REASON_UNCAPPED,    /* a long-running task raised the effective cap above that of others */
	REASON_OWN_FLOOR,   /* an own floor of a task */
	REASON_LAST = REASON_OWN_FLOOR,
};

/* What limited the result. */
enum limiter {
	LIMITER_NONE,
	LIMITER_POLICY_MIN,
	LIMITER_POLICY_MAX,
	LIMITER_SCALING_MIN,
	LIMITER_SCALING_MAX,
	LIMITER_OVERRIDE_MIN, /* core/override.h */
	LIMITER_OVERRIDE_MAX,
	LIMITER_FROZEN,
	LIMITER_CAP,	 /* cap of a task, by a rule: core/clamp_class.h */
	LIMITER_OWN_CAP, /* own cap of a task */
	LIMITER_LAST = LIMITER_OWN_CAP,
};

/* Whether the change is made at once. */
enum timing {
	TIMING_NOW,
	TIMING_HELD,	     /* a lower OPP is wanted, but not for long enough yet */
	TIMING_RATE_LIMITED, /* a higher OPP is wanted, but the last change was too recent */
};

struct decision {
	uint64_t now_ns;
	uint32_t domain;
	uint32_t previous_khz; /* the target before; 0: none yet */
	uint32_t target_khz;   /* an OPP */
	uint32_t wanted_khz;   /* the OPP without regard to the timing */
	uint32_t want_cap;     /* demand before clamps, 0…1024 and, with headroom, above */
	uint32_t cpu;	       /* CPU whose demand won */
	uint32_t pid; /* task whose boost or floor won, or that raised the effective cap; else 0 */
	char comm[TASK_COMM_SIZE];
	enum reason reason;
	enum limiter limiter;
	enum timing timing;
	uint32_t rule; /* index + 1 of the rule whose floor won or whose cap was the limit; 0: none
			*/
	uint32_t capped_pid; /* task whose cap was the limit; 0: none */
};

/* Names for people: idle, io-boost, scaling-max, held, … Static strings. */
const char *reason_name(enum reason reason);
const char *limiter_name(enum limiter limiter);
const char *timing_name(enum timing timing);
