/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What wakegovctl benefit measures, and what it says of it. */

#include <jansson.h>
#include <stdint.h>

#include "ctl/benefit_stats.h"

/* In the order of the answer. Of a block each is above 0, or 0 where it is not known. */
enum benefit_figure {
	FIGURE_OWN, /* what the command printed */
	FIGURE_RUN,
	FIGURE_IOS,
	FIGURE_IO_TIME,
	FIGURE_WAIT,
	FIGURE_CPU,
	FIGURE_ENERGY,
	FIGURE_ESTIMATE,
	FIGURE_FREQUENCY,
	FIGURE_CHANGES,
	FIGURES,
};

/* Zeroed, with its words set, before the first pair. */
struct benefit_findings {
	const char *against;	   /* NULL: the governor before wakegov */
	const char *own;	   /* what the command's figure is called; NULL: it has none */
	const char *energy_source; /* NULL: none */
	const char *estimate;	   /* by what the energy is estimated */
	uint64_t seed;
	double block_s;
	uint32_t n_pairs;
	uint32_t n_void;
	struct benefit_sums sums[FIGURES];
	float ratios[BENEFIT_PAIRS_MAX][FIGURES]; /* of each pair; 0: not known */
	double with[FIGURES];			  /* added up, of the pairs that have the figure */
	double without[FIGURES];
};

void benefit_take_pair(struct benefit_findings *findings, const double with[FIGURES],
		       const double without[FIGURES]);

/* As wakegovctl(1) documents it; the verdict is a sentence for people. */
json_t *benefit_answer(const struct benefit_findings *findings);

void benefit_show_answer(const json_t *answer);
