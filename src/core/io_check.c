// SPDX-License-Identifier: GPL-2.0-only
#include "core/io_check.h"

#include "core/io_model.h"

#define NS_PER_MS	 1000000ULL

#define LEAST_IOS	 32
#define LEAST_NS	 (40 * NS_PER_MS) /* some looks, to see how steady it is */
#define SETTLE_NS	 (5 * NS_PER_MS)  /* for what was in flight at the old level */
#define CALIBRATION_MOST 4000U
#define SOON_PAUSES	 4 /* the least time for which a result is trusted */

void io_check_init(struct io_check *check)
{
	*check = (struct io_check){ .calibration_permille = 1000 };
}

static void enter(struct io_check *check, enum io_check_state state, uint64_t settled_ns)
{
	check->state = state;
	check->window.start_ns = 0;
	check->settled_ns = settled_ns;
}

void io_check_begin(struct io_check *check, uint64_t now_ns)
{
	if (check->state == IO_CHECK_OFF)
		enter(check, IO_CHECK_BASELINE, now_ns);
}

void io_check_restart(struct io_check *check, uint64_t now_ns)
{
	check->trust_ns = 0;
	enter(check, IO_CHECK_BASELINE, now_ns);
}

void io_check_stop(struct io_check *check)
{
	if (check->state == IO_CHECK_BASELINE || check->state == IO_CHECK_TRIAL)
		enter(check, IO_CHECK_OFF, 0);
}

void io_check_disturb(struct io_check *check, uint64_t now_ns, uint64_t for_ns)
{
	if (check->state == IO_CHECK_BASELINE || check->state == IO_CHECK_TRIAL)
		enter(check, IO_CHECK_BASELINE, now_ns + for_ns);
}

static uint64_t slack_ppm(const struct policy_io_boost *policy)
{
	return io_ppm_of_percent(policy->slack_percent);
}

/* 1 − X(before) / X(after): of the time of an I/O; 0 when it got slower. */
static uint32_t saved_ppm(const struct io_count *before, const struct io_count *after)
{
	uint64_t expected_milli, ratio_ppm;

	if (!io_count_n(after))
		return 0;
	expected_milli = io_count_n(before) * 1000 * io_count_ns(after) / io_count_ns(before);
	ratio_ppm = expected_milli * 1000 / io_count_n(after);
	return ratio_ppm < IO_PPM ? IO_PPM - ratio_ppm : 0;
}

/* Two standard deviations of the ratio of two counts. */
static uint64_t noise_ppm(const struct io_count *before, const struct io_count *after)
{
	uint64_t a = io_count_deviation_ppm(before), b = io_count_deviation_ppm(after);

	return a > b ? 2 * a + b : 2 * b + a; /* 2 √(a² + b²), at most a tenth too much */
}

bool io_check_moved(uint32_t before_ppm, uint32_t now_ppm)
{
	uint32_t low = before_ppm < now_ppm ? before_ppm : now_ppm;
	uint32_t high = before_ppm < now_ppm ? now_ppm : before_ppm;

	return high - low > high / 4 + IO_PPM / 200;
}

static bool is_over(const struct io_count *window, const struct policy_io_boost *policy)
{
	return io_count_ns(window) >= policy->check_window_ns;
}

/* Whether it is long enough to tell a change of by_ppm, or at least as long as there is time for.
 */
static bool tells(const struct io_count *window, const struct policy_io_boost *policy,
		  uint64_t by_ppm)
{
	if (is_over(window, policy))
		return true;
	return io_count_ns(window) >= LEAST_NS && io_count_n(window) >= LEAST_IOS &&
	       io_count_n(window) >= io_count_to_tell(by_ppm) &&
	       2 * io_count_deviation_ppm(window) <= by_ppm;
}

/*
 * Levels go up and down with utilisation, and the prediction with them: what counts is its mean
 * over the window. u is linear in 1 / f, so the mean is what the window as a whole would save.
 */
