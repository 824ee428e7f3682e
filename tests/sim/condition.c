// SPDX-License-Identifier: GPL-2.0-only
#include "sim/condition.h"

#include <stdbool.h>

#define PPM 1000000

/*
 * The exact update of an Ornstein-Uhlenbeck process (Gillespie 1996) in steps of tau / 32:
 * x' = a · x + σ · √(1 − a²) · z, with a = exp(−1/32).
 */
#define DRIFT_STEPS_PER_TAU 32
#define DRIFT_KEEP_PPM	    969233 /* a */
#define DRIFT_NOISE_PPM	    246144 /* √(1 − a²) */

/* Draws have a deviation of a quarter, which keeps sim_rng_around() off its end at 0. */
static int64_t draw(struct sim_rng *rng)
{
	return ((int64_t)sim_rng_around(rng, PPM, 250) - PPM) * 4;
}

void sim_condition_init(struct sim_condition *condition, const struct platform_device *info,
			uint64_t seed, uint32_t index)
{
	struct sim_rng *rng = &condition->drift_rng;

	*condition = (struct sim_condition){ .info = info };
	/* Behind the streams of the machine and of the devices' service times. */
	sim_rng_init(rng, seed, 1 + PLATFORM_DEVICES_MAX + index);
	condition->pause_seed = sim_rng_next(rng);
	condition->neighbour_seed = sim_rng_next(rng);
	condition->log_speed_ppm = draw(rng) * info->drift_permille / 1000;
}

static void drift(struct sim_condition *condition, uint64_t now_ns)
{
	uint64_t steps = now_ns * DRIFT_STEPS_PER_TAU / condition->info->drift_tau_ns;

	for (; condition->drift_steps < steps; condition->drift_steps++) {
		int64_t z = draw(&condition->drift_rng) * DRIFT_NOISE_PPM / PPM;

		condition->log_speed_ppm = condition->log_speed_ppm * DRIFT_KEEP_PPM / PPM +
					   z * condition->info->drift_permille / 1000;
	}
}

/* exp(x) = (1 + x / 2^10)^(2^10); within 0.2 % where |x| is at most 2, which is 4 deviations. */
static uint64_t exp_ppm(int64_t x_ppm)
{
	const int64_t limit = 2 * PPM;
	int64_t x = x_ppm < -limit ? -limit : x_ppm > limit ? limit : x_ppm;
	uint64_t y = (1LL << 30) + x * (1LL << 20) / PPM;

	for (int i = 0; i < 10; i++)
		y = y * y >> 30;
	return y * PPM >> 30;
}

/* One in each period, at a random place in it: times can be asked about in any order. */
static bool is_within(const struct platform_spell *spell, uint64_t seed, uint64_t at_ns,
		      uint64_t *ret_end_ns)
{
	struct sim_rng rng;
	uint64_t start_ns;

	if (!spell->every_ns)
		return false;
	sim_rng_init(&rng, seed, at_ns / spell->every_ns);
	start_ns = at_ns / spell->every_ns * spell->every_ns +
		   sim_rng_below(&rng, spell->every_ns - spell->for_ns);
	*ret_end_ns = start_ns + spell->for_ns;
	return at_ns >= start_ns && at_ns < *ret_end_ns;
}

uint64_t sim_condition_slowness_ppm(struct sim_condition *condition, uint64_t now_ns)
{
	const struct platform_device *info = condition->info;
	uint64_t slowness_ppm = PPM, end_ns;

	if (info->drift_permille) {
		drift(condition, now_ns);
		slowness_ppm = exp_ppm(-condition->log_speed_ppm);
	}
	if (is_within(&info->neighbour, condition->neighbour_seed, now_ns, &end_ns))
		slowness_ppm = slowness_ppm * 1000 / (1000 - info->neighbour_permille);
	return slowness_ppm;
}

uint64_t sim_condition_after_pause(const struct sim_condition *condition, uint64_t at_ns)
{
	uint64_t end_ns;

	return is_within(&condition->info->pause, condition->pause_seed, at_ns, &end_ns) ? end_ns
											 : at_ns;
}
