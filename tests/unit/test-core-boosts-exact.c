// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads of half a minute, each with something that happens to it, and what came of it to the last
 * count. Nothing is left to chance here, so that each constant and condition of the boosts shows in
 * some number. A row that has changed is printed as it is now: look at what it says before it is
 * written here. What the numbers should be about is in the other tests of the boosts.
 */
#include "test-core-boosts.h"

#include "config/keys.h"
#include "core/rule.h"

#define RUN_MS 30000
#define TASKS  3

enum incident {
	NOTHING,
	MOVES,	  /* the first task, to the other domain and back */
	FLIPS,	  /* the same every 30 ms, for two seconds */
	PAUSES,	  /* it stops for 40 ms, and later for five seconds */
	ENDS,	  /* it exits, and the same comes again */
	SLOWS,	  /* its device takes four times as long, and then as before */
	DEVICE,	  /* the device goes, and comes again */
	LIMITS,	  /* 800 to 1200 MHz for the first domain, and all again */
	WORKS,	  /* its CPU works beside it for three seconds */
	OBSERVED, /* the first domain is not driven for three seconds */
	INACTIVE, /* it is offline for three seconds */
	COMES,	  /* another task, at the other end of the domain */
};

struct load {
	enum fake_io_kind kind; /* NONE: there is no such task */
	uint32_t cpu, device, device_us, host_us;
	uint32_t variation_percent, think_us;
	bool asynchronous;
};

struct figures {
	uint32_t rounds, samples, learnt_ms;
	uint32_t changes[2];
	uint64_t mhz_ms[2];  /* the sum of the domains' frequencies at each millisecond, in 1000 */
	uint32_t ios[TASKS]; /* in hundreds */
	uint32_t states;     /* of the tasks, a decimal digit each */
	uint32_t wanted_mhz;
};

struct row {
	const char *what;
	struct load tasks[TASKS];
	enum incident incident;
	struct figures is;
};

static void start_task(const struct row *row, uint32_t i)
{
	const struct load *load = &row->tasks[i];
	struct fake_io io = boosts_io(load->kind, load->device, load->device_us, load->host_us);

	if (load->kind == FAKE_IO_NONE)
		return;
	io.variation_percent = load->variation_percent;
	io.random = 0x9e3779b97f4a7c15ULL + i;
	io.think_ns = load->think_us * NS_PER_US;
	io.asynchronous = load->asynchronous;
	world_start_io(i, 100 + i, load->cpu, &io);
}

static void observe(bool observed)
{
	world->domains[0].observed = observed;
	world_set_active(0, true);
	world_round();
}

/* What happens at that millisecond. */
static void happen(const struct row *row, uint32_t ms)
{
	bool begins = ms == 10000, ends = ms == 13000;

	if (row->incident == FLIPS && ms >= 10000 && ms < 12000 && ms % 30 == 0)
		world_move_task(0, ms % 60 ? 0 : 2);
	if (row->incident == PAUSES && (ms == 5000 || ms == 10000))
		world_stop_io(0);
	if (row->incident == PAUSES && (ms == 5040 || ms == 15000))
		world->tasks[0].io.stopped = false;
	if (row->incident == PAUSES && (ms == 5042 || ms == 15002)) {
		world_tell_task(0);
		world_round();
	}
	if (!begins && !ends)
		return;
	switch (row->incident) {
	case MOVES:
		world_move_task(0, begins ? 2 : 0);
		break;
	case ENDS:
		if (begins)
			world_end_task(0);
		else
			start_task(row, 0);
		world_round();
		break;
	case SLOWS:
		world->tasks[0].io.device_ns = begins ? 4 * world->tasks[0].io.device_ns
						      : world->tasks[0].io.device_ns / 4;
		break;
	case DEVICE:
		if (begins)
			world_end_device(0);
		world->devices[0].present = ends;
		world_round();
		break;
	case LIMITS:
		world_set_limits(0, LOWEST_KHZ, begins ? 1200000 : HIGHEST_KHZ);
		world_round();
		break;
	case WORKS:
		world_switch(0, begins);
		break;
	case OBSERVED:
		observe(begins);
		break;
	case INACTIVE:
		world_set_active(0, ends);
		world_round();
		break;
	case COMES:
		if (begins)
			start_task(row, 2);
		break;
	default:
		break;
	}
}

static uint32_t ios_of(uint32_t task)
{
	const struct fake_io *io = &world->tasks[task].io;

	return (io->io_starts > io->io_waits ? io->io_starts : io->io_waits) / 100;
}

