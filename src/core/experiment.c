// SPDX-License-Identifier: GPL-2.0-only
#include "core/experiment.h"

#include "core/experiment_params.h"

#define PPM 1000000U

/* ln x · 2^20, x > 0: the bits of log2 by repeated squaring. */
static int32_t ln_q20(uint64_t x)
{
	int msb = 63 - __builtin_clzll(x);
	uint64_t m = x << (63 - msb) >> 32, log2 = msb;

	for (int i = 0; i < 20; i++) {
		m = m * m >> 31;
		log2 <<= 1;
		if (m >> 32) {
			m >>= 1;
			log2 |= 1;
		}
	}
	return log2 * 726817 >> 20; /* ln 2 · 2^20 */
}

static uint64_t root(uint64_t x)
{
	uint64_t r = 0;

	for (uint64_t bit = 1ULL << 31; bit; bit >>= 1)
		if ((r | bit) * (r | bit) <= x)
			r |= bit;
	return r;
}

static int32_t ln_gain(uint32_t ppm)
{
	return ln_q20(PPM + (uint64_t)ppm) - ln_q20(PPM);
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
		.scale = SCALE_START,
		.next_ns = UINT64_MAX,
	};
}

static void open_again(struct experiment *e, uint64_t now_ns)
{
	e->sum = e->squares = e->weight = e->pairs = 0;
	e->device_sum = e->device_squares = 0;
	e->tries = 0;
	e->same = 0;
	e->silent_ns = e->seen_ns = 0;
	e->verdict = EXPERIMENT_OPEN;
	e->next_ns = now_ns;
}

void experiment_begin(struct experiment *e, uint64_t now_ns)
{
	e->again = false;
	e->is_long = e->is_confirmed = false;
	e->worse_ns = 0;
	open_again(e, now_ns);
}

void experiment_predict(struct experiment *e, const struct experiment_params *p,
			uint32_t predicted_ppm)
{
	int32_t above;

	e->predicted = predicted_ppm ? ln_gain(predicted_ppm) : 0;
	above = e->predicted - ln_gain(p->slack_ppm);
	if (!e->pairs && above > e->scale)
		e->scale = above < SCALE_MAX ? above : SCALE_MAX;
}

static void shrink(struct experiment *e, int by)
{
	e->sum -= e->sum / by;
	e->squares -= e->squares / by;
	e->weight -= e->weight / by;
	e->pairs -= e->pairs / by;
	e->device_sum -= e->device_sum / by;
	e->device_squares -= e->device_squares / by;
}

/* Ages the sums: an eighth of a half-life takes a twelfth. */
static void age(struct experiment *e, uint64_t half_life_ns, uint64_t now_ns)
{
	if (now_ns - e->aged_ns > 32 * half_life_ns)
		e->aged_ns = now_ns - 32 * half_life_ns;
	for (; now_ns - e->aged_ns >= half_life_ns / 8; e->aged_ns += half_life_ns / 8)
		shrink(e, 12);
}

/* The mean of d − slack. */
static int32_t mean(const struct experiment *e)
{
	return e->weight ? e->sum * ONE / e->weight : 0;
}

/* ln E · 2^16 */
static int64_t ln_evidence(const struct experiment *e)
{
	int64_t t = RHO + e->squares;

	return e->sum * e->sum / (2 * t) - (ln_q20(t) - ln_q20(RHO)) / 32;
}

/* Σ(u − ū)² · 2^16 */
static int64_t squares_about_mean(const struct experiment *e)
{
	int64_t about = e->pairs ? e->sum * e->sum / e->pairs : 0;

	return e->squares > about ? e->squares - about : 0;
}

/* Whether the gain exceeds the slack by more than √z2 of its standard deviations. */
static bool is_above_slack(const struct experiment *e, int z2)
{
	return e->sum > 0 && e->sum * e->sum > z2 * squares_about_mean(e) * ONE;
}

/* Whether others on the device lose more than the group gains, likewise. */
static bool is_device_slower(const struct experiment *e, int z2)
{
	int64_t about = e->pairs ? e->device_sum * e->device_sum / e->pairs * ONE : 0;

	return e->device_sum < 0 &&
	       e->device_sum * e->device_sum > z2 * (e->device_squares - about);
}

static void add(struct experiment *e, const struct experiment_params *p, int32_t d,
		int64_t device_gain)
{
	int64_t x = d - ln_gain(p->slack_ppm), u = x * ONE / e->scale;
	int64_t k = (e->pairs >> Q) + 2, seen;

	u = u > CLIP ? CLIP : u < -CLIP ? -CLIP : u;
	e->sum += u;
	e->squares += u * u / ONE;
	/* The weight is u / x: clipped values count less (Huber 1964). */
	e->weight += u == CLIP || u == -CLIP ? u * ONE / x : (1LL << 32) / e->scale;
	e->pairs += ONE;
	e->tried++;
	e->device_sum += device_gain;
	e->device_squares += device_gain * device_gain;
	seen = x < 0 ? -x : x;
	seen = seen < 4LL * e->scale ? seen : 4LL * e->scale;
	e->scale += (seen - e->scale) / (k < MEMORY ? k : MEMORY);
	e->scale = e->scale < SCALE_MIN ? SCALE_MIN : e->scale > SCALE_MAX ? SCALE_MAX : e->scale;
}

