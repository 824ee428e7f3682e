// SPDX-License-Identifier: GPL-2.0-only
/*
 * The I/O boost of one task: windows of its totals become a prediction of what a faster clock
 * gains, and the boost is held while its I/O goes on.
 */
#include "core/io_boost.h"

#include "core/io_model.h"
#include "shared/time.h"

#define UNHELD_WINDOWS 10	       /* between samples of a task that is not expected to pay */
#define LONG_WINDOWS   10	       /* after so many a window ends with any number of I/Os */
#define TICK_NS	       (4 * NS_PER_MS) /* schedutil's boost halves with each tick without a wait */

static void start_window(struct io_boost *boost, const struct input_task *task, uint64_t now_ns)
{
	boost->window = (struct io_window){
		.start_ns = now_ns,
		.io_waits = task->io_waits,
		.io_starts = task->io_starts,
		.in_flight_ns = task->in_flight_ns,
		.worked_us = task->worked_ns / NS_PER_US,
		.waited_us = task->waited_ns / NS_PER_US,
	};
	for (uint32_t i = 0; i < TASK_IOS_MAX; i++) {
		bool there = i < task->n_ios;

		boost->window.device_of[i] = there ? task->ios[i].device : IO_BOOST_NO_DEVICE;
		boost->window.ios_of[i] = there ? task->ios[i].ios : 0;
	}
}

static uint32_t ios_before(const struct io_window *window, uint32_t device)
{
	for (uint32_t i = 0; i < TASK_IOS_MAX; i++)
		if (window->device_of[i] == device)
			return window->ios_of[i];
	return 0;
}

/* The growth of both since the start of the window. */
static uint32_t worked_us(const struct io_window *window, const struct input_task *task)
{
	return (uint32_t)(task->worked_ns / NS_PER_US) - window->worked_us;
}

static uint32_t waited_us(const struct io_window *window, const struct input_task *task)
{
	return (uint32_t)(task->waited_ns / NS_PER_US) - window->waited_us;
}

/* Whether totals are lower than before: another task with the same pid, or a device is gone. */
static bool went_back(const struct io_window *window, const struct input_task *task)
{
	return (int32_t)(task->io_waits - window->io_waits) < 0 ||
	       (int32_t)(task->io_starts - window->io_starts) < 0 ||
	       task->in_flight_ns < window->in_flight_ns ||
	       (int32_t)(worked_us(window, task)) < 0 || (int32_t)(waited_us(window, task)) < 0;
}

/* The device that got most of the window's requests, or IO_BOOST_NO_DEVICE. */
static uint32_t main_device(const struct io_window *window, const struct input_task *task)
{
	uint32_t device = IO_BOOST_NO_DEVICE;
	int32_t most = 0;

	for (uint32_t i = 0; i < task->n_ios; i++) {
		int32_t n = task->ios[i].ios - ios_before(window, task->ios[i].device);

		if (n <= most)
			continue;
		most = n;
		device = task->ios[i].device;
	}
	return device;
}

/*
 * A synchronous read shows as a wait and as a start, a request at depth only as a start, a wait
 * for a network file system only as a wait: the larger count is the number of I/Os.
 */
static uint64_t window_ios(const struct io_window *window, const struct input_task *task)
{
	uint32_t waits = task->io_waits - window->io_waits;
	uint32_t starts = task->io_starts - window->io_starts;

	return waits > starts ? waits : starts;
}

/* Mean number of requests in flight, in thousandths; at least one. */
static uint64_t window_depth_milli(const struct io_window *window, const struct input_task *task,
				   uint64_t elapsed_ns)
{
	uint64_t milli = (task->in_flight_ns - window->in_flight_ns) * 1000 / elapsed_ns;

	return milli > 1000 ? milli : 1000;
}

/* The mean level of the task's CPU. A move or a change of frequency is seen late. */
static void see_cpu(struct io_boost *boost, const struct input_task *task, uint64_t now_ns)
{
	struct io_window *window = &boost->window;
	uint64_t elapsed_ns = now_ns - window->start_ns, passed_ns = now_ns - boost->seen_ns;
	uint32_t level = ((uint64_t)boost->level + io_level(task->level_q)) / 2;

	if (elapsed_ns)
		level = (window->mean_level * (elapsed_ns - passed_ns) + level * passed_ns) /
			elapsed_ns;
	window->mean_level = level;
}

/* The longest time in which its queue can have run dry while it waited for a CPU. */
static uint64_t dry_time_us(const struct io_window *window, const struct input_task *task,
			    uint64_t depth_milli, uint64_t elapsed_ns)
{
	uint64_t queued_us = waited_us(window, task), ios = window_ios(window, task), lasts_us;

	if (depth_milli <= 1000 || !ios)
		return queued_us; /* with one at a time there is no queue */
	lasts_us = elapsed_ns / NS_PER_US * depth_milli / 1000 / ios;
	return queued_us > lasts_us ? queued_us - lasts_us : 0;
}