static bool run_row(const struct row *row)
{
	struct figures is = { 0 };
	struct policy policy;

	policy_init(&policy);
	boosts_start(&policy);
	world->watches = true;
	for (uint32_t i = 0; i < TASKS; i++)
		if (i != 2 || row->incident != COMES)
			start_task(row, i);
	for (uint32_t ms = 0; ms < RUN_MS; ms++) {
		happen(row, ms);
		boosts_run(NS_PER_MS);
		is.learnt_ms += engine_learns(world->engine);
		for (uint32_t i = 0; i < 2; i++)
			is.mhz_ms[i] += world_last(i)->target_khz / 1000;
	}
	is.rounds = world->rounds;
	is.samples = world->samples;
	for (uint32_t i = 0; i < TASKS; i++) {
		const struct io_task *task = world_task(i);

		is.ios[i] = ios_of(i);
		is.states = 10 * is.states + (task ? task->io_boost.state : 9);
		if (!i)
			is.wanted_mhz = task ? task->io_boost.wanted_khz / 1000 : 0;
	}
	for (uint32_t i = 0; i < 2; i++) {
		is.changes[i] = world->domains[i].changes;
		is.mhz_ms[i] /= 1000;
	}
	world_deinit();
	if (!memcmp(&is, &row->is, sizeof(is)))
		return true;
	print_message("%s: { %u, %u, %u, { %u, %u }, { %llu, %llu }, { %u, %u, %u }, %u, %u }\n",
		      row->what, is.rounds, is.samples, is.learnt_ms, is.changes[0], is.changes[1],
		      (unsigned long long)is.mhz_ms[0], (unsigned long long)is.mhz_ms[1], is.ios[0],
		      is.ios[1], is.ios[2], is.states, is.wanted_mhz);
	return false;
}

/* clang-format off */
#define A_TENTH { FAKE_IO_SYNC, 0, 0, 90, 10, 20, 0, false }
#define A_HALF { FAKE_IO_SYNC, 0, 0, 50, 50, 20, 0, false }
#define A_HALF_BESIDE { FAKE_IO_SYNC, 1, 1, 50, 50, 20, 0, false }
#define A_HALF_ELSEWHERE { FAKE_IO_SYNC, 2, 0, 50, 50, 20, 0, false }
#define SLOW { FAKE_IO_SYNC, 0, 0, 1500, 300, 20, 0, false }
#define DEEP { FAKE_IO_DEEP, 1, 0, 20, 5, 0, 0, false }
#define PACED { FAKE_IO_PACED, 0, 0, 100, 30, 20, 0, false }
#define COUNTED { FAKE_IO_COUNTED, 0, 0, 80, 20, 20, 0, false }
#define THINKS { FAKE_IO_SYNC, 0, 0, 90, 10, 20, 300, false }
#define LIBAIO { FAKE_IO_SYNC, 0, 0, 60, 40, 20, 0, true }
#define NOISY { FAKE_IO_SYNC, 0, 0, 97, 3, 300, 0, false }
#define NO_GAIN { FAKE_IO_SYNC, 0, 0, 995, 5, 20, 0, false }

