/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Whether a boost pays: a switchback experiment.
 *
 * Pairs of short windows, one with the boost and one without, in random order. Each pair gives d =
 * ln(rate with / rate without); drifts slower than a pair cancel. If the true gain equals the
 * slack, d − slack is symmetric about 0 because a random draw chose the order, whatever the
 * distribution, the drift and the memory of the noise. evidence.c tests that after every pair.
 *
 * A prediction is a prior: if the gain seen is like the predicted one, the required odds are
 * divided by prior_odds. After an answer single pairs refresh the sums, which age. A doubtful
 * answer is reopened without the prediction.
 *
 * Two windows that ran at the same level (core/io_model.h) say nothing about the clock.
 *
 * A device with a limit of I/Os per tick (io.max, a cloud disk) gains nothing from a boost, yet
 * short windows show a gain: the boosted window takes I/Os of the tick that the other one then
 * lacks. Silence, a while without any I/O, reveals this. If the amount of silence could explain the
 * gain, the question is asked again in windows as long as such ticks.
 *
 * All arithmetic is in integers: a replay gives the same on every machine.
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * evidence.c: what pairs of windows say about a gain: sums that may be tested after every
 * pair, and that age. Gains are d, in ln · 2^20, less the slack. With a scale that is known before
 * the pair, and u = (d − slack) / scale, clipped,
 *
 *	E = √(ρ / (ρ + Σu²)) · exp((Σu)² / 2 (ρ + Σu²))
 *
 * is a supermartingale if the true gain is the slack (de la Peña 1999; the normal mixture is from
 * Robbins 1970), and P(E ≥ 1/α ever) ≤ α (Ville 1939): testing after every pair is valid (Johari et
 * al. 2017).
 */

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

/* The prior: two pairs with this gain, whose deviation is the scale. */
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

enum experiment_verdict {
	EXPERIMENT_NONE, /* not started, or the level is the same with and without the boost */
	EXPERIMENT_OPEN, /* running pairs */
	EXPERIMENT_PAYS,
	EXPERIMENT_DOESNT,
	EXPERIMENT_CANT_TELL,
};

/* A pair has two windows, with one arm each. */
enum experiment_phase {
	EXPERIMENT_RESTS, /* no pair is under way */
	EXPERIMENT_FIRST_WINDOW,
	EXPERIMENT_SECOND_WINDOW,
	EXPERIMENT_SPOILT, /* what the pair measures has changed meanwhile: it does not count */
};

/* Whether a tick of the device (see above) may explain the gain. */
enum experiment_tick {
	EXPERIMENT_TICK_UNKNOWN,
	EXPERIMENT_TICK_TESTED,	   /* windows are as long as ticks */
	EXPERIMENT_TICK_RULED_OUT, /* such windows confirmed the gain */
};

struct experiment_params {
	uint64_t half_ns; /* length of a window: a shorter one cancels more drift, a longer one more
			     white noise */
	uint64_t settle_ns;    /* after a switch, for requests in flight: not counted */
	uint64_t half_life_ns; /* of evidence: with a longer one a change is noticed later */
	uint32_t slack_ppm;    /* a gain up to this is not worth a boost */
	bool others_count;     /* no boost where others on the device lose */
};

/* Counters; all of them only grow. */
struct experiment_tally {
	uint64_t ios;	    /* I/Os of the group */
	uint64_t other_ios; /* I/Os of other tasks on its device */
	uint64_t level_ns;  /* the integral of the level at which its tasks ran … */
	uint64_t time_ns;   /* … over that time */
};

/*
 * One window: the logarithm of its rate per time of its tasks, which come and go and move between
 * domains; that of the others' rate; and its level.
 */
struct experiment_window {
	int32_t rate;
	int32_t other_rate; /* that of the others on the device */
	uint32_t level;
};

struct experiment {
	uint64_t random;
	uint64_t mark_ns; /* start of the window; 0: not started */
	struct experiment_tally mark;
	uint64_t settled_ns; /* earliest start of a window */
	uint64_t next_ns;    /* time of the next update; UINT64_MAX: never */
	uint64_t aged_ns;
	uint64_t reopen_ns; /* the cost of the last run is paid back; reopened before only if the
			       answer is clearly in doubt */
	uint64_t worse_ns;  /* half of the time that its last pairs took, before an answer */
	uint64_t pair_ns;   /* start of the pair */
	uint64_t window_ns; /* length of the last window */
	uint64_t looked_ns; /* the last look … */
	uint64_t looked_ios;
	uint64_t silence_ns; /* silence so far */
	uint64_t silent_ns;  /* of seen_ns, in windows since the start */
	uint64_t seen_ns;
	struct evidence evidence;
	int32_t predicted;		/* a gain as ln · 2^20; 0: no prediction */
	int32_t found;			/* d − slack at the verdict */
	struct experiment_window first; /* of the pair under way */
	uint32_t on_level;		/* mean levels of the pairs */
	uint32_t off_level;
	uint32_t silences; /* number of those that silent_ns is the sum of */
	uint32_t tries;	   /* pairs since the start, void ones included; after an answer, those to
			      come since one put it in doubt */
	uint32_t tried;	   /* valid pairs in all */
	enum experiment_verdict verdict;
	enum experiment_phase phase;
	enum experiment_tick tick;
	uint8_t n_equal; /* consecutive pairs at equal levels */
	bool rests_boosted;
	bool is_boosted;   /* the arm to run: with the boost or without */
	bool was_answered; /* the prediction was weighed in an earlier answer */
};

/* The gain of the rate, and the half-width of its always-valid interval. */
struct experiment_estimate {
	int32_t gain_ppm;
	uint32_t error_ppm;
};

void experiment_init(struct experiment *e, uint64_t seed);

/* Starts the experiment: the first pair begins with the next update. */
void experiment_begin(struct experiment *e, uint64_t now_ns);

/*
 * Takes the predicted gain for the answer, where the boost is there already: no more than single
 * pairs is spent on it, until they speak against it.
 */
void experiment_assume(struct experiment *e, const struct experiment_params *p,
		       uint32_t predicted_ppm, uint64_t now_ns);

/* Starts it again, with no regard to the prediction: an answer is in doubt. */
void experiment_ask_again(struct experiment *e, uint64_t now_ns);

/* Sets the predicted gain of the rate, before an answer; 0: not known. */
void experiment_predict(struct experiment *e, const struct experiment_params *p,
			uint32_t predicted_ppm);

/* Tasks came or went, or moved elsewhere: an answer counts half, and is reviewed now. */
void experiment_disturb(struct experiment *e, uint64_t now_ns);

/* Has the pair under way, if any, discarded by the next experiment_update(). */
static inline void experiment_spoil(struct experiment *e)
{
	if (e->phase)
		e->phase = EXPERIMENT_SPOILT;
}

/* Discards the pair under way. */
void experiment_void(struct experiment *e, const struct experiment_params *p, uint64_t now_ns);

/*
 * Starts or advances a pair if it is due; the arm to run is in e->is_boosted. Call it again at
 * e->next_ns with the tally of that time. Returns true when a pair or the experiment has ended.
 */
bool experiment_update(struct experiment *e, const struct experiment_params *p,
		       const struct experiment_tally *tally, uint64_t now_ns);

struct experiment_estimate experiment_estimate(const struct experiment *e,
					       const struct experiment_params *p);
