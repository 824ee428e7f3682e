/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The core for test-core-properties, which loads it as a library: a run of the engine whose
 * program is a string of bytes, so that whoever searches for a fault needs to know nothing of its
 * inputs. Two domains of two CPUs, six tasks, three devices. Any bytes are a program.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/topology.h"

enum core_run_fault {
	CORE_RUN_FINE,
	CORE_RUN_NO_OPP,       /* a target is none of the domain's OPPs */
	CORE_RUN_OUTSIDE,      /* … or outside the limits */
	CORE_RUN_TOO_SOON,     /* changed before the rate limit was over */
	CORE_RUN_NO_HOLD,      /* a boost is given although its hold time is over */
	CORE_RUN_SPINS,	       /* the engine wants to be called again at once, and again */
	CORE_RUN_NOT_AT_REST,  /* I/O has ended and something still waits for a time */
	CORE_RUN_STILL_RAISED, /* … or a domain is not at its lowest */
	CORE_RUN_STILL_HELD,   /* … or a task is still followed */
};

struct core_run_result {
	uint32_t fault; /* enum core_run_fault, the first */
	uint32_t changes[2];
	uint32_t settled_changes[2]; /* after the first three seconds */
	uint64_t decisions;	     /* a sum over all of them, frequencies as OPPs' indices */
	uint64_t end_ns;
};

/* The frequencies are steps of unit_khz: decisions do not depend on what that is. */
void core_run(const uint8_t *program, size_t size, uint32_t unit_khz, struct core_run_result *ret);

/*
 * One task for seconds, and nothing else happens: work and device_ns per I/O, kind and variation
 * as in fake-io.h.
 */
void core_run_steady(uint32_t kind, uint32_t n_tasks, uint64_t device_ns, uint64_t work_ns,
		     uint32_t variation_percent, uint64_t seed, uint32_t seconds,
		     struct core_run_result *ret);

/* io_choose_khz() in a domain with these OPPs. */
uint32_t core_run_choose_khz(const uint32_t *opp_khz, uint32_t n_opps, uint32_t capacity,
			     uint32_t ratio, uint32_t slack_ppm, uint32_t min_khz,
			     uint32_t max_khz);
uint32_t core_run_level(uint32_t khz, uint32_t max_khz, uint32_t capacity);
