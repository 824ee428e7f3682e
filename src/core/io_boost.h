/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * I/O boost of one task: a floor on the performance of the domain where it runs, as a lease.
 *
 * A task that waits for I/O, or starts block requests, at min_rate or more has one. It is held
 * while the task sleeps between two I/Os, since most of the CPU time between them is interrupt and
 * completion work with the task off the run queue, and ends hold_ns after the last I/O, or when a
 * whole window shows less than half of min_rate.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"
#include "core/policy.h"

enum io_boost_state {
	IO_BOOST_NONE,	     /* not sampled yet */
	IO_BOOST_HELD,	     /* boosted, lease running */
	IO_BOOST_BELOW_RATE, /* ended: too few I/Os in a window */
	IO_BOOST_LAPSED,     /* ended: no I/O for the hold time */
};

struct io_boost {
	enum io_boost_state state;
	uint64_t lease_end_ns;
	uint32_t rate_per_s; /* of the last whole window; before that, of the policy */
	uint64_t window_start_ns;
	uint64_t window_waits; /* totals at its start */
	uint64_t window_starts;
};

/* Takes the totals of a task into account; sets boost->state. */
void io_boost_update(struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, uint64_t now_ns);

/* Ends the lease if its time is over. */
void io_boost_expire(struct io_boost *boost, uint64_t now_ns);

static inline bool io_boost_is_held(const struct io_boost *boost)
{
	return boost->state == IO_BOOST_HELD;
}

/* none, held, below-rate, lapsed. Static strings. */
const char *io_boost_state_name(enum io_boost_state state);
