// SPDX-License-Identifier: GPL-2.0-only
#include "core/io_check.h"

#include "core/io_model.h"

#define NS_PER_MS	 1000000ULL

#define LEAST_IOS	 32
#define LEAST_NS	 (10 * NS_PER_MS)
#define SETTLE_NS	 (5 * NS_PER_MS) /* for what was in flight at the old level */
#define VARIATION_SQ	 90000ULL	 /* 0.3², in millionths */
#define CALIBRATION_MOST 4000U

void io_check_init(struct io_check *check)
{
	*check = (struct io_check){ .calibration_permille = 1000 };
}

static void enter(struct io_check *check, enum io_check_state state, uint64_t settled_ns)
{
	check->state = state;
	check->began_ns = 0;
	check->settled_ns = settled_ns;
}

void io_check_begin(struct io_check *check, uint64_t now_ns)
{
	if (check->state == IO_CHECK_OFF)
		enter(check, IO_CHECK_BASELINE, now_ns);
}

void io_check_restart(struct io_check *check, uint64_t now_ns)
{
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

/* n = 0.72 / g²: eight times the variance over the square of the gain. */
static uint64_t ios_to_tell(uint64_t gain_ppm)
{
	uint64_t n;

	if (gain_ppm < 1000)
		gain_ppm = 1000;
	n = 8 * VARIATION_SQ * IO_PPM / (gain_ppm * gain_ppm);
	return n > LEAST_IOS ? n : LEAST_IOS;
}

static uint64_t square_root(uint64_t x)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ULL << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

/* Two standard deviations of a ratio of two counts, in ppm. */
static uint64_t noise_ppm(uint64_t n_before, uint64_t n_after)
{
	uint64_t variance = VARIATION_SQ * 1000000 / n_before + VARIATION_SQ * 1000000 / n_after;

	return 2 * square_root(variance);
}

/* 1 − X(before) / X(after): of the time of an I/O; 0 when it got slower. n > 0. */
static uint32_t saved_ppm(const struct io_check *check, uint64_t n, uint64_t window_ns)
{
	uint64_t before_milli = check->base_count * 1000 * window_ns / check->base_ns;
	uint64_t ratio_ppm = before_milli * 1000 / n;

	return ratio_ppm < IO_PPM ? IO_PPM - ratio_ppm : 0;
}

bool io_check_moved(uint32_t before_ppm, uint32_t now_ppm)
{
	uint32_t low = before_ppm < now_ppm ? before_ppm : now_ppm;
	uint32_t high = before_ppm < now_ppm ? now_ppm : before_ppm;

	return high - low > high / 4 + IO_PPM / 200;
}

/*
 * Levels go up and down with utilisation, and the prediction with them: what counts is its mean
 * over the window. u is linear in 1 / f, so the mean is what the window as a whole would save.
 */
static uint32_t mean_prediction(struct io_check *check, uint32_t predicted_ppm, uint64_t now_ns)
{
	check->seen_ppm_ns += predicted_ppm * (now_ns - check->seen_ns);
	check->seen_ns = now_ns;
	return check->seen_ppm_ns / (now_ns - check->began_ns);
}

static bool update_baseline(struct io_check *check, const struct policy_io_boost *policy,
			    uint64_t n, uint32_t predicted_ppm, uint64_t now_ns)
{
	uint64_t window_ns = now_ns - check->began_ns;
	bool over = window_ns >= policy->check_window_ns;
	uint32_t mean_ppm;

	if (predicted_ppm <= policy->slack_percent * (IO_PPM / 100)) {
		check->began_ns = 0; /* there is nothing to compare with here */
		return false;
	}
	if (!window_ns)
		return false;
	mean_ppm = mean_prediction(check, predicted_ppm, now_ns);
	if (window_ns < LEAST_NS || n < LEAST_IOS || (!over && n < ios_to_tell(mean_ppm)))
		return false;
	check->base_ns = window_ns;
	check->base_count = n;
	check->predicted_ppm = mean_ppm;
	enter(check, IO_CHECK_TRIAL, now_ns + SETTLE_NS);
	return true;
}

static void conclude(struct io_check *check, const struct policy_io_boost *policy, bool paid,
		     uint64_t now_ns)
{
	uint64_t calibration = (uint64_t)check->measured_ppm * 1000 / check->predicted_ppm;

	check->n_checks++;
	if (paid) {
		check->calibration_permille = calibration < CALIBRATION_MOST ? calibration
									     : CALIBRATION_MOST;
		check->backoff_ns = 0;
		enter(check, IO_CHECK_PAID, 0);
		return;
	}
	check->calibration_permille = 1000;
	check->backoff_ns = check->backoff_ns ? 2 * check->backoff_ns : policy->backoff_min_ns;
	if (check->backoff_ns > policy->backoff_max_ns)
		check->backoff_ns = policy->backoff_max_ns;
	check->retry_ns = now_ns + check->backoff_ns;
	enter(check, IO_CHECK_UNPAID, 0);
}

static bool update_trial(struct io_check *check, const struct policy_io_boost *policy, uint64_t n,
			 uint64_t now_ns)
{
	uint64_t slack_ppm = policy->slack_percent * (IO_PPM / 100);
	uint64_t window_ns = now_ns - check->began_ns;
	uint64_t least_ppm;
	bool over = window_ns >= policy->check_window_ns;

	if (!over && (window_ns < LEAST_NS || n < ios_to_tell(check->predicted_ppm)))
		return false;
	check->measured_ppm = n ? saved_ppm(check, n, window_ns) : 0;
	least_ppm = noise_ppm(check->base_count, n ? n : 1);
	if (least_ppm < slack_ppm)
		least_ppm = slack_ppm;
	if (check->measured_ppm > least_ppm)
		conclude(check, policy, true, now_ns);
	else if (over || n >= ios_to_tell(slack_ppm))
		conclude(check, policy, false, now_ns);
	else
		return false;
	return true;
}

bool io_check_update(struct io_check *check, const struct policy_io_boost *policy, uint64_t count,
		     uint32_t predicted_ppm, uint64_t now_ns)
{
	switch (check->state) {
	case IO_CHECK_OFF:
	case IO_CHECK_PAID:
		return false;
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
	/* A count that went back is that of another device, or of one that was reset. */
	if (!check->began_ns || count < check->began_count) {
		check->began_ns = now_ns;
		check->began_count = count;
		check->seen_ns = now_ns;
		check->seen_ppm_ns = 0;
		return false;
	}
	if (check->state == IO_CHECK_BASELINE)
		return update_baseline(check, policy, count - check->began_count, predicted_ppm,
				       now_ns);
	return update_trial(check, policy, count - check->began_count, now_ns);
}

uint64_t io_check_next_ns(const struct io_check *check, const struct policy_io_boost *policy,
			  uint64_t now_ns)
{
	switch (check->state) {
	case IO_CHECK_BASELINE:
	case IO_CHECK_TRIAL:
		return now_ns < check->settled_ns ? check->settled_ns : now_ns + policy->window_ns;
	case IO_CHECK_UNPAID:
		/* Over, and nobody to try again for. */
		return now_ns < check->retry_ns ? check->retry_ns : now_ns + policy->window_ns;
	default:
		return UINT64_MAX;
	}
}
