// SPDX-License-Identifier: GPL-2.0-only
/*
 * The experiment on made-up devices, over many seeds: how often it is wrong, how soon it is right,
 * and what it costs.
 */
#include <math.h>

#include "test-core.h"

#include "core/experiment.h"

#define STEP_NS (4 * NS_PER_MS)
#define N_SEEDS 60

static const struct experiment_params params = {
	.half_ns = 16 * NS_PER_MS,
	.settle_ns = 5 * NS_PER_MS,
	.half_life_ns = 6000 * NS_PER_MS,
	.slack_ppm = 20000,
	.others_count = true,
};

/* A rate of the device, and what happens to it meanwhile. */
struct device {
	double rate;  /* I/O/s without the boost */
	double gain;  /* by it */
	double sigma; /* drift: Ornstein-Uhlenbeck, of ln rate … */
	double tau_s; /* … and how long it remembers */
	double pause_every_s, pause_s;
	uint64_t tick_ns; /* it hands out so much per tick: the boost has its part early in each */
	uint64_t budget_ns; /* … or just as many per tick, whoever takes them: its gain is none */
};

struct trial {
	struct experiment e;
	struct experiment_tally tally;
	uint64_t now_ns, random;
	double drift, ios;
	double left;			  /* of the budget of this tick */
	double boosted_s, run_s, first_s; /* first_s: until it was answered; 0: not yet */
};

static double uniform(struct trial *trial)
{
	trial->random ^= trial->random >> 12;
	trial->random ^= trial->random << 25;
	trial->random ^= trial->random >> 27;
	return (double)(trial->random * 2685821657736338717ULL >> 11) / 9007199254740992.0;
}

/* Twelve uniform numbers: near enough to a normal one. */
static double normal(struct trial *trial)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform(trial);
	return sum;
}

static void begin(struct trial *trial, uint64_t seed, uint32_t predicted_ppm)
{
	*trial = (struct trial){ .now_ns = 1000000000, .random = seed * 0x9e3779b97f4a7c15ULL | 1 };
	for (int i = 0; i < 10; i++)
		uniform(trial);
	experiment_init(&trial->e, seed);
	experiment_begin(&trial->e, trial->now_ns);
	experiment_predict(&trial->e, &params, predicted_ppm);
}

static void step(struct trial *trial, const struct device *device)
{
	double s = STEP_NS / 1e9, stay = device->sigma ? exp(-s / device->tau_s) : 0, n;
	bool paused = device->pause_every_s &&
		      fmod(trial->now_ns / 1e9, device->pause_every_s) < device->pause_s;

	trial->drift = trial->drift * stay + sqrt(1 - stay * stay) * normal(trial) * device->sigma;
	n = paused ? 0 : device->rate * exp(trial->drift) * s;
	if (device->tick_ns && trial->e.is_boosted)
		n *= trial->now_ns % device->tick_ns < device->tick_ns / 2 ? 1.5 : 0.5;
	n += (trial->e.is_boosted ? n * device->gain : 0) + 0.3 * sqrt(n) * normal(trial);
	if (device->budget_ns) {
		if (trial->now_ns % device->budget_ns < STEP_NS)
			trial->left = device->rate * 0.9 * device->budget_ns / 1e9;
		n = n < trial->left ? n : trial->left;
		trial->left -= n;
	}
	trial->ios += n > 0 ? n : 0;
	trial->now_ns += STEP_NS;
	trial->run_s += s;
	trial->boosted_s += trial->e.is_boosted * s;
	trial->tally.ios = trial->ios;
	trial->tally.time_ns += STEP_NS;
	trial->tally.level_ns += STEP_NS * (trial->e.is_boosted ? 900 : 400);
	experiment_update(&trial->e, &params, &trial->tally, trial->now_ns);
	if (trial->e.verdict != EXPERIMENT_OPEN && !trial->first_s)
		trial->first_s = trial->run_s;
}

