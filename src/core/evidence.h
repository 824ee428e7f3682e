/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What pairs of windows say about a gain (core/experiment.h): sums that may be tested after every
 * pair, and that age. Gains are d, in ln · 2^20, less the slack. With a scale that is known before
 * the pair, and u = (d − slack) / scale, clipped,
 *
 *	E = √(ρ / (ρ + Σu²)) · exp((Σu)² / 2 (ρ + Σu²))
 *
 * is a supermartingale if the true gain is the slack (de la Peña 1999; the normal mixture is from
 * Robbins 1970), and P(E ≥ 1/α ever) ≤ α (Ville 1939): testing after every pair is valid (Johari et
 * al. 2017).
 */

#include <stdbool.h>
#include <stdint.h>

struct evidence {
	int64_t sum;	   /* Σu · 2^16 */
	int64_t squares;   /* Σu² · 2^16 */
	int64_t weight;	   /* Σ 2^32 / scale: sum · 2^16 / weight is the mean of d − slack */
	int64_t pairs;	   /* number · 2^16; ages as the sums do */
	int64_t other_sum; /* gains of the others on the device, in ln · 2^20, clipped … */
	int64_t other_squares;
	int64_t scale; /* mean of |d − slack| */
};

/* ln x · 2^20, x > 0 */
int32_t evidence_ln(uint64_t x);

/* Nothing was seen; the scale stays. */
void evidence_clear(struct evidence *e);

/* As if two pairs had been seen that gain this, with a deviation of the scale. */
void evidence_assume(struct evidence *e, int32_t gain);

/* Adds a pair: its gain, and what the others on the device gained in it, in ln · 2^20. */
void evidence_add(struct evidence *e, int32_t gain, int64_t others);

/* Forgets one part in `by` of what was seen. */
void evidence_shrink(struct evidence *e, int by);

/* The mean gain. */
int32_t evidence_mean(const struct evidence *e);

/* ln E · 2^16 */
int64_t evidence_ln_odds(const struct evidence *e);

/*
 * Whether the mean gain is above nothing, or below `gain`, by more than √(z2 / 4) of its standard
 * deviations.
 */
bool evidence_is_above_slack(const struct evidence *e, int z2);
bool evidence_is_below(const struct evidence *e, int32_t gain, int z2);

/* Whether the others on the device lose, likewise. */
bool evidence_others_lose(const struct evidence *e, int z2);

/* The half-width of the mean's always-valid interval: exact at the slack, approximate elsewhere. */
int64_t evidence_radius(const struct evidence *e);
