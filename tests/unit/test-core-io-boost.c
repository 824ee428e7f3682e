// SPDX-License-Identifier: GPL-2.0-only
/* One task's windows: its rate, its device, and what of its time is the host's. */
#include "test-core.h"

#include "config/keys.h"
#include "core/io_boost.h"
#include "core/io_model.h"

#define WINDOW_NS (10 * NS_PER_MS)
#define LEVEL	  (IO_LEVEL_MAX / 2)

struct run {
	struct io_boost boost;
	struct policy_io_boost policy;
	struct input_task task;
	uint64_t now_ns;
};

static struct run begin(void)
{
	struct run run = { .now_ns = NS_PER_S };
	struct policy policy;

	policy_init(&policy);
	run.policy = policy.io_boost;
	run.task = (struct input_task){
		.pid = 1,
		.last_io_ns = run.now_ns,
		.level_q = LEVEL << 10,
	};
	return run;
}

static void sample(struct run *run)
{
	run->task.last_io_ns = run->now_ns;
	io_boost_update(&run->boost, &run->policy, &run->task, true, run->now_ns);
}

/* A window of n I/Os to one device, of which the host had percent of the time. */
static void add_window(struct run *run, uint32_t device, uint64_t n, uint32_t percent)
{
	run->task.n_ios = 1;
	run->task.io_starts += n;
	run->task.io_waits += n;
	run->task.ios[0].device = device;
	run->task.ios[0].ios += n;
	run->task.worked_ns += WINDOW_NS * percent / 100;
	run->task.in_flight_ns += WINDOW_NS * (100 - percent) / 100;
	run->now_ns += WINDOW_NS;
	sample(run);
}

static uint32_t share_percent(const struct run *run)
{
	return (io_share_of_ratio(run->boost.ratio, LEVEL) + 5000) / 10000;
}

TEST(test_first_window)
{
	struct run run = begin();

	sample(&run);
	assert_int_equal(run.boost.state, IO_BOOST_MEASURING);
	assert_int_equal(run.boost.device, IO_BOOST_NO_DEVICE);
	run.now_ns += WINDOW_NS - 1;
	sample(&run);
	assert_int_equal(run.boost.state, IO_BOOST_MEASURING);
	run.now_ns -= WINDOW_NS - 1;
	add_window(&run, 3, 50, 60);
	assert_int_equal(run.boost.state, IO_BOOST_DEVICE_BUSY);
	assert_int_equal(run.boost.device, 3);
	assert_int_equal(run.boost.rate_per_s, 5000);
	assert_int_equal(share_percent(&run), 60);
	assert_int_equal(run.boost.held_ratio, run.boost.ratio);
	assert_false(run.boost.granted);
}

/* Steady ones leave it as it is, whatever counters stood at before. */
TEST(test_windows_add_up)
{
	struct run run = begin();

	run.task.io_waits = 1ULL << 40;
	run.task.io_starts = 1ULL << 41;
	run.task.ios[0] = (struct input_task_io){ 3, 1ULL << 41 };
	run.task.worked_ns = 1ULL << 60;
	run.task.waited_ns = 1ULL << 59;
	run.task.n_ios = 1;
	run.task.in_flight_ns = 1ULL << 61;
	sample(&run);
	for (int i = 0; i < 20; i++) {
		add_window(&run, 3, 50, 25);
		assert_int_equal(share_percent(&run), 25);
		assert_int_equal(run.boost.rate_per_s, 5000);
	}
}

/* One odd window in eight does not move what is asked for; a lasting change does. */
TEST(test_smoothing)
{
	struct run run = begin();
	uint32_t held;

	sample(&run);
	for (int i = 0; i < 10; i++)
		add_window(&run, 0, 50, 40);
	held = run.boost.held_ratio;
	add_window(&run, 0, 50, 48);
	assert_true(run.boost.ratio > held);
	assert_int_equal(run.boost.held_ratio, held);
	for (int i = 0; i < 40; i++)
		add_window(&run, 0, 50, 60);
	assert_true(run.boost.held_ratio > held);
	assert_in_range(share_percent(&run), 58, 60);
}

/*
 * What is in flight bounds what more of a CPU can gain; but not that part of the time in which
 * other tasks had it.
 */