static void run(struct trial *trial, const struct device *device, double s)
{
	for (double end_s = trial->run_s + s; trial->run_s < end_s;)
		step(trial, device);
}

/* Of N_SEEDS runs: in how many it rests boosted in the end, and how much of the time it was. */
static int count_boosted(const struct device *device, uint32_t predicted_ppm, double s,
			 double *ret_share)
{
	int n = 0;

	*ret_share = 0;
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		struct trial trial;

		begin(&trial, seed, predicted_ppm);
		run(&trial, device, 10);
		trial.boosted_s = trial.run_s = 0;
		run(&trial, device, s);
		n += trial.e.rests_boosted;
		*ret_share += trial.boosted_s / trial.run_s / N_SEEDS;
	}
	return n;
}

/* Without a gain it is boosted for next to none of the time, however the device drifts. */
TEST(test_no_gain)
{
	static const struct device devices[] = {
		{ .rate = 3000 },
		{ .rate = 3000, .sigma = 0.15, .tau_s = 0.3 },
		{ .rate = 3000, .sigma = 0.3, .tau_s = 1 },
		{ .rate = 3000, .sigma = 0.05, .tau_s = 0.05 },
		{ .rate = 3000, .pause_every_s = 2, .pause_s = 0.1 },
		{ .rate = 3000, .tick_ns = 24 * NS_PER_MS }, /* as a window and what it settles */
		{ .rate = 3000, .gain = 0.1, .budget_ns = 20 * NS_PER_MS },
		{ .rate = 3000, .gain = 0.1, .budget_ns = 100 * NS_PER_MS },
		{ .rate = 3000, .gain = 0.5, .budget_ns = 20 * NS_PER_MS },
		{ .rate = 3000, .gain = 0.5, .budget_ns = 52 * NS_PER_MS },
		{ .rate = 3000, .gain = 0.5, .budget_ns = 100 * NS_PER_MS },
	};
	static const uint32_t predicted_ppm[] = { 0, 40000, 200000 };

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		for (size_t j = 0; j < 3; j++) {
			double share;
			int n = count_boosted(&devices[i], predicted_ppm[j], 60, &share);

			print_message("drift %.2f: %d of %d rest boosted, %.1f %% of the time\n",
				      devices[i].sigma, n, N_SEEDS, 100 * share);
			assert_true(share < 0.045);
			assert_in_range(n, 0, 3);
		}
}

/* What is too noisy to tell is not asked again and again: chance alone is no doubt. */
TEST(test_noisy_rests)
{
	static const struct device device = { .rate = 500, .sigma = 0.3, .tau_s = 0.05 };
	double share = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct trial trial;

		begin(&trial, seed, 50000);
		run(&trial, &device, 20);
		trial.boosted_s = trial.run_s = 0;
		run(&trial, &device, 400);
		share += trial.boosted_s / trial.run_s / 10;
	}
	print_message("boosted %.1f %% of the time\n", 100 * share);
	assert_true(share < 0.045);
}

/* A gain of a tenth is found and kept. */
TEST(test_gain)
{
	static const struct device devices[] = {
		{ .rate = 3000, .gain = 0.1 },
		{ .rate = 3000, .gain = 0.1, .sigma = 0.15, .tau_s = 0.3 },
		{ .rate = 50000, .gain = 0.1, .sigma = 0.05, .tau_s = 0.3 },
		{ .rate = 3000, .gain = 0.1, .pause_every_s = 2, .pause_s = 0.1 },
	};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		double share;
		int n = count_boosted(&devices[i], 100000, 60, &share);

		print_message("drift %.2f: %d of %d rest boosted, %.1f %% of the time\n",
			      devices[i].sigma, n, N_SEEDS, 100 * share);
		assert_true(share > 0.95);
		assert_in_range(n, N_SEEDS - 3, N_SEEDS);
	}
}