/* Whether the gain is like the prediction, which chance would not favour. */
static bool is_as_predicted(const struct experiment *e, const struct experiment_params *p)
{
	int32_t slack = ln_gain(p->slack_ppm), found = mean(e) + slack;

	return !e->again && e->predicted > slack && found >= e->predicted / 2 - e->predicted / 16 &&
	       found <= e->predicted * 2;
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
	e->rest = rest;
	e->found = mean(e);
	e->aged_ns = now_ns;
	e->reopen_ns = now_ns + e->worse_ns * spread(e, p) / REOPEN;
	e->tries = 0;
	while (e->pairs > KEEP)
		shrink(e, 2);
}

void experiment_assume(struct experiment *e, const struct experiment_params *p,
		       uint32_t predicted_ppm, uint64_t now_ns)
{
	int64_t u;

	experiment_begin(e, now_ns);
	e->scale = SCALE_START;
	experiment_predict(e, p, predicted_ppm);
	e->again = true;
	/* As if so many pairs had been seen, with a deviation of scale. */
	u = (e->predicted - ln_gain(p->slack_ppm)) * ONE / e->scale;
	e->pairs = ASSUMED;
	e->sum = ASSUMED * u / ONE;
	e->squares = ASSUMED * (u * u / ONE + ONE) / ONE;
	e->weight = ASSUMED * ((1LL << 32) / e->scale) / ONE;
	conclude(e, p, EXPERIMENT_PAYS, true, now_ns);
	e->arm = true;
}

static uint64_t half_ns(const struct experiment *e, const struct experiment_params *p)
{
	return e->is_long && p->half_ns < TICK_NS ? TICK_NS : p->half_ns;
}

static uint64_t settle_ns(const struct experiment *e, const struct experiment_params *p)
{
	return e->is_long ? TICK_NS : p->settle_ns;
}

/* Whether short windows show a gain that a tick may explain, by the silence in them. */
static bool may_be_of_tick(const struct experiment *e, const struct experiment_params *p)
{
	int64_t gain = mean(e) + ln_gain(p->slack_ppm), silent_us = e->silent_ns / 1000;

	return !e->is_long && !e->is_confirmed && e->sum > 0 &&
	       SILENCES * silent_us << 20 >= gain * (int64_t)(e->seen_ns / 1000);
}

/*
 * A gain that a tick may explain, or a hint of one, is asked for once more, in long windows; short
 * ones then refresh what they confirm.
 */
static void judge(struct experiment *e, const struct experiment_params *p, uint64_t now_ns)
{
	bool may_be_tick = may_be_of_tick(e, p), answered, over, gains;
	int64_t most = e->is_long || may_be_tick ? TICK_PAIRS_MOST : PAIRS_MOST;
	int64_t need = ln_q20(ODDS) / 16;

	if (e->sum > 0 && is_as_predicted(e, p))
		need -= ln_q20(PRIOR_ODDS) / 16;
	answered = ln_evidence(e) >= need;
	over = e->pairs >= most * ONE || e->tries >= 2 * most;
	gains = (answered && e->sum > 0) ||
		(over && is_above_slack(e, may_be_tick ? HINT : CLEARLY));
	if (gains && may_be_tick) {
		e->is_long = true;
		e->scale = SCALE_START;
		open_again(e, now_ns);
	} else if (gains && !is_device_slower(e, HINT)) {
		e->is_confirmed |= e->is_long;
		e->is_long = false;
		conclude(e, p, answered ? EXPERIMENT_PAYS : EXPERIMENT_CANT_TELL, true, now_ns);
	} else if (answered && !gains) {
		conclude(e, p, EXPERIMENT_DOESNT, false, now_ns);
	} else if (over) {
		conclude(e, p, EXPERIMENT_CANT_TELL, false, now_ns);
	} else if (e->same >= SAME_MOST) {
		conclude(e, p, EXPERIMENT_NONE, false, now_ns);
	}
}

/*
 * Whether an answer is in doubt. With the boost: more than half of the gain is gone, or the device
 * is slower for it. Without: a gain has appeared. Until the cost of the last run is paid back, only
 * what is clear counts: chance alone would reopen the question of a noisy group again and again.
 */
static bool is_in_doubt(const struct experiment *e, uint64_t now_ns)
{
	int64_t lost = e->weight * (e->found / 2) / ONE - e->sum;
	int64_t squares = squares_about_mean(e) * ONE;
	bool is_early = now_ns < e->reopen_ns;
	int z2 = is_early ? CLEARLY : HINT;

	if (!e->rest)
		return is_above_slack(e, z2) && !is_device_slower(e, HINT);
	return (lost > 0 && lost * lost > (is_early ? CLEARLY * squares : squares / 4)) ||
	       is_device_slower(e, z2);
}