static bool update_baseline(struct io_check *check, const struct policy_io_boost *policy,
			    uint32_t predicted_ppm, uint64_t passed_ns, uint64_t now_ns)
{
	struct io_count *window = &check->window;
	uint64_t mean_ppm;

	if (predicted_ppm <= slack_ppm(policy)) {
		window->start_ns = 0; /* there is nothing to compare with here */
		return false;
	}
	check->predicted_sum += predicted_ppm * (passed_ns >> 16);
	if (io_count_ns(window) < LEAST_NS || io_count_n(window) < LEAST_IOS)
		return false;
	mean_ppm = check->predicted_sum / (io_count_ns(window) >> 16);
	if (!tells(window, policy, mean_ppm))
		return false;
	check->base = *window;
	check->predicted_ppm = mean_ppm < IO_PPM ? mean_ppm : IO_PPM;
	enter(check, IO_CHECK_TRIAL, now_ns + SETTLE_NS);
	return true;
}

/* The shortest trial that finds nothing. */
static uint64_t hopeless_after_ns(const struct policy_io_boost *policy)
{
	return policy->check_window_ns / 5;
}

/* Chance has no reason to be like the prediction. */
static bool is_as_predicted(const struct io_check *check, uint64_t noise)
{
	return check->measured_ppm > noise && check->measured_ppm >= check->predicted_ppm / 4 &&
	       check->measured_ppm <= check->predicted_ppm + check->predicted_ppm / 2;
}

static uint64_t trust_for_ns(const struct io_check *check, const struct policy_io_boost *policy,
			     uint64_t noise)
{
	uint64_t least_ns = SOON_PAUSES * policy->backoff_min_ns;
	uint64_t trust_ns = least_ns, most_ns = policy->backoff_max_ns;

	if (most_ns < least_ns)
		most_ns = least_ns;
	if (is_as_predicted(check, noise) && trust_ns < most_ns / 2)
		trust_ns = most_ns / 2;
	if (trust_ns < 2 * check->trust_ns)
		trust_ns = 2 * check->trust_ns;
	return trust_ns < most_ns ? trust_ns : most_ns;
}

static void conclude_paid(struct io_check *check, const struct policy_io_boost *policy,
			  uint64_t noise, uint64_t now_ns)
{
	uint64_t calibration = (uint64_t)check->measured_ppm * 1000 / check->predicted_ppm;

	check->n_checks++;
	check->trust_ns = trust_for_ns(check, policy, noise);
	check->retry_ns = now_ns + check->trust_ns;
	check->calibration_permille = calibration < CALIBRATION_MOST ? calibration
								     : CALIBRATION_MOST;
	check->backoff_ns = 0;
	check->suggested = false;
	enter(check, IO_CHECK_PAID, 0);
}

static void pause_until(struct io_check *check, uint64_t retry_ns)
{
	check->n_checks++;
	check->calibration_permille = 1000;
	check->retry_ns = retry_ns;
	enter(check, IO_CHECK_UNPAID, 0);
}

static void conclude_unpaid(struct io_check *check, const struct policy_io_boost *policy,
			    uint64_t now_ns)
{
	uint64_t trial_ns = io_count_ns(&check->window), least_ns = hopeless_after_ns(policy);

	check->suggested = false;
	check->trust_ns = 0;
	check->backoff_ns = check->backoff_ns ? 2 * check->backoff_ns : policy->backoff_min_ns;
	/* What a trial took longer than it must is paid back twentyfold. */
	if (trial_ns > least_ns && check->backoff_ns < 20 * (trial_ns - least_ns))
		check->backoff_ns = 20 * (trial_ns - least_ns);
	if (check->backoff_ns > policy->backoff_max_ns)
		check->backoff_ns = policy->backoff_max_ns;
	pause_until(check, now_ns + check->backoff_ns);
}

/* The next trial follows at once. */
static void conclude_suggested(struct io_check *check, uint64_t now_ns)
{
	check->n_checks++;
	check->suggested = true;
	enter(check, IO_CHECK_BASELINE, now_ns + SETTLE_NS);
}

/*
 * Next to nothing of what was predicted is there: host time that waits for memory, say, does not
 * shrink with the clock, and what is left of a large prediction can be worth having. Not said at
 * once: a machine that is held up for some milliseconds loses as much.
 */
