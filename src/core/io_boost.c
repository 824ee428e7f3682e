// SPDX-License-Identifier: GPL-2.0-only
#include "core/io_boost.h"

#define NS_PER_S 1000000000ULL

static void start_window(struct io_boost *boost, const struct input_task *task, uint64_t now_ns)
{
	boost->window_start_ns = now_ns;
	boost->window_waits = task->io_waits;
	boost->window_starts = task->io_starts;
}

/*
 * A synchronous read shows as a wait and as a start, a request at depth only as a start, a wait
 * for a network file system only as a wait: the larger count is the number of I/Os.
 */
static uint64_t window_ios(const struct io_boost *boost, const struct input_task *task)
{
	uint64_t waits = task->io_waits - boost->window_waits;
	uint64_t starts = task->io_starts - boost->window_starts;

	return waits > starts ? waits : starts;
}

static void begin(struct io_boost *boost, const struct policy_io_boost *policy,
		  const struct input_task *task, uint64_t now_ns)
{
	boost->state = IO_BOOST_HELD;
	boost->rate_per_s = policy->min_rate_per_s;
	start_window(boost, task, now_ns);
}

static void close_window(struct io_boost *boost, const struct policy_io_boost *policy,
			 const struct input_task *task, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - boost->window_start_ns;

	boost->rate_per_s = window_ios(boost, task) * NS_PER_S / elapsed_ns;
	if (boost->rate_per_s < policy->min_rate_per_s / 2)
		boost->state = IO_BOOST_BELOW_RATE;
	start_window(boost, task, now_ns);
}

void io_boost_update(struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, uint64_t now_ns)
{
	if (!policy->enabled) {
		boost->state = IO_BOOST_LAPSED;
		return;
	}
	if (boost->state == IO_BOOST_NONE)
		begin(boost, policy, task, now_ns);
	else if (now_ns - boost->window_start_ns >= policy->window_ns)
		close_window(boost, policy, task, now_ns);
	boost->lease_end_ns = task->last_io_ns + policy->hold_ns;
	io_boost_expire(boost, now_ns);
}

void io_boost_expire(struct io_boost *boost, uint64_t now_ns)
{
	if (boost->state == IO_BOOST_HELD && now_ns >= boost->lease_end_ns)
		boost->state = IO_BOOST_LAPSED;
}

const char *io_boost_state_name(enum io_boost_state state)
{
	static const char *const names[] = {
		[IO_BOOST_NONE] = "none",
		[IO_BOOST_HELD] = "held",
		[IO_BOOST_BELOW_RATE] = "below-rate",
		[IO_BOOST_LAPSED] = "lapsed",
	};

	return names[state];
}