/* A confident prediction on a steady device needs few pairs. */
TEST(test_how_soon)
{
	static const struct {
		double gain, most_s;
	} cases[] = { { 0.1, 0.6 }, { 0.4, 0.35 } };

	for (size_t i = 0; i < 2; i++) {
		const struct device device = { .rate = 50000, .gain = cases[i].gain };
		int soon = 0;

		for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
			struct trial trial;

			begin(&trial, seed, cases[i].gain * 1000000);
			run(&trial, &device, 5);
			soon += trial.e.verdict == EXPERIMENT_PAYS &&
				trial.first_s <= cases[i].most_s;
		}
		assert_in_range(soon, N_SEEDS / 2, N_SEEDS);
	}
}

/* What was so is no more: noticed within 40 s, in nearly all cases. */
TEST(test_change)
{
	struct device device = { .rate = 3000, .sigma = 0.05, .tau_s = 0.3 };

	for (int gains = 0; gains <= 1; gains++) {
		int noticed = 0;

		for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
			struct trial trial;

			begin(&trial, seed, 100000);
			device.gain = gains ? 0.1 : 0;
			run(&trial, &device, 60);
			device.gain = gains ? 0 : 0.1;
			run(&trial, &device, 40);
			noticed += trial.e.rests_boosted != gains;
		}
		print_message("noticed in %d of %d\n", noticed, N_SEEDS);
		assert_in_range(noticed, N_SEEDS * 9 / 10, N_SEEDS);
	}
}

/* What falls into one pair, as when a disk begins to flush now and then, is no reason to ask again.
 */
TEST(test_flushes)
{
	struct device device = { .rate = 10000, .gain = 0.15, .sigma = 0.02, .tau_s = 0.3 };
	double share = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		struct trial trial;

		device.pause_s = device.pause_every_s = 0;
		begin(&trial, seed, 150000);
		run(&trial, &device, 5);
		trial.boosted_s = trial.run_s = 0;
		device.pause_s = 0.02;
		device.pause_every_s = 0.5;
		run(&trial, &device, 60);
		share += trial.boosted_s / trial.run_s / N_SEEDS;
	}
	print_message("boosted %.1f %% of the time\n", 100 * share);
	assert_true(share > 0.985);
}

/*
 * A device that allows as much in each tick, of which far more is predicted: some long windows are
 * enough to see that.
 */
TEST(test_far_below_in_ticks)
{
	const struct device device = { .rate = 3000, .gain = 0.6, .budget_ns = 100 * NS_PER_MS };
	double boosted_s = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		struct trial trial;

		begin(&trial, seed, 600000);
		run(&trial, &device, 12);
		assert_false(trial.e.rests_boosted);
		boosted_s += trial.boosted_s / N_SEEDS;
	}
	print_message("boosted for %.2f s\n", boosted_s);
	assert_true(boosted_s < 2); /* 3.4 with as many pairs as of short windows */
}

/*
 * What is done in half a minute, to the millisecond: the test has no chance in it but its own
 * random numbers, so that each number of experiment_params.h and each term of a formula shows here.
 * A row that has changed is printed as it is now: look at what it says before it is written here.
 */
struct outcome {
	uint32_t verdict, tried, changes, boosted_ms, first_ms;
	int32_t gain_ppm;
	uint32_t error_ppm, rest;
	/* What the next answer rests on. */
	uint32_t next_ms, reopen_ms, silent_ms, seen_ms, on_level, off_level, is_confirmed;
};

struct exact {
	const char *what;
	uint32_t predicted_ppm;
	uint32_t per_s;			       /* I/Os without the boost */
	int32_t gain_permille, later_permille; /* by it; later: from the 16th second on */
	int32_t noise_permille;		       /* of each millisecond */
	int32_t lost_percent;		       /* by others, of each I/O gained */
	uint32_t tick_ms;		       /* all I/Os of so many come at once */
	uint32_t on_level;		       /* 400 without the boost */
	void (*each_s)(struct experiment *e, const struct experiment_params *p, uint64_t now_ns);
	struct outcome is;
	uint32_t flush_ms; /* nothing is done for so long, once in two seconds */
};