static bool is_hopeless(const struct io_check *check, const struct policy_io_boost *policy,
			uint64_t noise)
{
	return io_count_ns(&check->window) >= hopeless_after_ns(policy) &&
	       check->measured_ppm + noise < check->predicted_ppm / 8;
}

/*
 * Time is over and the counts too unsteady to tell. Of what was predicted to be large and came true
 * by half at least, the prediction is the better witness; what is little is not worth the doubt.
 */
static bool must_be_believed(const struct io_check *check, const struct policy_io_boost *policy,
			     uint64_t noise)
{
	return is_over(&check->window, policy) && noise > check->predicted_ppm / 2 &&
	       check->predicted_ppm > 5 * slack_ppm(policy) &&
	       check->measured_ppm >= check->predicted_ppm / 2;
}

/* What was seen before the boost is by far less sure than what is seen with it. */
static bool base_is_too_short(const struct io_check *check)
{
	return io_count_deviation_ppm(&check->base) > 2 * io_count_deviation_ppm(&check->window);
}

/*
 * Looking on does not help, and a gain worth having is there, or chance. Of nothing chance says so
 * once in six trials or so, and seldom twice in a row.
 */
static bool suggests(const struct io_check *check, const struct policy_io_boost *policy)
{
	return (is_over(&check->window, policy) || base_is_too_short(check)) &&
	       check->measured_ppm > slack_ppm(policy) &&
	       check->measured_ppm >= check->predicted_ppm / 4;
}

static bool update_trial(struct io_check *check, const struct policy_io_boost *policy,
			 uint64_t now_ns)
{
	struct io_count *window = &check->window;
	uint64_t noise;

	if (!tells(window, policy, check->predicted_ppm))
		return false;
	check->measured_ppm = saved_ppm(&check->base, window);
	noise = noise_ppm(&check->base, window);
	if (check->measured_ppm > slack_ppm(policy) &&
	    (check->measured_ppm > noise || must_be_believed(check, policy, noise)))
		conclude_paid(check, policy, noise, now_ns);
	else if (suggests(check, policy) && (check->suggested || check->trust_ns))
		conclude_paid(check, policy, noise, now_ns);
	else if (suggests(check, policy))
		conclude_suggested(check, now_ns);
	else if (is_over(window, policy) || tells(window, policy, slack_ppm(policy)) ||
		 is_hopeless(check, policy, noise))
		conclude_unpaid(check, policy, now_ns);
	else
		return false;
	return true;
}

bool io_check_update(struct io_check *check, const struct policy_io_boost *policy, uint64_t count,
		     uint32_t predicted_ppm, uint64_t now_ns)
{
	uint64_t passed_ns;

	switch (check->state) {
	case IO_CHECK_OFF:
		return false;
	case IO_CHECK_PAID:
	case IO_CHECK_UNPAID:
		if (now_ns < check->retry_ns)
			return false;
		enter(check, IO_CHECK_BASELINE, now_ns);
		break;
	default:
		break;
	}
	if (now_ns < check->settled_ns)
		return false;
	passed_ns = check->window.start_ns ? now_ns - check->window.seen_ns : 0;
	if (!io_count_look(&check->window, count, now_ns)) {
		check->predicted_sum = 0;
		return false;
	}
	if (check->state == IO_CHECK_BASELINE)
		return update_baseline(check, policy, predicted_ppm, passed_ns, now_ns);
	return update_trial(check, policy, now_ns);
}

uint64_t io_check_next_ns(const struct io_check *check, const struct policy_io_boost *policy,
			  uint64_t now_ns)
{
	switch (check->state) {
	case IO_CHECK_BASELINE:
	case IO_CHECK_TRIAL:
		return now_ns < check->settled_ns ? check->settled_ns : now_ns + policy->window_ns;
	case IO_CHECK_PAID:
	case IO_CHECK_UNPAID:
		/* Over, and nobody to try again for. */
		return now_ns < check->retry_ns ? check->retry_ns : now_ns + policy->window_ns;
	default:
		return UINT64_MAX;
	}
}
