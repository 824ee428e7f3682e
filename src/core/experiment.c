// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switchback experiment: which window comes next, whether a pair counts, and when there is an
 * answer.
 */
#include "core/experiment.h"

#include "core/experiment_params.h"

#define PPM 1000000U

static int32_t ln_gain(uint32_t ppm)
{
	return evidence_ln(PPM + (uint64_t)ppm) - evidence_ln(PPM);
}

/* xorshift64* (Vigna 2016) */
static uint32_t draw(struct experiment *e)
{
	e->random ^= e->random >> 12;
	e->random ^= e->random << 25;
	e->random ^= e->random >> 27;
	return e->random * 2685821657736338717ULL >> 32;
}

void experiment_init(struct experiment *e, uint64_t seed)
{
	*e = (struct experiment){
		.random = seed * 0x9e3779b97f4a7c15ULL | 1,
		.evidence.scale = SCALE_START,
		.next_ns = UINT64_MAX,
	};
}

static void open_again(struct experiment *e, uint64_t now_ns)
{
	evidence_clear(&e->evidence);
	e->tries = 0;
	e->n_equal = 0;
	e->silent_ns = e->seen_ns = 0;
	e->silences = 0;
	e->verdict = EXPERIMENT_OPEN;
	e->next_ns = now_ns;
}

void experiment_begin(struct experiment *e, uint64_t now_ns)
{
	e->was_answered = false;
	e->tick = EXPERIMENT_TICK_UNKNOWN;
	e->worse_ns = 0;
	open_again(e, now_ns);
}

void experiment_ask_again(struct experiment *e, uint64_t now_ns)
{
	e->was_answered = true;
	e->worse_ns = 0;
	open_again(e, now_ns);
}

void experiment_predict(struct experiment *e, const struct experiment_params *p,
			uint32_t predicted_ppm)
{
	int32_t above;

	e->predicted = predicted_ppm ? ln_gain(predicted_ppm) : 0;
	above = e->predicted - ln_gain(p->slack_ppm);
	if (!e->evidence.pairs && above > e->evidence.scale)
		e->evidence.scale = above < SCALE_MAX ? above : SCALE_MAX;
}

static bool is_long(const struct experiment *e)
{
	return e->tick == EXPERIMENT_TICK_TESTED;
}

/* Ages the sums: an eighth of a half-life takes a twelfth. */
static void age(struct experiment *e, uint64_t half_life_ns, uint64_t now_ns)
{
	if (now_ns - e->aged_ns > 32 * half_life_ns)
		e->aged_ns = now_ns - 32 * half_life_ns;
	for (; now_ns - e->aged_ns >= half_life_ns / 8; e->aged_ns += half_life_ns / 8)
		evidence_shrink(&e->evidence, 12);
}

/* Whether others on the device lose, where that counts. */
static bool costs_others(const struct experiment_params *p, const struct evidence *seen, int z2)
{
	return p->others_count && evidence_others_lose(seen, z2);
}

/* Whether the gain is like the prediction, which chance would not favour. */
static bool is_as_predicted(const struct experiment *e, const struct experiment_params *p)
{
	int32_t slack = ln_gain(p->slack_ppm), found = evidence_mean(&e->evidence) + slack;

	return !e->was_answered && e->predicted > slack &&
	       found >= e->predicted / 2 - e->predicted / 16 && found <= e->predicted * 2;
}

/*
 * Whether the gain is far below the predicted one, and hardly above the slack: on a full disk pairs
 * differ by a tenth, and to find out more about what is small would cost more than it can gain.
 */
static bool is_far_below(const struct experiment *e, const struct experiment_params *p)
{
	return e->evidence.pairs >= (is_long(e) ? FAR_LONG : FAR_PAIRS) * ONE &&
	       e->predicted > 2 * ln_gain(p->slack_ppm) &&
	       evidence_is_below(&e->evidence, e->predicted / 2 - ln_gain(p->slack_ppm), CLEARLY) &&
	       !evidence_is_above_slack(&e->evidence, HINT);
}

/* The inverse of the share of time that pairs may spend in the worse arm. */
static uint64_t spread(const struct experiment *e, const struct experiment_params *p)
{
	uint64_t share_ppm = BUDGET_OFF * BUDGET_PPM, boosted_ppm;
	int64_t gain = e->found + ln_gain(p->slack_ppm);

	if (e->verdict == EXPERIMENT_PAYS && gain > 0) {
		boosted_ppm = ((uint64_t)BUDGET_PPM << 20) / gain;
		share_ppm = boosted_ppm < share_ppm ? boosted_ppm : share_ppm;
	}
	return PPM / (share_ppm ? share_ppm : 1);
}

