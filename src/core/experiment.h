/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Whether a boost pays: a switchback experiment.
 *
 * Pairs of short windows, one with the boost and one without, in random order. Of each pair
 * d = ln(rate with / rate without); what drifts slower than a pair cancels. Where the true gain is
 * exactly the slack, d − slack is symmetric about 0, because a coin tossed here chose the order,
 * whatever the noise, its drift, its tails and its memory. So with any scale that is known before
 * the pair, and u = (d − slack) / scale, clipped,
 *
 *	E = √(ρ / (ρ + Σu²)) · exp((Σu)² / 2 (ρ + Σu²))
 *
 * is a supermartingale (de la Peña 1999; the normal mixture is Robbins 1970), and P(E ≥ 1/α ever)
 * ≤ α (Ville 1939): it may be looked at after every pair (Johari et al. 2017).
 *
 * A prediction is a prior: where the gain seen is like the one predicted, the odds that are needed
 * are divided by prior_odds. After an answer single pairs refresh the sums, which age; an answer in
 * doubt is open again, without the prediction.
 *
 * Two windows that ran at the same level (core/io_model.h) say nothing about the clock.
 *
 * A device that lets so many I/Os through per tick (io.max, a cloud disk) gains nothing by a boost,
 * yet short windows see a gain: what the boosted one takes of the tick is missing in the other one.
 * The sign of it is silence: a while without any I/O. Where as much silence as there was could
 * explain a gain, the question is asked again, in windows that are as long as such ticks.
 *
 * All is integer arithmetic: a replay gives the same on every machine.
 */

#include <stdbool.h>
#include <stdint.h>

enum experiment_verdict {
	EXPERIMENT_NONE, /* not begun */
	EXPERIMENT_OPEN, /* pair after pair */
	EXPERIMENT_PAYS,
	EXPERIMENT_DOESNT,
	EXPERIMENT_CANT_TELL,
	EXPERIMENT_SAME, /* with and without the boost it runs at the same level */
};

struct experiment_params {
	uint64_t half_ns;   /* a window: shorter sees through drift, longer through white noise */
	uint64_t settle_ns; /* after a switch, for what is in flight: not counted */
	uint32_t slack_ppm; /* a gain not above it is not worth a boost */
};

/* What is counted, all of it growing. */
struct experiment_tally {
	uint64_t ios;	    /* of the group that is asked */
	uint64_t other_ios; /* of others on its device */
	uint64_t level_ns;  /* the integral of the level at which its tasks ran … */
	uint64_t time_ns;   /* … over that time */
};

struct experiment {
	uint64_t random;
	uint64_t mark_ns; /* the window began; 0: it has not */
	struct experiment_tally mark;
	uint64_t settled_ns; /* no window begins before */
	uint64_t next_ns;    /* of interest next; UINT64_MAX: never */
	uint64_t aged_ns;
	uint64_t reopen_ns; /* not opened again before: what the last one took is paid back */
	uint64_t worse_ns;  /* spent in the arm that lost, or half of what was spent in the open */
	uint64_t pair_ns;   /* the pair began */
	uint64_t window_ns; /* so long was the last window */
	uint64_t looked_ns; /* the last look … */
	uint64_t looked_ios;
	uint64_t silence_ns; /* so far */
	uint64_t silent_ns;  /* of seen_ns, in windows since it was opened */
	uint64_t seen_ns;
	int64_t sum;	    /* Σu · 2^16 */
	int64_t squares;    /* Σu² · 2^16 */
	int64_t weight;	    /* Σ 2^32 / scale: sum · 2^16 / weight is the mean of d − slack */
	int64_t pairs;	    /* · 2^16; ages as the sums do */
	int64_t device_sum; /* I/O/s that the whole device gained … */
	int64_t device_squares;
	int32_t scale;	   /* mean of |d − slack|; all that follows ln · 2^20 */
	int32_t predicted; /* 0: there is no prediction */
	int32_t found;	   /* d − slack at the verdict */
	int32_t first;	   /* rate in the first window … */
	uint32_t first_device;
	uint32_t first_level; /* … and its level */
	uint32_t on_level;    /* mean levels of the pairs */
	uint32_t off_level;
	uint32_t tries; /* pairs since it was opened, void ones as well */
	uint32_t tried; /* pairs in all that said something */
	enum experiment_verdict verdict;
	uint8_t window;	   /* 0: no pair under way; 1, 2 */
	uint8_t same;	   /* pairs in a row that ran at the same level */
	bool order;	   /* the arm of the first window */
	bool rest;	   /* the arm when no pair is under way */
	bool arm;	   /* that is to run */
	bool again;	   /* it has been answered before */
	bool is_long;	   /* its windows are, since a tick may have given the gain */
	bool is_confirmed; /* they found it as well */
};

/* The gain of the rate, and the half-width of its always-valid interval. */
struct experiment_estimate {
	int32_t gain_ppm;
	uint32_t error_ppm;
};

void experiment_init(struct experiment *e, uint64_t seed);

/* Opens it: the first pair begins with the next update. */
void experiment_begin(struct experiment *e, uint64_t now_ns);

/* The gain of the rate that is expected, while it is open; 0: not known. */
void experiment_predict(struct experiment *e, const struct experiment_params *p,
			uint32_t predicted_ppm);

/* Tasks came or went, or it goes on elsewhere: an answer counts half, and is looked at now. */
void experiment_disturb(struct experiment *e, uint64_t now_ns);

/* The pair under way is given up. */
void experiment_void(struct experiment *e, const struct experiment_params *p, uint64_t now_ns);

/*
 * Begins or goes on with a pair if it is time; the arm to run from then on is in e->arm. To be
 * called again at e->next_ns, with a tally as of then. True when a pair or the experiment is over.
 */
bool experiment_update(struct experiment *e, const struct experiment_params *p,
		       const struct experiment_tally *tally, uint64_t now_ns);

struct experiment_estimate experiment_estimate(const struct experiment *e,
					       const struct experiment_params *p);