TEST(test_exact)
{
	/*
	 * what, tasks, incident, and of it: rounds, samples, learnt, changes,
	 * frequency, I/Os, states, wanted
	 */
	static const struct row rows[] = {
		{ "a tenth", { A_TENTH }, NOTHING,
		  { 514, 435, 1819, { 24, 1 }, { 65582, 24000 }, { 2967, 0, 0 }, 599, 2200 } },
		{ "a half", { A_HALF }, NOTHING,
		  { 488, 409, 1838, { 14, 1 }, { 71704, 24000 }, { 2990, 0, 0 }, 599, 2400 } },
		{ "two", { A_HALF, A_HALF_BESIDE }, NOTHING,
		  { 1127, 1066, 1841, { 14, 1 }, { 71704, 24000 }, { 2991, 2990, 0 }, 529, 2400 } },
		{ "two domains", { A_HALF, A_HALF_ELSEWHERE }, NOTHING,
		  { 789, 809, 1980, { 14, 14 }, { 71704, 71704 }, { 2991, 2991, 0 }, 559, 2400 } },
		{ "slow", { SLOW }, NOTHING,
		  { 688, 617, 1620, { 16, 1 }, { 71206, 24000 }, { 166, 0, 0 }, 599, 2400 } },
		{ "deep", { DEEP }, NOTHING,
		  { 369, 308, 1580, { 1, 1 }, { 24000, 24000 }, { 14999, 0, 0 }, 199, 0 } },
		{ "deep beside", { A_TENTH, DEEP }, NOTHING,
		  { 777, 829, 1886, { 24, 1 }, { 65582, 24000 }, { 2967, 14999, 0 }, 519, 2200 } },
		{ "paced", { PACED }, NOTHING,
		  { 1065, 973, 1641, { 57, 1 }, { 25219, 24000 }, { 3000, 0, 0 }, 699, 2400 } },
		{ "counted", { COUNTED }, NOTHING,
		  { 515, 488, 1858, { 32, 1 }, { 71364, 24000 }, { 2988, 0, 0 }, 599, 2400 } },
		{ "thinks", { THINKS }, NOTHING,
		  { 1021, 897, 1746, { 98, 1 }, { 52599, 24000 }, { 743, 0, 0 }, 599, 1800 } },
		{ "libaio", { LIBAIO }, NOTHING,
		  { 477, 401, 1762, { 14, 1 }, { 71704, 24000 }, { 2992, 0, 0 }, 599, 2400 } },
		{ "noisy", { NOISY }, NOTHING,
		  { 1496, 1329, 1553, { 163, 1 }, { 26334, 24000 }, { 3020, 0, 0 }, 799, 1800 } },
		{ "no gain", { NO_GAIN }, NOTHING,
		  { 370, 310, 1500, { 1, 1 }, { 24000, 24000 }, { 297, 0, 0 }, 199, 0 } },
		{ "moves", { A_HALF }, MOVES,
		  { 489, 410, 1836, { 16, 3 }, { 66904, 28800 }, { 2991, 0, 0 }, 599, 2400 } },
		{ "flips", { A_HALF, A_HALF_BESIDE }, FLIPS,
		  { 1210, 1149, 1841, { 16, 3 }, { 71660, 27278 }, { 2991, 2989, 0 }, 529, 2400 } },
		{ "pauses", { A_HALF }, PAUSES,
		  { 390, 333, 379, { 18, 1 }, { 63662, 24000 }, { 2487, 0, 0 }, 599, 2400 } },
		{ "counted pauses", { COUNTED }, PAUSES,
		  { 426, 411, 345, { 36, 1 }, { 63323, 24000 }, { 2485, 0, 0 }, 599, 2400 } },
		{ "ends", { A_HALF, A_HALF_BESIDE }, ENDS,
		  { 979, 910, 2110, { 26, 1 }, { 71430, 24000 }, { 1697, 2982, 0 }, 559, 2400 } },
		{ "slows", { A_TENTH }, SLOWS,
		  { 499, 425, 2018, { 24, 1 }, { 65582, 24000 }, { 2753, 0, 0 }, 599, 2200 } },
		{ "device", { A_HALF, A_HALF_BESIDE }, DEVICE,
		  { 1261, 1156, 2000, { 24, 1 }, { 71459, 24000 }, { 2983, 2982, 0 }, 529, 2400 } },
		{ "limits", { A_HALF }, LIMITS,
		  { 489, 408, 1841, { 16, 1 }, { 68104, 24000 }, { 2890, 0, 0 }, 599, 2400 } },
		{ "works", { A_TENTH }, WORKS,
		  { 519, 436, 1819, { 24, 1 }, { 66222, 24000 }, { 2971, 0, 0 }, 599, 2200 } },
		{ "observed", { A_HALF }, OBSERVED,
		  { 489, 408, 1836, { 14, 1 }, { 71704, 24000 }, { 2991, 0, 0 }, 599, 2400 } },
		{ "inactive", { A_HALF }, INACTIVE,
		  { 489, 408, 1836, { 15, 1 }, { 71704, 24000 }, { 2991, 0, 0 }, 599, 2400 } },
		{ "comes", { A_TENTH, DEEP, A_HALF_ELSEWHERE }, COMES,
		  { 960, 1250, 1940, { 24, 12 }, { 65582, 55758 }, { 2968, 14999, 1992 }, 515, 2200 } },
		{ "slow pauses", { SLOW, A_HALF_BESIDE }, PAUSES,
		  { 1075, 972, 1966, { 14, 1 }, { 71704, 24000 }, { 138, 2991, 0 }, 259, 2400 } },
	};
	/* clang-format on */
	bool is_same = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_same &= run_row(&rows[i]);
	assert_true(is_same);
}
