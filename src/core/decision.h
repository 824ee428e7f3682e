/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a domain is to run at, and why: the record that explain, status and replay read. */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"

/* What won the merge over the domain's CPUs. */
enum reason {
	REASON_IDLE,	    /* nothing ran for the hold time */
	REASON_UTILISATION, /* headroom · utilisation of a CPU */
	REASON_IO_BOOST,    /* a task whose I/O a faster clock is to serve */
	REASON_FLOOR,	    /* a task that a rule gives a floor */
	REASON_UNCAPPED,    /* a long-running task raised the effective cap above that of others */
	REASON_OWN_FLOOR,   /* a task that asks for a floor itself */
	REASON_LAST = REASON_OWN_FLOOR,
};

/* What kept the result from being what was wanted. */
enum limiter {
	LIMITER_NONE,
	LIMITER_POLICY_MIN,
	LIMITER_POLICY_MAX,
	LIMITER_SCALING_MIN,
	LIMITER_SCALING_MAX,
	LIMITER_OVERRIDE_MIN, /* core/override.h */
	LIMITER_OVERRIDE_MAX,
	LIMITER_FROZEN,
	LIMITER_CAP,	 /* of a task, by a rule: core/clamp_class.h */
	LIMITER_OWN_CAP, /* of a task that asks for it itself */
	LIMITER_LAST = LIMITER_OWN_CAP,
};

/* Whether it is given at once. */
enum timing {
	TIMING_NOW,
	TIMING_HELD,	     /* less is wanted, but not for long enough yet */
	TIMING_RATE_LIMITED, /* more is wanted, but the last change was too recent */
};

struct decision {
	uint64_t now_ns;
	uint32_t domain;
	uint32_t previous_khz; /* the target before; 0: none yet */
	uint32_t target_khz;   /* an OPP */
	uint32_t wanted_khz;   /* the OPP that would be right without the timing */
	uint32_t want_cap;     /* demand before clamps, 0…1024 and, with headroom, above */
	uint32_t cpu;	       /* whose demand won */
	uint32_t pid; /* whose boost or floor won, or who raised the effective cap; else 0 */
	char comm[TASK_COMM_SIZE];
	enum reason reason;
	enum limiter limiter;
	enum timing timing;
	uint32_t rule; /* index + 1 of the one whose floor won, or whose cap was the limit; 0: none
			*/
	uint32_t capped_pid; /* a task that the limit is for; 0: the limit was no cap */
};

/* The names that people read: idle, io-boost, scaling-max, held, … Static strings. */
const char *reason_name(enum reason reason);
const char *limiter_name(enum limiter limiter);
const char *timing_name(enum timing timing);
