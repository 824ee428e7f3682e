/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Whether a boost pays: counts of I/Os in two windows, one before the boost and one with it.
 *
 *	off ─▶ baseline ─▶ trial ─▶ paid      measured: the gain is there
 *	          ▲          ├────▶ unpaid    it is not: no boost until the back-off is over
 *	          └──────────┴─ when a pause, or the trust in a result, is over
 *
 * Two windows of n = 0.72 / g² I/Os tell a change of g with two deviations: 800 for 3 %. What was
 * predicted decides how long the first look is. Where nothing of it is there, that is the end;
 * where something may be, the look goes on until a change as small as the slack would show, or the
 * time for a check is over. The deviations are those that are seen (core/io_count.h). Where they
 * hide a gain of which a quarter at least seems to be there, it is looked at once more, at once,
 * and what is seen twice is believed.
 *
 * What is measured replaces what was predicted: the calibration is their ratio. A prediction that
 * was too high by half is no reason to give up a gain that is there, and one that was too low asks
 * for a higher OPP. A measured gain is a chance one now and then, on a machine that is held up in
 * the baseline, and boosts a queue that nothing serves: so it is looked at again, soon where it is
 * not like the prediction, late where it is, and twice as late whenever it was found again.
 * (The design kept a step only when half of its prediction came true. Of twelve
 * threads on five channels of a flash disk 14 % come true of 31 %, and those are worth having.)
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/io_count.h"
#include "core/policy.h"

enum io_check_state {
	IO_CHECK_OFF,
	IO_CHECK_BASELINE,
	IO_CHECK_TRIAL,
	IO_CHECK_PAID,
	IO_CHECK_UNPAID,
};

struct io_check {
	enum io_check_state state;
	struct io_count window;	       /* the present one */
	struct io_count base;	       /* the baseline of the trial */
	uint64_t predicted_sum;	       /* in the baseline: · 64 µs, of the time of an I/O … */
	uint32_t predicted_ppm;	       /* … that the boost is to save, their mean */
	uint32_t measured_ppm;	       /* that it saved, as last seen in a trial */
	uint32_t calibration_permille; /* measured to predicted; 1000 before the first check */
	uint64_t settled_ns;	       /* no window begins before */
	uint64_t backoff_ns;	       /* the last pause */
	uint64_t trust_ns;	       /* for how long it is taken to pay, as last found; 0: not */
	uint64_t retry_ns;	       /* when the pause, or that, is over */
	uint32_t n_checks;
	bool suggested; /* the last trial spoke for the boost, and not clearly */
};

void io_check_init(struct io_check *check);

/* Starts a baseline, unless a check or its result is there. */
void io_check_begin(struct io_check *check, uint64_t now_ns);

/* Takes a new baseline, whatever there was. */
void io_check_restart(struct io_check *check, uint64_t now_ns);

/* No longer of interest: a check under way is given up, a result stays. */
void io_check_stop(struct io_check *check);

/* The ground changes: a check under way begins anew, not before now_ns + for_ns. */
void io_check_disturb(struct io_check *check, uint64_t now_ns, uint64_t for_ns);

/*
 * count I/Os were done until now_ns; more of the time of each, predicted_ppm, can be saved by a
 * boost from the present level. Moves on if it is time; true when the state changed. A prediction
 * that is not above the slack starts no trial.
 */
bool io_check_update(struct io_check *check, const struct policy_io_boost *policy, uint64_t count,
		     uint32_t predicted_ppm, uint64_t now_ns);

/* When to call io_check_update() next at the latest; UINT64_MAX: no need. */
uint64_t io_check_next_ns(const struct io_check *check, const struct policy_io_boost *policy,
			  uint64_t now_ns);

/* Whether a prediction is another by more than a quarter of the larger. */
bool io_check_moved(uint32_t before_ppm, uint32_t now_ppm);

/* Whether the boost is given: under trial, or found to pay. */
static inline bool io_check_grants(const struct io_check *check)
{
	return check->state == IO_CHECK_TRIAL || check->state == IO_CHECK_PAID;
}
