/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the daemon counts of its decisions: how long each domain was at each OPP and why, and an
 * account of each boost and cap: what it brought and what it cost. All of it since the start, and
 * for each of the last seven days.
 *
 * Between two calls for a domain its target and its cause hold; the time goes to the period of the
 * day in which it passed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/decision.h"
#include "core/settings.h"
#include "core/topology.h"

#define STATS_DAYS	  7
#define STATS_EFFECTS	  4
#define STATS_DEVICE_SIZE 32
/* Of a period's account; what finds no room goes to the last row, "others". */
#define STATS_ROWS_MAX 64

enum stats_kind {
	STATS_IO_BOOST, /* of the tasks of a name, on a device */
	STATS_FLOOR,	/* of a rule, or that tasks ask for */
	STATS_CAP,
	STATS_DOMAIN, /* against the governor before wakegov, whose name is in `device` */
	STATS_KINDS,
};

struct stats_key {
	enum stats_kind kind;
	char name[POLICY_NAME_SIZE];
	char device[STATS_DEVICE_SIZE];
};

/* A boost or a cap that a target is up to. */
struct stats_effect {
	struct stats_key key;
	uint32_t without_khz; /* what the target would be without it; 0: there is no effect */
};

/* Why a domain is where it is. Zeroed: nothing is counted but the time at its target. */
struct stats_cause {
	enum reason reason;
	uint32_t work_cap; /* what its CPUs get done, added up, on the scale of capacity */
	struct stats_effect effects[STATS_EFFECTS];
};

struct stats_sums {
	uint64_t ns;	       /* it was in force */
	uint64_t spent_khz_ms; /* the integral of what the target was above … */
	uint64_t saved_khz_ms; /* … and below that without it */
	double spent_j;	       /* an estimate, likewise; see stats_power_share() */
	double saved_j;
	uint64_t ios;	       /* that tasks sent meanwhile, and were compared with … */
	uint64_t gained;       /* … of which so many would not have been without it … */
	uint64_t gained_error; /* … give or take so many */
};

struct stats_row {
	struct stats_key key;
	struct stats_sums sums;
};

/* The time on both clocks; day is that of the calendar here, counted from 1970 on, above 7. */
struct stats_time {
	uint64_t now_ns;
	int32_t day;
	uint64_t of_day_ns; /* since midnight */
};

struct stats;
struct stats_period;

/* topology is borrowed. NULL without memory. */
struct stats *stats_new(const struct topology *topology);
struct stats *stats_free(struct stats *stats);

/* What a busy CPU of the domain takes at its highest OPP; 1 W until this is called. */
void stats_set_power(struct stats *stats, uint32_t domain, double highest_w);
/* The domain was told to run at a target, or was let go of (khz 0: no time counts from now on). */
void stats_set_target(struct stats *stats, uint32_t domain, uint32_t khz,
		      const struct stats_time *time);
/* Why it is there from now on. */
void stats_set_cause(struct stats *stats, uint32_t domain, const struct stats_cause *cause,
		     const struct stats_time *time);
void stats_add_sums(struct stats_sums *sums, const struct stats_sums *more);
/* I/Os that a boost was in force for. */
void stats_add_ios(struct stats *stats, const struct stats_key *key, const struct stats_sums *ios,
		   const struct stats_time *time);
/* Counts up to now, so that what is read is of now. */
void stats_catch_up(struct stats *stats, const struct stats_time *time);

void stats_add_decision(struct stats *stats, const struct decision *decision);

/* Since the start. */
uint64_t stats_decisions(const struct stats *stats, enum reason reason);
uint64_t stats_limits(const struct stats *stats, enum limiter limiter);

/* Since the start. Borrowed. */
const struct stats_period *stats_since_start(const struct stats *stats);
/* Of one day; NULL: nothing is counted of it. Borrowed. */
const struct stats_period *stats_of_day(const struct stats *stats, int32_t day);
/* Adds what was counted before the start. */
void stats_add_ns(struct stats *stats, int32_t day, uint32_t domain, uint32_t opp,
		  enum reason reason, uint64_t ns);
void stats_add_row(struct stats *stats, int32_t day, const struct stats_row *row);
/* The days from one to another, added up: the caller frees it. NULL without memory. */
struct stats_period *stats_sum_days(const struct stats *stats, int32_t from, int32_t to);
struct stats_period *stats_period_free(struct stats_period *period);
/* Of a period. */
uint64_t stats_ns(const struct stats *stats, const struct stats_period *period, uint32_t domain,
		  uint32_t opp, enum reason reason);
/* The i-th row of its account, or NULL. */
const struct stats_row *stats_row(const struct stats_period *period, uint32_t i);

/*
 * What the CPUs of a domain take at khz while they get work_cap done, in units of what a busy one
 * takes at its highest OPP. The one place where energy is estimated here.
 */
double stats_power_share(const struct topology_domain *domain, uint32_t khz, uint32_t work_cap);