static void disturb(struct experiment *e, const struct experiment_params *p, uint64_t now_ns)
{
	experiment_disturb(e, now_ns);
}

static void assume_once(struct experiment *e, const struct experiment_params *p, uint64_t now_ns)
{
	if (now_ns == NS_PER_S)
		experiment_assume(e, p, 150000, now_ns);
}

static bool run_exact(const struct exact *row)
{
	struct test_random random = { 3 };
	struct experiment_estimate found;
	struct experiment_tally tally = { 0 };
	struct experiment e;
	uint64_t parts = 0; /* of an I/O, 2^-20 */
	struct outcome is = { 0 };
	bool arm = false;

	experiment_init(&e, 5);
	experiment_begin(&e, NS_PER_S);
	experiment_predict(&e, &params, row->predicted_ppm);
	for (uint64_t now_ns = NS_PER_S; now_ns < 31 * NS_PER_S; now_ns += NS_PER_MS) {
		uint32_t now_ms = now_ns / NS_PER_MS;
		int32_t gain = now_ms < 17000 ? row->gain_permille : row->later_permille;
		int64_t base = ((int64_t)row->per_s << 20) / 1000;
		int64_t gained = e.is_boosted ? base * gain / 1000 : 0;
		int32_t noise = row->noise_permille
					? (int32_t)test_random_below(&random,
								     2 * row->noise_permille + 1) -
						  row->noise_permille
					: 0;

		if (row->each_s && now_ms % 1000 == 0)
			row->each_s(&e, &params, now_ns);
		if (now_ms % 2000 >= row->flush_ms)
			parts += (base + gained) * (1000 + noise) / 1000;
		if (!row->tick_ms || now_ms % row->tick_ms == 0)
			tally.ios = parts >> 20;
		tally.other_ios += 100 - ((gained * row->lost_percent / 100) >> 20);
		tally.time_ns += NS_PER_MS;
		tally.level_ns += NS_PER_MS * (e.is_boosted ? row->on_level : 400);
		experiment_update(&e, &params, &tally, now_ns);
		is.changes += e.is_boosted != arm;
		is.boosted_ms += e.is_boosted;
		if (!is.first_ms && e.verdict != EXPERIMENT_OPEN)
			is.first_ms = now_ms - 1000;
		arm = e.is_boosted;
	}
	found = experiment_estimate(&e, &params);
	is.verdict = e.verdict;
	is.tried = e.tried;
	is.rest = e.rests_boosted;
	is.gain_ppm = found.gain_ppm;
	is.error_ppm = found.error_ppm;
	is.next_ms = e.next_ns < UINT64_MAX / 2 ? e.next_ns / NS_PER_MS : 0;
	is.reopen_ms = e.reopen_ns / NS_PER_MS;
	is.silent_ms = e.silent_ns / NS_PER_MS;
	is.seen_ms = e.seen_ns / NS_PER_MS;
	is.on_level = e.on_level;
	is.off_level = e.off_level;
	is.is_confirmed = e.tick == EXPERIMENT_TICK_RULED_OUT;
	if (!memcmp(&is, &row->is, sizeof(is)))
		return true;
	print_message("%s: { %u, %u, %u, %u, %u, %d, %u, %u, %u, %u, %u, %u, %u, %u, %u }\n",
		      row->what, is.verdict, is.tried, is.changes, is.boosted_ms, is.first_ms,
		      is.gain_ppm, is.error_ppm, is.rest, is.next_ms, is.reopen_ms, is.silent_ms,
		      is.seen_ms, is.on_level, is.off_level, is.is_confirmed);
	return false;
}