static void conclude(struct experiment *e, const struct experiment_params *p,
		     enum experiment_verdict verdict, bool rest, uint64_t now_ns)
{
	e->verdict = verdict;
	e->rests_boosted = rest;
	e->found = evidence_mean(&e->evidence);
	e->aged_ns = now_ns;
	e->reopen_ns = now_ns + e->worse_ns * spread(e, p) / REOPEN;
	e->tries = 0;
	while (e->evidence.pairs > KEEP)
		evidence_shrink(&e->evidence, 2);
}

void experiment_assume(struct experiment *e, const struct experiment_params *p,
		       uint32_t predicted_ppm, uint64_t now_ns)
{
	experiment_begin(e, now_ns);
	e->evidence.scale = SCALE_START;
	experiment_predict(e, p, predicted_ppm);
	e->was_answered = true;
	evidence_assume(&e->evidence, e->predicted - ln_gain(p->slack_ppm));
	conclude(e, p, EXPERIMENT_PAYS, true, now_ns);
	e->is_boosted = true;
}

static uint64_t half_ns(const struct experiment *e, const struct experiment_params *p)
{
	return is_long(e) && p->half_ns < TICK_NS ? TICK_NS : p->half_ns;
}

static uint64_t settle_ns(const struct experiment *e, const struct experiment_params *p)
{
	return is_long(e) ? TICK_NS : p->settle_ns;
}

/*
 * Whether short windows show a gain that a tick may explain, by the silence in them. A tick is
 * silent again and again, and the flush of a disk once.
 */
static bool may_be_of_tick(const struct experiment *e, const struct experiment_params *p)
{
	int64_t gain = evidence_mean(&e->evidence) + ln_gain(p->slack_ppm);
	int64_t silent_us = e->silent_ns / 1000;

	return e->tick == EXPERIMENT_TICK_UNKNOWN && e->evidence.sum > 0 &&
	       SILENT_TICKS * e->silences * TICK_NS >= e->seen_ns &&
	       SILENCES * silent_us << 20 >= gain * (int64_t)(e->seen_ns / 1000);
}

/*
 * A gain that a tick may explain, a hint of one, or none that can be told from a tick's noise, is
 * asked for once more, in long windows; short ones then refresh what they confirm.
 */
static void judge(struct experiment *e, const struct experiment_params *p, uint64_t now_ns)
{
	const struct evidence *seen = &e->evidence;
	bool may_be_tick = may_be_of_tick(e, p), is_far = is_far_below(e, p), answered, over, gains;
	int64_t most = is_long(e) || may_be_tick ? TICK_PAIRS_MOST : PAIRS_MOST;
	int64_t need = evidence_ln(ODDS) / 16;

	if (seen->sum > 0 && is_as_predicted(e, p))
		need -= evidence_ln(PRIOR_ODDS) / 16;
	answered = evidence_ln_odds(seen) >= need || (is_far && seen->sum < 0);
	over = seen->pairs >= most * ONE || e->tries >= 2 * most || is_far;
	gains = (answered && seen->sum > 0) ||
		(over && evidence_is_above_slack(seen, may_be_tick ? HINT : CLEARLY));
	if ((gains || over) && may_be_tick) {
		e->tick = EXPERIMENT_TICK_TESTED;
		e->evidence.scale = SCALE_START;
		open_again(e, now_ns);
	} else if (gains && !costs_others(p, seen, FAINTLY)) {
		if (is_long(e))
			e->tick = EXPERIMENT_TICK_RULED_OUT;
		conclude(e, p, answered ? EXPERIMENT_PAYS : EXPERIMENT_CANT_TELL, true, now_ns);
	} else if (answered && (!gains || is_long(e))) {
		conclude(e, p, EXPERIMENT_DOESNT, false, now_ns);
	} else if (over) {
		conclude(e, p, EXPERIMENT_CANT_TELL, false, now_ns);
	} else if (e->n_equal >= SAME_MOST) {
		conclude(e, p, EXPERIMENT_NONE, false, now_ns);
	}
}

/*
 * Whether an answer is in doubt. With the boost: more than half of the gain is gone, or the device
 * is slower for it. Without: a gain has appeared. Until the cost of the last run is paid back, only
 * what is clear counts: chance alone would reopen the question of a noisy group again and again.
 */