/*
 * ρ of the window, at its mean level. With one request at a time all of the time in which the task
 * ran or waited for its CPU, r and w, is the host's: ρ = f (r + w) / (1 − r − w).
 *
 * With more, a CPU without limit gains at most what is at the CPU over what is in flight, q / d, as
 * no request comes back sooner than now. By the arrival theorem (Reiser and Lavenberg, 1980) q is
 * u (1 + Q(N − 1)), u the utilisation of that station, and Q grows with N, so q is at most
 * u / (1 − u). So the part of r counts 1 / d.
 *
 * While it waits for a CPU for longer than the requests in flight last, which is d T / n by
 * Little's law, nothing is in flight any more, whatever these means say: that part of w counts
 * whole. Of all waits of the window it is at most what exceeds that time once.
 */
static uint32_t window_ratio(const struct io_boost *boost, const struct input_task *task,
			     uint64_t elapsed_ns)
{
	const struct io_window *window = &boost->window;
	uint64_t depth_milli = window_depth_milli(window, task, elapsed_ns);
	uint64_t ran_us = worked_us(window, task), queued_us = waited_us(window, task);
	uint64_t host_us = ran_us + queued_us,
		 share_ppm = host_us * NS_PER_US * IO_PPM / elapsed_ns;
	uint64_t dry_us = dry_time_us(window, task, depth_milli, elapsed_ns), ratio;

	if (share_ppm > 2 * IO_PPM) /* a counter that jumped */
		return boost->ratio;
	if (share_ppm > IO_SHARE_MAX)
		share_ppm = IO_SHARE_MAX;
	ratio = io_ratio_of_share(share_ppm, window->mean_level ? window->mean_level : 1);
	if (!host_us)
		return ratio;
	return ratio * (dry_us + ran_us * 1000 / depth_milli) / host_us;
}

static uint8_t one_more(uint8_t windows)
{
	return windows < IO_BOOST_SMOOTHING ? windows + 1 : IO_BOOST_SMOOTHING;
}

/* Smooths shares at the highest level of all, as there an unbounded ratio is at most 1. */
static uint32_t smooth(const struct io_boost *boost, uint32_t ratio)
{
	int64_t n = one_more(boost->n_windows),
		before = io_share_of_ratio(boost->ratio, IO_LEVEL_MAX);
	int64_t now = io_share_of_ratio(ratio, IO_LEVEL_MAX);

	return io_ratio_of_share(before + (now - before) / n, IO_LEVEL_MAX);
}

static void set_ratio(struct io_boost *boost, uint32_t ratio)
{
	uint32_t before = boost->held_ratio;

	boost->ratio = ratio;
	boost->held_ratio = io_ratio_hold(before, ratio);
	if (boost->held_ratio != before)
		boost->held_windows = 0;
}

static void learn(struct io_boost *boost, const struct input_task *task, uint64_t elapsed_ns)
{
	uint64_t depth_milli = window_depth_milli(&boost->window, task, elapsed_ns);

	boost->depth_milli = boost->depth_milli ? (7ULL * boost->depth_milli + depth_milli) / 8
						: depth_milli;
	boost->device = main_device(&boost->window, task);
	if (boost->device != IO_BOOST_NO_DEVICE)
		set_ratio(boost, smooth(boost, window_ratio(boost, task, elapsed_ns)));
	boost->n_windows = one_more(boost->n_windows);
	boost->held_windows = one_more(boost->held_windows);
	boost->traced = true;
	if (boost->state == IO_BOOST_MEASURING)
		boost->state = IO_BOOST_DEVICE_BUSY;
}

uint32_t io_boost_entry_ios(const struct policy_io_boost *policy)
{
	return (policy->min_rate_per_s * io_boost_entry_ns(policy) + NS_PER_S - 1) / NS_PER_S;
}

/* Less than half of min-rate: the rate to end a boost is below the rate to begin one. */
static bool is_slow(const struct io_window *window, const struct policy_io_boost *policy,
		    const struct input_task *task, uint64_t elapsed_ns)
{
	return window_ios(window, task) * NS_PER_S < policy->min_rate_per_s / 2 * elapsed_ns;
}

static void close_window(struct io_boost *boost, const struct policy_io_boost *policy,
			 const struct input_task *task, bool learns, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - boost->window.start_ns;

	boost->rate_per_s = window_ios(&boost->window, task) * NS_PER_S / elapsed_ns;
	boost->waits_for_io = (uint32_t)(task->io_waits - boost->window.io_waits) * TICK_NS >=
			      elapsed_ns;
	if (is_slow(&boost->window, policy, task, elapsed_ns)) {
		boost->state = IO_BOOST_BELOW_RATE;
		return;
	}
	if (learns)
		learn(boost, task, elapsed_ns);
	else if ((uint32_t)task->io_starts != boost->window.io_starts)
		boost->sends_requests = true;
	start_window(boost, task, now_ns);
}