/* Switches to an arm, which takes settle_ns. */
static void run_arm(struct experiment *e, const struct experiment_params *p, bool arm,
		    uint64_t now_ns)
{
	if (arm != e->arm && e->settled_ns < now_ns + settle_ns(e, p))
		e->settled_ns = now_ns + settle_ns(e, p);
	e->arm = arm;
}

/*
 * On a device that works in ticks, a gain in some phases of the tick is a loss in others: pairs
 * start at random phases.
 */
static void start_pair(struct experiment *e, const struct experiment_params *p, uint64_t now_ns)
{
	e->order = draw(e) >> 31;
	e->settled_ns = now_ns + (half_ns(e, p) >> 16) * (draw(e) >> 16);
	e->window = 1;
	e->pair_ns = now_ns;
	e->mark_ns = 0;
}

/* Ends the pair. Asks again if it has put the answer in doubt. */
static void finish_pair(struct experiment *e, const struct experiment_params *p, bool doubtful,
			uint64_t now_ns)
{
	uint64_t worse_ns = (now_ns - e->pair_ns) / 2, pause_ns;

	e->window = 0;
	e->next_ns = now_ns;
	if (e->verdict == EXPERIMENT_OPEN) {
		e->tries++;
		e->worse_ns += worse_ns;
		judge(e, p, now_ns);
	} else if (doubtful) {
		e->again = true;
		e->worse_ns = 0;
		open_again(e, now_ns);
	}
	if (e->verdict == EXPERIMENT_OPEN)
		return;
	run_arm(e, p, e->rest, now_ns);
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
	shrink(e, 2);
	e->is_confirmed = false;
	e->reopen_ns = now_ns;
	if (!e->window)
		e->next_ns = now_ns;
}

void experiment_void(struct experiment *e, const struct experiment_params *p, uint64_t now_ns)
{
	if (e->window)
		finish_pair(e, p, false, now_ns);
}

static struct experiment_window close_window(const struct experiment *e,
					     const struct experiment_tally *tally, uint64_t now_ns)
{
	uint64_t ns = now_ns - e->mark_ns, n = tally->ios - e->mark.ios;
	uint64_t device = n + tally->other_ios - e->mark.other_ios;
	uint64_t time_ns = tally->time_ns - e->mark.time_ns;

	return (struct experiment_window){
		.rate = ln_q20(2 * n + 1) - ln_q20(time_ns ?: 1),
		.device_rate = device * 1000 * NS_PER_MS / ns,
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
	const struct experiment_window *on = e->order ? &e->first : last;
	const struct experiment_window *off = e->order ? last : &e->first;
	const struct experiment before = *e;
	bool doubtful;

	/* Rounding of OPPs and counters can cause a difference below one thirty-second. */
	if (!p->any_level && on->level <= off->level + off->level / 32) {
		e->same += e->same < SAME_MOST;
		finish_pair(e, p, false, now_ns);
		return;
	}
	e->same = 0;
	e->on_level = e->tried ? (3ULL * e->on_level + on->level) / 4 : on->level;
	e->off_level = e->tried ? (3ULL * e->off_level + off->level) / 4 : off->level;
	add(e, p, on->rate - off->rate, (int64_t)on->device_rate - off->device_rate);
	if (e->verdict == EXPERIMENT_OPEN) {
		finish_pair(e, p, false, now_ns);
		return;
	}
	doubtful = is_in_doubt(e, now_ns);
	if (doubtful && !before.tries) {
		*e = before;
		e->tries = RECHECKS + 1;
	}
	e->tries -= e->tries > 0;
	finish_pair(e, p, doubtful && before.tries, now_ns);
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
	if (e->silence_ns < TICK_NS * 3 / 4)
		e->silent_ns += e->silence_ns;
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
	} else if (e->window == 1) {
		e->first = window;
		e->window = 2;
	} else {
		add_pair(e, p, &window, now_ns);
	}
	return true;
}

bool experiment_update(struct experiment *e, const struct experiment_params *p,
		       const struct experiment_tally *tally, uint64_t now_ns)
{
	if (e->verdict > EXPERIMENT_OPEN)
		age(e, p->half_life_ns, now_ns);
	if (e->verdict == EXPERIMENT_NONE || now_ns < e->next_ns)
		return false;
	if (!e->window)
		start_pair(e, p, now_ns);
	else if (e->mark_ns && !end_window(e, p, tally, now_ns))
		return false;
	if (!e->window)
		return true;
	run_arm(e, p, e->window == 1 ? e->order : !e->order, now_ns);
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

/* Uses the spread about the mean: exact at the slack, approximate elsewhere. */
struct experiment_estimate experiment_estimate(const struct experiment *e,
					       const struct experiment_params *p)
{
	int64_t t = RHO + squares_about_mean(e);
	int64_t need = ln_q20(ODDS) / 16 + (ln_q20(t) - ln_q20(RHO)) / 32;
	int64_t radius = e->weight ? (int64_t)root(2 * t * need) * ONE / e->weight : SCALE_MAX;

	return (struct experiment_estimate){
		.gain_ppm = ((int64_t)mean(e) + ln_gain(p->slack_ppm)) * PPM >> 20,
		.error_ppm = radius * PPM >> 20,
	};
}
