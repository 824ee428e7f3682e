/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * wakegovctl benefit: a switchback experiment. Blocks come in adjacent pairs, one with wakegov and
 * one without, so that anything that drifts slower than a pair cancels in d = ln(with / without).
 * benefit.c conducts it, benefit_block.c measures one block, benefit_stats.c has the statistics,
 * benefit_answer.c states the result.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl/benefit_energy.h"
#include "ctl/command.h"
#include "wakegov/wakeups.h"

#define BENEFIT_PAIRS_LEAST 3
#define BENEFIT_PAIRS_MAX   4096

/* In the order of the answer. A block's value is above 0, or 0 if it is not known. */
enum benefit_figure {
	FIGURE_OWN, /* the number that the command printed */
	FIGURE_RUN,
	FIGURE_IOS,
	FIGURE_IO_TIME,
	FIGURE_WAKEUP,
	FIGURE_WAIT,
	FIGURE_CPU,
	FIGURE_ENERGY,
	FIGURE_ESTIMATE,
	FIGURE_FREQUENCY,
	FIGURE_CHANGES,
	FIGURES,
};

/* benefit_stats.c */

/*
 * Decides, by seed, in which pairs the block with wakegov comes first: in half of them (for an odd
 * number, one more or less).
 */
void benefit_order(uint64_t seed, uint32_t n_pairs, bool *ret_with_first);

/* Sums over n pairs. All zero: none yet. */
struct benefit_sums {
	uint32_t n;
	double sum;
	double squares;
};

/* Both are above 0. */
void benefit_add(struct benefit_sums *sums, double with, double without);

/*
 * with / without, and its interval of 99 %. An answer has about eight figures; of a hundred answers
 * where nothing differs, few may claim a difference in any.
 */
struct benefit_ratio {
	double ratio;
	double low;
	double high;
};

/* False: there are too few pairs. */
bool benefit_ratio(const struct benefit_sums *sums, struct benefit_ratio *ret);

/*
 * The 99.5 % quantile of Student's t (Biometrika 6, 1908) with this number of degrees of freedom,
 * for an interval of 99 %. By G. W. Hill's algorithm 396, CACM 13 (10), 1970.
 */
double benefit_student(uint32_t freedom);

/* With fewer a hundredth of them is less than one. */
#define BENEFIT_WAKEUPS_LEAST 100

/* Their 99th percentile in us, from the counts of wakeups.h. 0: there are too few for one. */
double benefit_wakeup_p99_us(const uint64_t counts[WAKEGOV_WAKEUP_BUCKETS]);

/* benefit_answer.c */

/* Zero it and set its words before the first pair. */
struct benefit_findings {
	const char *against;	   /* NULL: the governor that was set before wakegov */
	const char *own;	   /* name of the command's figure; NULL: it has none */
	const char *wakeups_of;	   /* whose wake-ups are timed; NULL: none are */
	bool wakeups_asked;	   /* --wakeups: the verdict is about them, unless own is set */
	const char *energy_source; /* NULL: none */
	const char *estimate;	   /* how the energy is estimated */
	uint64_t seed;
	double block_s;
	uint32_t n_pairs;
	uint32_t n_void;
	struct benefit_sums sums[FIGURES];
	float ratios[BENEFIT_PAIRS_MAX][FIGURES]; /* in each pair; 0: not known */
	double with[FIGURES];			  /* sums over the pairs that have the figure */
	double without[FIGURES];
};

void benefit_take_pair(struct benefit_findings *findings, const double with[FIGURES],
		       const double without[FIGURES]);

/* The answer as wakegovctl(1) documents it; its verdict is a sentence for people. */
json_t *benefit_answer(const struct benefit_findings *findings);

void benefit_show_answer(const json_t *answer);

/*
 * The answer as a picture: a panel for each figure, with a mark for each pair of blocks at the
 * difference that wakegov made, and the answer's interval. A failed write shows in ferror(out).
 */
void benefit_plot(FILE *out, const json_t *answer);

/* benefit_block.c */

/* What blocks are measured by. */
struct benefit_meters {
	const struct ctl *ctl;	 /* its arguments are the command to time, if there are any */
	const char *own;	 /* name of the command's figure; NULL: it has none */
	int signals;		 /* of SIGINT and SIGTERM */
	bool interrupted;	 /* one of them came */
	struct wakeups *wakeups; /* of the chosen tasks; NULL: none are timed */
	struct energy_meter energy;
	struct model model;
};

/* Waits, and reads the sensors meanwhile; an interruption ends it. */
void benefit_wait(struct benefit_meters *meters, uint64_t until_ns);

/*
 * Measures from now on: the command, run again and again until then, or without a command the
 * machine until then. False: the command failed, which was printed.
 */
bool benefit_measure(struct benefit_meters *meters, uint64_t until_ns, double ret[FIGURES]);