static bool is_in_doubt(const struct experiment *e, const struct experiment_params *p,
			const struct evidence *seen, uint64_t now_ns)
{
	bool is_early = now_ns < e->reopen_ns;
	int z2 = is_early ? CLEARLY : HINT;

	if (!e->rests_boosted)
		return evidence_is_above_slack(seen, z2) && !costs_others(p, seen, FAINTLY);
	return evidence_is_below(seen, e->found / 2, is_early ? CLEARLY : FAINTLY) ||
	       costs_others(p, seen, z2);
}

/* Switches to an arm, which takes settle_ns. */
static void run_arm(struct experiment *e, const struct experiment_params *p, bool arm,
		    uint64_t now_ns)
{
	if (arm != e->is_boosted && e->settled_ns < now_ns + settle_ns(e, p))
		e->settled_ns = now_ns + settle_ns(e, p);
	e->is_boosted = arm;
}

/*
 * On a device that works in ticks, a gain in some phases of the tick is a loss in others: pairs
 * start at random phases.
 */
static void start_pair(struct experiment *e, const struct experiment_params *p, uint64_t now_ns)
{
	bool arm = draw(e) >> 31;

	e->settled_ns = now_ns + (half_ns(e, p) >> 16) * (draw(e) >> 16);
	run_arm(e, p, arm, now_ns);
	e->phase = EXPERIMENT_FIRST_WINDOW;
	e->pair_ns = now_ns;
	e->mark_ns = 0;
}

/* Ends the pair. Asks again if it has put the answer in doubt. */
static void finish_pair(struct experiment *e, const struct experiment_params *p, bool doubtful,
			uint64_t now_ns)
{
	uint64_t worse_ns = (now_ns - e->pair_ns) / 2, pause_ns;

	e->phase = EXPERIMENT_RESTS;
	e->next_ns = now_ns;
	if (e->verdict == EXPERIMENT_OPEN) {
		e->tries++;
		e->worse_ns += worse_ns;
		judge(e, p, now_ns);
	} else if (doubtful) {
		experiment_ask_again(e, now_ns);
	}
	if (e->verdict == EXPERIMENT_OPEN)
		return;
	run_arm(e, p, e->rests_boosted, now_ns);
	if (e->verdict == EXPERIMENT_NONE)
		return;
	/* At random, so that pairs do not coincide with periodic work. */
	pause_ns = worse_ns * spread(e, p);
	e->next_ns = now_ns + pause_ns / 2 + (pause_ns >> 16) * (draw(e) >> 16);
}

void experiment_disturb(struct experiment *e, uint64_t now_ns)
{
	if (e->verdict <= EXPERIMENT_OPEN)
		return;
	evidence_shrink(&e->evidence, 2);
	if (e->tick == EXPERIMENT_TICK_RULED_OUT)
		e->tick = EXPERIMENT_TICK_UNKNOWN;
	e->reopen_ns = now_ns;
	if (!e->phase)
		e->next_ns = now_ns;
}

void experiment_void(struct experiment *e, const struct experiment_params *p, uint64_t now_ns)
{
	if (e->phase)
		finish_pair(e, p, false, now_ns);
}

static struct experiment_window close_window(const struct experiment *e,
					     const struct experiment_tally *tally, uint64_t now_ns)
{
	uint64_t ns = now_ns - e->mark_ns, n = tally->ios - e->mark.ios;
	uint64_t others = tally->other_ios - e->mark.other_ios;
	uint64_t time_ns = tally->time_ns - e->mark.time_ns;

	return (struct experiment_window){
		.rate = evidence_ln(2 * n + 1) - evidence_ln(time_ns ?: 1),
		.other_rate = evidence_ln(1 + others * NS_PER_S / ns),
		.level = time_ns ? (tally->level_ns - e->mark.level_ns) / time_ns : 0,
	};
}

/*
 * A pair that puts an answer in doubt does not count, but a few others follow soon. If one of them
 * does so too, the question is asked again: what falls into a single pair, as the flush of a disk,
 * is not the clock.
 */
static void add_pair(struct experiment *e, const struct experiment_params *p,
		     const struct experiment_window *last, uint64_t now_ns)
{
	const struct experiment_window *on = e->is_boosted ? last : &e->first;
	const struct experiment_window *off = e->is_boosted ? &e->first : last;
	bool answered = e->verdict > EXPERIMENT_OPEN, doubtful, is_first;
	struct evidence seen = e->evidence;

	/* Rounding of OPPs and counters can cause a difference below one thirty-second. */
	if (on->level <= off->level + off->level / 32) {
		e->n_equal += e->n_equal < SAME_MOST;
		finish_pair(e, p, false, now_ns);
		return;
	}
	e->n_equal = 0;
	e->on_level = e->tried ? (3ULL * e->on_level + on->level) / 4 : on->level;
	e->off_level = e->tried ? (3ULL * e->off_level + off->level) / 4 : off->level;
	evidence_add(&seen, on->rate - off->rate - ln_gain(p->slack_ppm),
		     on->other_rate - off->other_rate);
	doubtful = answered && is_in_doubt(e, p, &seen, now_ns);
	is_first = doubtful && !e->tries;
	if (!is_first) {
		e->evidence = seen;
		e->tried++;
	}
	if (answered)
		e->tries = is_first ? RECHECKS : e->tries - (e->tries > 0);
	finish_pair(e, p, doubtful && !is_first, now_ns);
	if (e->verdict > EXPERIMENT_OPEN && e->tries)
		e->next_ns = now_ns + TICK_NS;
}