TEST(test_depth)
{
	static const struct {
		uint32_t depth_percent; /* mean in flight */
		uint32_t worked_percent;
		uint32_t waited_percent;
		uint32_t odds_permille; /* of the host's share */
	} cases[] = {
		{ 0, 50, 0, 1000 },	 { 50, 50, 0, 1000 },	{ 100, 50, 0, 1000 },
		{ 40, 20, 40, 1500 },	 { 200, 50, 0, 500 },	{ 12700, 80, 0, 31 },
		{ 12800, 4, 36, 387 },	 { 12800, 0, 40, 453 }, { 400, 60, 20, 1730 },
		{ 12800, 100, 0, 7796 }, /* as much as a share of 0.999 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run = begin();

		sample(&run);
		run.task.in_flight_ns = WINDOW_NS * cases[i].depth_percent / 100;
		run.task.worked_ns = WINDOW_NS * cases[i].worked_percent / 100;
		run.task.waited_ns = WINDOW_NS * cases[i].waited_percent / 100;
		run.task.n_ios = 1;
		run.task.io_starts = run.task.ios[0].ios = 1000;
		run.now_ns += WINDOW_NS;
		sample(&run);
		assert_in_range(run.boost.ratio * 1000ULL / LEVEL + 4, cases[i].odds_permille,
				cases[i].odds_permille + 8);
	}
}

/* To which most of the window's requests go, not most of all. */
TEST(test_main_device)
{
	struct run run = begin();

	run.task.n_ios = 2;
	run.task.ios[0] = (struct input_task_io){ .device = 7, .ios = 1000000 };
	run.task.ios[1] = (struct input_task_io){ .device = 9, .ios = 5 };
	sample(&run);
	run.task.ios[0].ios += 30;
	run.task.ios[1].ios += 31;
	run.task.io_starts += 61;
	run.now_ns += WINDOW_NS;
	sample(&run);
	assert_int_equal(run.boost.device, 9);
	/* Another that it had not named before, at another place of the list. */
	run.task.ios[1] = (struct input_task_io){ .device = 11, .ios = 50 };
	run.task.io_starts += 61;
	run.now_ns += WINDOW_NS;
	sample(&run);
	assert_int_equal(run.boost.device, 11);
	/* Its waits are for something else now. */
	run.task.n_ios = 0;
	run.task.io_waits += 61;
	run.now_ns += WINDOW_NS;
	sample(&run);
	assert_int_equal(run.boost.device, IO_BOOST_NO_DEVICE);
}

/* Waits or starts, whichever are more; a window with few of them goes on for ten times as long. */
TEST(test_rate)
{
	static const struct {
		uint64_t waits, starts, windows;
		uint32_t rate_per_s;
		enum io_boost_state state;
	} cases[] = {
		{ 50, 0, 1, 5000, IO_BOOST_DEVICE_BUSY },
		{ 0, 50, 1, 5000, IO_BOOST_DEVICE_BUSY },
		{ 20, 30, 1, 3000, IO_BOOST_DEVICE_BUSY },
		{ 5, 5, 1, 500, IO_BOOST_DEVICE_BUSY },
		{ 4, 4, 1, 500, IO_BOOST_MEASURING },
		{ 4, 4, 9, 500, IO_BOOST_MEASURING },
		{ 5, 5, 2, 250, IO_BOOST_DEVICE_BUSY },
		{ 5, 5, 3, 500, IO_BOOST_MEASURING }, /* too few, if it goes on */
		{ 25, 25, 10, 250, IO_BOOST_DEVICE_BUSY },
		{ 24, 24, 10, 240, IO_BOOST_BELOW_RATE },
		{ 0, 0, 10, 0, IO_BOOST_BELOW_RATE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run = begin();

		sample(&run);
		run.task.io_waits = cases[i].waits;
		run.task.io_starts = cases[i].starts;
		run.now_ns += cases[i].windows * WINDOW_NS;
		sample(&run);
		assert_int_equal(run.boost.rate_per_s, cases[i].rate_per_s);
		assert_int_equal(run.boost.state, cases[i].state);
	}
}

TEST(test_lapse)
{
	struct run run = begin();

	sample(&run);
	assert_int_equal(run.boost.hold_end_ns, run.now_ns + run.policy.hold_ns);
	run.now_ns += run.policy.hold_ns - 1;
	io_boost_update(&run.boost, &run.policy, &run.task, true, run.now_ns);
	assert_false(io_boost_is_over(&run.boost));
	run.now_ns++;
	io_boost_update(&run.boost, &run.policy, &run.task, true, run.now_ns);
	assert_int_equal(run.boost.state, IO_BOOST_LAPSED);
	run = begin();
	run.policy.enabled = false;
	sample(&run);
	assert_int_equal(run.boost.state, IO_BOOST_LAPSED);
}

/* The level at which it ran, when that changes in the middle of a window. */
TEST(test_level_is_a_mean)
{
	struct run run = begin();

	sample(&run);
	run.task.level_q = IO_LEVEL_MAX << 10;
	run.now_ns += WINDOW_NS / 2;
	sample(&run);
	run.now_ns -= WINDOW_NS / 2;
	add_window(&run, 0, 50, 50);
	/* Half of it between half and full, half of it at full: 7/8. */
	assert_in_range(run.boost.ratio, IO_LEVEL_MAX / 8 * 7 - 100, IO_LEVEL_MAX / 8 * 7 + 100);
}

/* A share above the whole cannot be, and is not believed. */
TEST(test_counters_that_jump)
{
	struct run run = begin();
	uint32_t ratio;

	sample(&run);
	add_window(&run, 0, 50, 25);
	ratio = run.boost.ratio;
	add_window(&run, 0, 50, 300);
	assert_in_range(run.boost.ratio, ratio - ratio / 100, ratio + ratio / 100);
	/* Back by a little, and back to where another task begins: that window is none. */
	run.task.worked_ns -= WINDOW_NS;
	add_window(&run, 0, 50, 25);
	assert_int_equal(run.boost.window.start_ns, run.now_ns);
	add_window(&run, 0, 50, 25);
	run.task.io_waits = 0;
	run.task.io_starts = 0;
	run.task.in_flight_ns = 0;
	run.task.worked_ns = 0;
	run.task.ios[0] = (struct input_task_io){ 0 };
	add_window(&run, 0, 40, 25);
	assert_int_equal(run.boost.window.start_ns, run.now_ns);
	assert_int_equal(run.boost.rate_per_s, 5000);
	add_window(&run, 0, 40, 25);
	assert_int_equal(run.boost.rate_per_s, 4000);
	assert_in_range(run.boost.ratio, ratio - ratio / 100, ratio + ratio / 100);
}

/* Totals are as large as after 25 minutes of work on a CPU: twice that would not fit. */
TEST(test_long_totals)
{
	struct run run = begin();

	run.task.n_ios = 1;
	run.task.worked_ns = 1500 * NS_PER_S;
	sample(&run);
	add_window(&run, 0, 50, 25);
	assert_int_equal(run.boost.rate_per_s, 5000);
	assert_int_equal(share_percent(&run), 25);
}

TEST(test_plan)
{
	struct run run = begin();

	sample(&run);
	io_boost_plan(&run.boost, &run.policy, run.now_ns);
	assert_int_equal(run.boost.next_ns, run.now_ns + WINDOW_NS);
	/* Soon until it is known, then seldom. */
	add_window(&run, 0, 50, 0);
	io_boost_plan(&run.boost, &run.policy, run.now_ns);
	assert_int_equal(run.boost.next_ns, run.now_ns + WINDOW_NS);
	for (int i = 1; i < IO_BOOST_SMOOTHING; i++)
		add_window(&run, 0, 50, 0);
	io_boost_plan(&run.boost, &run.policy, run.now_ns);
	assert_int_equal(run.boost.next_ns, run.now_ns + 10 * WINDOW_NS);
	run.boost.granted = true;
	io_boost_plan(&run.boost, &run.policy, run.now_ns);
	assert_int_equal(run.boost.next_ns, run.boost.hold_end_ns);
}

TEST(test_state_names)
{
	static const char *const names[] = { "measuring",    "device-busy", "at-level",
					     "predicted",    "trying",	    "pays",
					     "does-not-pay", "cannot-tell", "ruled-out",
					     "below-rate",   "lapsed" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(io_boost_state_names[i], names[i]);
}