static void begin(struct io_boost *boost, const struct policy_io_boost *policy)
{
	boost->rate_per_s = policy->min_rate_per_s;
	boost->device = IO_BOOST_NO_DEVICE;
	boost->group = IO_BOOST_NO_GROUP;
}

/*
 * Whether the window is long enough and has the I/Os of an eligible task. A device that completes
 * in batches, or a task that works in bursts, has none in one window and many in the next. A rate
 * alone, or one that is too low, is taken over a long window.
 */
static bool is_whole(const struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, bool learns, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - boost->window.start_ns;

	if (elapsed_ns < policy->window_ns)
		return false;
	if (elapsed_ns >= LONG_WINDOWS * policy->window_ns)
		return true;
	return learns && !is_slow(&boost->window, policy, task, elapsed_ns) &&
	       window_ios(&boost->window, task) * NS_PER_S >=
		       policy->min_rate_per_s * policy->window_ns;
}

/* Adds the sample to the window, and closes that when it is whole. */
static void add_to_window(struct io_boost *boost, const struct policy_io_boost *policy,
			  const struct input_task *task, bool learns, uint64_t now_ns)
{
	if (!boost->window.start_ns || went_back(&boost->window, task))
		start_window(boost, task, now_ns);
	see_cpu(boost, task, now_ns);
	if (is_whole(boost, policy, task, learns, now_ns))
		close_window(boost, policy, task, learns, now_ns);
}

void io_boost_update(struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, bool learns, uint64_t now_ns)
{
	if (!boost->seen_ns)
		begin(boost, policy);
	boost->watched = task->watched;
	boost->hold_end_ns = task->last_io_ns + policy->hold_ns;
	if (!policy->enabled || now_ns >= boost->hold_end_ns)
		boost->state = IO_BOOST_LAPSED;
	else
		add_to_window(boost, policy, task, learns, now_ns);
	boost->io_waits = task->io_waits;
	boost->io_starts = task->io_starts;
	boost->level = io_level(task->level_q);
	boost->seen_ns = now_ns;
}

/*
 * Plans the next sample: at the end of the hold for a boosted task, after a window for one that may
 * be boosted soon. A task with a settled boost and a watched hold is sampled only to notice
 * changes, but more often in a tracing period, which should be short.
 */
void io_boost_plan(struct io_boost *boost, const struct policy_io_boost *policy, uint64_t now_ns)
{
	bool waits = boost->state == IO_BOOST_RULED_OUT ||
		     (io_boost_is_known(boost) && boost->state != IO_BOOST_TRYING);

	if (boost->watched && boost->traced && io_boost_is_settled(boost))
		boost->next_ns = now_ns + policy->window_ns * UNHELD_WINDOWS;
	else if (boost->granted) /* a rarely sampled task may be due earlier now */
		boost->next_ns = boost->hold_end_ns > now_ns ? boost->hold_end_ns : now_ns;
	else
		boost->next_ns = now_ns + policy->window_ns * (waits ? UNHELD_WINDOWS : 1);
}

void io_boost_restart_window(struct io_boost *boost)
{
	boost->window.start_ns = 0;
}

void io_boost_restart(struct io_boost *boost)
{
	if (!io_boost_is_over(boost))
		boost->state = IO_BOOST_MEASURING;
	boost->device = IO_BOOST_NO_DEVICE;
	boost->ratio = 0;
	boost->held_ratio = 0;
	boost->wanted_khz = 0;
	boost->wanted_cap = 0;
	boost->n_windows = 0;
	boost->held_windows = 0;
	boost->traced_per_s = 0;
	io_boost_restart_window(boost);
}

void io_boost_resume(struct io_boost *boost)
{
	boost->state = boost->n_windows ? IO_BOOST_DEVICE_BUSY : IO_BOOST_MEASURING;
	boost->io_waits = 0;
	boost->io_starts = 0;
	io_boost_restart_window(boost);
}

void io_boost_expire(struct io_boost *boost, uint64_t now_ns)
{
	if (!io_boost_is_over(boost) && now_ns >= boost->next_ns && now_ns >= boost->hold_end_ns)
		boost->state = IO_BOOST_LAPSED;
}

const char *const io_boost_state_names[] = {
	[IO_BOOST_MEASURING] = "measuring",	[IO_BOOST_DEVICE_BUSY] = "device-busy",
	[IO_BOOST_AT_LEVEL] = "at-level",	[IO_BOOST_PREDICTED] = "predicted",
	[IO_BOOST_TRYING] = "trying",		[IO_BOOST_PAYS] = "pays",
	[IO_BOOST_DOESNT_PAY] = "does-not-pay", [IO_BOOST_CANT_TELL] = "cannot-tell",
	[IO_BOOST_RULED_OUT] = "ruled-out",	[IO_BOOST_BELOW_RATE] = "below-rate",
	[IO_BOOST_LAPSED] = "lapsed",
};
