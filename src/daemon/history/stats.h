/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The account of decisions: the time of each domain at each OPP by reason, and the gain and cost of
 * each boost and cap, since the start and for each of the last seven days.
 *
 * A domain's target and cause hold until its next call; the time goes to the period of the day in
 * which it passed.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/decision.h"
#include "core/settings.h"
#include "core/topology.h"

#define STATS_DAYS	  7
#define STATS_EFFECTS	  4
#define STATS_DEVICE_SIZE 32
/* Rows of a period's account; the last, "others", takes what finds no room. */
#define STATS_ROWS_MAX 64

enum stats_kind {
	STATS_IO_BOOST, /* by name of tasks and device */
	STATS_FLOOR,	/* of a rule, or own floors of tasks */
	STATS_CAP,
	STATS_DOMAIN, /* compared with the governor before wakegov, whose name is in `device` */
	STATS_OTHERS, /* for which there was no row */
	STATS_CHAIN,  /* by name of one of its tasks */
	STATS_KINDS,
};

struct stats_key {
	enum stats_kind kind;
	char name[POLICY_NAME_SIZE];
	char device[STATS_DEVICE_SIZE];
};

/* A boost or cap that determines a target. */
struct stats_effect {
	struct stats_key key;
	uint32_t without_khz; /* target without it; 0: no effect */
};

/* The causes of a domain's target. Zeroed: only the time at the target is counted. */
struct stats_cause {
	enum reason reason;
	uint32_t work_cap; /* summed work of its CPUs on the capacity scale */
	struct stats_effect effects[STATS_EFFECTS];
};

struct stats_sums {
	uint64_t ns;	       /* time in force */
	uint64_t spent_khz_ms; /* integral of the target above … */
	uint64_t saved_khz_ms; /* … and below the target without it */
	double spent_j;	       /* an estimate of the same; see stats_power_share() */
	double saved_j;
	uint64_t ios;	       /* I/Os of tasks meanwhile, compared with … */
	uint64_t gained;       /* … of which so many would not have been sent without it … */
	uint64_t gained_error; /* … with this error */
};

struct stats_row {
	struct stats_key key;
	struct stats_sums sums;
};

/* The time by both clocks; day is that of the local calendar, counted from 1970, above 7. */
struct stats_time {
	uint64_t now_ns;
	int32_t day;
	uint64_t of_day_ns; /* since midnight */
};

struct account;
struct past;
struct stats;
struct stats_period;

/* topology is borrowed. NULL without memory. */
struct stats *stats_new(const struct topology *topology);
struct stats *stats_free(struct stats *stats);

/* The index of the OPP; n_opps: khz is none. */
static inline uint32_t stats_find_opp(const struct topology_domain *domain, uint32_t khz)
{
	uint32_t i = 0;

	while (i < domain->n_opps && domain->opp_khz[i] != khz)
		i++;
	return i;
}

/* Makes cells for one more OPP of the domain, before it is in the topology. Returns 0 or -ENOMEM.
 */
int stats_add_opp(struct stats *stats, uint32_t domain);
/* Sets the power of a busy CPU of the domain at its highest OPP; 1 W until this is called. */
void stats_set_power(struct stats *stats, uint32_t domain, double highest_w);
/* The domain was set to a target, or released (khz 0: no time is counted from now on). */
void stats_set_target(struct stats *stats, uint32_t domain, uint32_t khz,
		      const struct stats_time *time);
/* Sets the cause from now on. */
void stats_set_cause(struct stats *stats, uint32_t domain, const struct stats_cause *cause,
		     const struct stats_time *time);
void stats_add_sums(struct stats_sums *sums, const struct stats_sums *more);
/* Adds I/Os during which a boost was in force. */
void stats_add_ios(struct stats *stats, const struct stats_key *key, const struct stats_sums *ios,
		   const struct stats_time *time);
/* Counts up to now, for a following read. */
void stats_catch_up(struct stats *stats, const struct stats_time *time);

