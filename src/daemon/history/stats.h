/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Sums over all decisions since the start: for how long each domain was set to which OPP and why,
 * the number of decisions by reason and limiter, and the I/Os that boosts gained by the
 * experiments' measurements.
 *
 * A domain's target and reason hold until its next call.
 */

#include <stdint.h>

#include "core/decision.h"
#include "core/topology.h"

#define STATS_DEVICE_SIZE 32
/* Rows of gains; the last, "others", takes what finds no room. */
#define STATS_GAINS_MAX 64

/* What boosts of tasks of one name on one device gained, while they were in force and tried. */
struct stats_gain {
	char comm[TASK_COMM_SIZE];
	char device[STATS_DEVICE_SIZE]; /* "": not known */
	uint64_t ios;			/* I/Os meanwhile, of which … */
	uint64_t gained;		/* … so many would not have been sent without it … */
	uint64_t gained_error;		/* … with this error */
};

struct stats;

/* topology is borrowed. NULL without memory. */
struct stats *stats_new(const struct topology *topology);
struct stats *stats_free(struct stats *stats);

/* Makes room for one more OPP of the domain, before it is in the topology. Returns 0 or -ENOMEM. */
int stats_add_opp(struct stats *stats, uint32_t domain);
/* The domain was set to a target, or released (khz 0: no time is counted from now on). */
void stats_set_target(struct stats *stats, uint32_t domain, uint32_t khz, uint64_t now_ns);
/* Sets the reason from now on. */
void stats_set_reason(struct stats *stats, uint32_t domain, enum reason reason, uint64_t now_ns);
/* Counts up to now, for a following read. */
void stats_catch_up(struct stats *stats, uint64_t now_ns);
uint64_t stats_ns(const struct stats *stats, uint32_t domain, uint32_t opp, enum reason reason);

void stats_add_decision(struct stats *stats, const struct decision *decision);
uint64_t stats_decisions(const struct stats *stats, enum reason reason);
uint64_t stats_limits(const struct stats *stats, enum limiter limiter);

/* Adds to the row of the same comm and device. */
void stats_add_gain(struct stats *stats, const struct stats_gain *gain);
/* The i-th row, or NULL. */
const struct stats_gain *stats_gain(const struct stats *stats, uint32_t i);