TEST(test_exact)
{
	/*
	 * what, predicted, per s, gain, later, noise, lost, tick, level, each second,
	 * and of it: verdict, tried, changes, boosted, first, gain, error, rest, next, reopen,
	 * silent, seen, level with and without, confirmed
	 */
	/* clang-format off */
	static const struct exact rows[] = {
		{ "a gain", 100000, 20000, 100, 100, 50, 0, 0, 900, NULL,
		  { 2, 11, 19, 29731, 292, 91797, 164588, 1, 31801, 4269, 0, 192, 900, 400, 0 } },
		{ "not predicted", 0, 20000, 100, 100, 50, 0, 0, 900, NULL,
		  { 2, 20, 35, 29515, 604, 94651, 98567, 1, 36344, 7756, 0, 384, 900, 400, 0 } },
		{ "a large one", 600000, 20000, 600, 600, 200, 0, 0, 900, NULL,
		  { 2, 8, 13, 29797, 292, 483283, 2516786, 1, 34770, 7910, 0, 192, 900, 400, 0 } },
		{ "far below what was predicted", 600000, 20000, 50, 50, 100, 0, 0, 900, NULL,
		  { 2, 28, 47, 29324, 1023, 41625, 64172, 1, 33118, 12429, 0, 672, 900, 400, 0 } },
		{ "two fifths of what was predicted", 200000, 20000, 80, 80, 200, 0, 0, 900, NULL,
		  { 2, 23, 39, 29439, 796, 64973, 111231, 1, 31610, 9898, 0, 512, 900, 400, 0 } },
		{ "a small one", 50000, 20000, 30, 30, 300, 0, 0, 900, NULL,
		  { 4, 106, 161, 27563, 4668, 51272, 119953, 1, 33839, 53071, 0, 3200, 900, 400, 0 } },
		{ "none", 100000, 20000, 0, 0, 100, 0, 0, 900, NULL,
		  { 3, 28, 46, 686, 1023, -13891, 67240, 0, 33267, 12429, 0, 672, 900, 400, 0 } },
		{ "none, in noise", 600000, 20000, 0, 0, 800, 0, 0, 900, NULL,
		  { 3, 31, 50, 746, 1155, 48881, 311625, 0, 34743, 13899, 0, 768, 900, 400, 0 } },
		{ "a loss", 100000, 20000, -100, -100, 100, 0, 0, 900, NULL,
		  { 3, 20, 34, 500, 555, -109816, 150578, 0, 33950, 7209, 0, 352, 900, 400, 0 } },
		{ "noise alone", 100000, 2000, 20, 20, 1000, 0, 0, 900, NULL,
		  { 4, 106, 160, 2508, 4670, -10700, 560014, 0, 33719, 53094, 0, 3199, 900, 400, 0 } },
		{ "gone later", 100000, 20000, 100, 0, 50, 0, 0, 900, NULL,
		  { 3, 25, 42, 26014, 292, 3725, 20087, 0, 33349, 34025, 0, 448, 900, 400, 0 } },
		{ "half of it gone", 200000, 20000, 200, 100, 200, 0, 0, 900, NULL,
		  { 2, 11, 19, 29731, 292, 161518, 335138, 1, 31801, 4269, 0, 192, 900, 400, 0 } },
		{ "most of it gone", 200000, 20000, 200, 80, 200, 0, 0, 900, NULL,
		  { 2, 11, 19, 29731, 292, 149230, 329097, 1, 31801, 4269, 0, 192, 900, 400, 0 } },
		{ "comes later", 100000, 20000, 0, 100, 50, 0, 0, 900, NULL,
		  { 2, 33, 57, 4308, 699, 98864, 72233, 1, 32798, 32826, 0, 352, 900, 400, 0 } },
		{ "others lose more", 200000, 20000, 200, 200, 50, 150, 0, 900, NULL,
		  { 4, 106, 160, 2508, 4668, 176019, 206899, 0, 33717, 53071, 0, 3200, 900, 400, 0 } },
		{ "others lose less", 200000, 20000, 200, 200, 50, 50, 0, 900, NULL,
		  { 4, 106, 160, 2508, 4668, 176019, 206899, 0, 33717, 53071, 0, 3200, 900, 400, 0 } },
		{ "in ticks", 200000, 20000, 200, 200, 50, 0, 40, 900, NULL,
		  { 2, 31, 47, 27730, 4599, 181129, 840441, 1, 48914, 53002, 550, 1400, 900, 400, 1 } },
		{ "in ticks, others lose more", 200000, 20000, 200, 200, 50, 150, 40, 900, NULL,
		  { 3, 31, 48, 2329, 4599, 181129, 840441, 0, 48914, 53002, 550, 1400, 900, 400, 0 } },
		{ "in ticks, none", 200000, 20000, 0, 0, 50, 0, 90, 900, NULL,
		  { 3, 25, 38, 2245, 4311, -447484, 1277915, 0, 37507, 49799, 2100, 3516, 900, 400, 0 } },
		{ "ticks of another length", 200000, 20000, 100, 100, 50, 0, 90, 900, NULL,
		  { 4, 37, 54, 5562, 11162, 74312, 775319, 0, 44040, 127594, 2500, 4800, 900, 400, 0 } },
		{ "pauses", 200000, 20000, 100, 100, 50, 0, 110, 900, NULL,
		  { 2, 13, 21, 28635, 2631, -245124, 1704089, 1, 39302, 30813, 0, 2105, 900, 400, 0 } },
		{ "a small one, of a disk that flushes", 80000, 4000, 60, 60, 600, 0, 0, 900, NULL,
		  { 2, 64, 97, 28495, 2709, 152961, 252342, 1, 31791, 31233, 32, 1838, 900, 400, 0 }, 40 },
		{ "slow", 200000, 500, 200, 200, 300, 0, 0, 900, NULL,
		  { 2, 8, 13, 29602, 544, 178090, 1106878, 1, 31229, 7338, 0, 386, 900, 400, 0 } },
		{ "too slow", 200000, 100, 200, 200, 300, 0, 0, 900, NULL,
		  { 4, 0, 100, 14096, 27543, 19803, 1000000, 0, 36103, 312237, 64, 25600, 0, 0, 0 } },
		{ "hardly a level", 200000, 20000, 200, 200, 50, 0, 0, 413, NULL,
		  { 2, 11, 19, 29731, 292, 178017, 367847, 1, 31801, 4269, 0, 192, 413, 400, 0 } },
		{ "the same level", 200000, 20000, 200, 200, 50, 0, 0, 412, NULL,
		  { 0, 0, 6, 73, 151, 19803, 1000000, 0, 1151, 2696, 0, 96, 0, 0, 0 } },
		{ "disturbed", 100000, 20000, 100, 100, 200, 0, 0, 900, disturb,
		  { 2, 37, 71, 29152, 393, 88255, 156488, 1, 35395, 30000, 0, 256, 900, 400, 0 } },
		{ "discarded", 100000, 20000, 100, 100, 200, 0, 0, 900, experiment_void,
		  { 2, 15, 29, 29634, 393, 91100, 133909, 1, 33146, 5397, 0, 256, 900, 400, 0 } },
		{ "assumed small", 100000, 20000, 60, 60, 300, 0, 0, 900, assume_once,
		  { 2, 10, 25, 29746, 1, 77364, 177947, 1, 32793, 1000, 0, 0, 900, 400, 0 } },
		{ "assumed, later gone", 100000, 20000, 150, 30, 100, 0, 0, 900, assume_once,
		  { 2, 7, 15, 29853, 1, 64412, 325100, 1, 31401, 1000, 0, 0, 900, 400, 0 } },
		{ "assumed", 100000, 20000, 150, 150, 100, 0, 0, 900, assume_once,
		  { 2, 7, 15, 29853, 1, 138113, 351306, 1, 31401, 1000, 0, 0, 900, 400, 0 } },
		{ "assumed, none", 100000, 20000, 0, 0, 100, 0, 0, 900, assume_once,
		  { 3, 31, 54, 9191, 1, 7821, 55574, 0, 33524, 22366, 0, 768, 900, 400, 0 } },
	};
	/* clang-format on */
	bool is_same = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_same &= run_exact(&rows[i]);
	assert_true(is_same);
}