/* The time between looks: a quarter of the last window, which had at least LEAST_IOS. */
static uint64_t look_ns(const struct experiment *e, const struct experiment_params *p)
{
	uint64_t window_ns = half_ns(e, p);

	return (e->window_ns > window_ns ? e->window_ns : window_ns) / LOOKS;
}

/* Ends a silence. One that is longer than a tick is a pause, which the boost did not cause. */
static void end_silence(struct experiment *e)
{
	if (e->silence_ns && e->silence_ns < TICK_NS * 3 / 4) {
		e->silent_ns += e->silence_ns;
		e->silences++;
	}
	e->silence_ns = 0;
}

static void look(struct experiment *e, const struct experiment_tally *tally, uint64_t now_ns)
{
	uint64_t ns = now_ns - e->looked_ns;

	if (tally->ios == e->looked_ios)
		e->silence_ns += ns;
	else
		end_silence(e);
	e->seen_ns += ns;
	e->looked_ns = now_ns;
	e->looked_ios = tally->ios;
}

/* Ends the window if it is over, and returns whether it is. */
static bool end_window(struct experiment *e, const struct experiment_params *p,
		       const struct experiment_tally *tally, uint64_t now_ns)
{
	uint64_t ns = now_ns - e->mark_ns, n = tally->ios - e->mark.ios, half = half_ns(e, p);
	struct experiment_window window;

	if (e->verdict == EXPERIMENT_OPEN && now_ns - e->looked_ns >= look_ns(e, p))
		look(e, tally, now_ns);
	if (ns < half || (n < LEAST_IOS && ns < WINDOW_MOST * p->half_ns)) {
		e->next_ns = ns < half ? e->mark_ns + half : now_ns + half / 8;
		if (e->verdict == EXPERIMENT_OPEN && e->next_ns > e->looked_ns + look_ns(e, p))
			e->next_ns = e->looked_ns + look_ns(e, p);
		return false;
	}
	e->window_ns = ns;
	end_silence(e);
	window = close_window(e, tally, now_ns);
	e->mark_ns = 0;
	if (n < LEAST_IOS) {
		finish_pair(e, p, false, now_ns);
	} else if (e->phase == EXPERIMENT_FIRST_WINDOW) {
		e->first = window;
		e->phase = EXPERIMENT_SECOND_WINDOW;
		run_arm(e, p, !e->is_boosted, now_ns);
	} else {
		add_pair(e, p, &window, now_ns);
	}
	return true;
}

bool experiment_update(struct experiment *e, const struct experiment_params *p,
		       const struct experiment_tally *tally, uint64_t now_ns)
{
	if (e->phase == EXPERIMENT_SPOILT) {
		finish_pair(e, p, false, now_ns);
		return true;
	}
	if (e->verdict > EXPERIMENT_OPEN)
		age(e, p->half_life_ns, now_ns);
	if (e->verdict == EXPERIMENT_NONE || now_ns < e->next_ns)
		return false;
	if (!e->phase)
		start_pair(e, p, now_ns);
	else if (e->mark_ns && !end_window(e, p, tally, now_ns))
		return false;
	if (!e->phase)
		return true;
	if (now_ns < e->settled_ns) {
		e->next_ns = e->settled_ns;
	} else {
		e->mark_ns = e->looked_ns = now_ns;
		e->mark = *tally;
		e->looked_ios = tally->ios;
		e->next_ns = now_ns +
			     (e->verdict == EXPERIMENT_OPEN ? look_ns(e, p) : half_ns(e, p));
	}
	return false;
}

struct experiment_estimate experiment_estimate(const struct experiment *e,
					       const struct experiment_params *p)
{
	int64_t gain = (int64_t)evidence_mean(&e->evidence) + ln_gain(p->slack_ppm);

	return (struct experiment_estimate){
		.gain_ppm = gain * PPM >> 20,
		.error_ppm = evidence_radius(&e->evidence) * PPM >> 20,
	};
}
