/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What wakegovctl benefit measures, and how it states the result. */

#include <jansson.h>
#include <stdint.h>

#include "ctl/benefit_stats.h"

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

/* Zero it and set its words before the first pair. */
struct benefit_findings {
	const char *against;	   /* NULL: the governor that was set before wakegov */
	const char *own;	   /* name of the command's figure; NULL: it has none */
	const char *wakeups_of;	   /* whose wake-ups are timed; NULL: nobody's */
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