void stats_add_decision(struct stats *stats, const struct decision *decision);

/* Since the start. */
uint64_t stats_decisions(const struct stats *stats, enum reason reason);
uint64_t stats_limits(const struct stats *stats, enum limiter limiter);

/* Since the start. Borrowed. */
const struct stats_period *stats_since_start(const struct stats *stats);
/* The period of one day; NULL: not counted. Borrowed. */
const struct stats_period *stats_of_day(const struct stats *stats, int32_t day);
/* Adds time that was counted before the start. */
void stats_add_ns(struct stats *stats, int32_t day, uint32_t domain, uint32_t opp,
		  enum reason reason, uint64_t ns);
void stats_add_row(struct stats *stats, int32_t day, const struct stats_row *row);
/* Sums days; the caller frees it. NULL without memory. */
struct stats_period *stats_sum_days(const struct stats *stats, int32_t from, int32_t to);
struct stats_period *stats_period_free(struct stats_period *period);
uint64_t stats_ns(const struct stats *stats, const struct stats_period *period, uint32_t domain,
		  uint32_t opp, enum reason reason);
/* The i-th row of a period's account, or NULL. */
const struct stats_row *stats_row(const struct stats_period *period, uint32_t i);

/*
 * The power of a domain's CPUs at khz while they do the work work_cap, relative to a busy CPU at
 * the highest OPP. The only estimate of energy in the daemon.
 */
double stats_power_share(const struct topology_domain *domain, uint32_t khz, uint32_t work_cap);

/*
 * stats_file.c: the account of a day, in DIRECTORY/account.DAY, with DAY counted from 1970. The
 * file is replaced as a whole:
 *
 *	file	magic, version (u32), CRC-32 of the rest (u32), domains, rows
 *	domains	their number, and of each its name, the number of its times, and the times:
 *		kHz, reason, ms
 *	rows	their number, and of each its key and its sums, each a varint
 */

#define STATS_FILE_BYTES (72 * 1024) /* maximum size of a file */

/* Returns 0 or a negative errno: -E2BIG for more than a file may have. */
int stats_file_save(const char *directory, const struct stats *stats,
		    const struct topology *topology, int32_t day);

/*
 * Adds the contents of the day's file. Returns 0, also without a file, or a negative errno:
 * -EBADMSG for a damaged or foreign file. Domains and OPPs that do not exist here are left out.
 */
int stats_file_load(const char *directory, struct stats *stats, const struct topology *topology,
		    int32_t day);
/* The same for the file's contents. */
int stats_file_parse(const void *data, size_t size, struct stats *stats,
		     const struct topology *topology, int32_t day);

/* Removes the files of days before that one. */
void stats_file_remove_before(const char *directory, int32_t day);

/*
 * account.c: enters decisions into the account. The gain of a boost is what the experiments found:
 * the share of its tasks' I/Os that would not have been sent without it. Its cost is the difference
 * between the domain's target and the frequency in the experiment's other arm; without an
 * experiment, the highest other demand. The saving of a cap is the difference between the demand
 * before the cap and the target. The total is compared with the governor that each domain had
 * before wakegov, by that governor's rule: the highest limit under performance, the lowest under
 * powersave unless a driver chooses by itself, else what the CPUs' utilisation asks for.
 */

/* NULL without memory. */
struct account *account_new(const struct topology *topology);
struct account *account_free(struct account *account);

/* The time by both clocks. The wall clock is read once a minute, so a jump is noticed that late. */
struct stats_time account_time(struct account *account, uint64_t now_ns);

/* Hooks of the module past, which has the account and the statistics. */

/* Sets the CPUs' known power, by which energy is estimated from now on. */
void account_powers_changed(void *state);
/* Enters a decision for a domain, also one that did not change the target. */
void account_decided(void *state, const struct decision *decision);
void account_target_set(void *state, uint32_t domain, uint32_t khz, uint64_t now_ns);

/* Counts up to now. Returns the present time. */
struct stats_time account_catch_up(struct past *past);
