// SPDX-License-Identifier: GPL-2.0-only
#include "core/io_boost.h"

#include "core/io_model.h"
#include "shared/time.h"

#define UNHELD_WINDOWS 10   /* between two looks at a task of which nothing is expected */
#define LONG_WINDOWS   10   /* after so many, a window is over with any number of I/Os */
#define SHALLOW_MILLI  8000 /* thousandths of requests of one task in flight: each waits alone … */
#define DEEP_MILLI     32000 /* … or all for the queue */
#define FILLING	       8     /* one more in flight for each so many that were started is growth */

/* Of all devices: what of its host time it ran or was to run, and what it slept of its own accord.
 */
static void total_host_ns(const struct input_task *task, uint64_t *ret_cpu_ns,
			  uint64_t *ret_think_ns)
{
	*ret_cpu_ns = 0;
	*ret_think_ns = 0;
	for (uint32_t i = 0; i < task->n_ios; i++) {
		*ret_cpu_ns += task->ios[i].host_cpu_ns;
		*ret_think_ns += task->ios[i].host_ns - task->ios[i].host_cpu_ns;
	}
}

static void start_window(struct io_boost *boost, const struct input_task *task, uint64_t now_ns)
{
	boost->window = (struct io_window){
		.start_ns = now_ns,
		.io_waits = task->io_waits,
		.io_starts = task->io_starts,
		.in_flight_ns = task->in_flight_ns,
		.depth = task->depth,
		.level = io_level(task->level_q),
		.seen_ns = now_ns,
		.busy_ppm = task->busy_ppm,
	};
	total_host_ns(task, &boost->window.host_cpu_ns, &boost->window.think_ns);
	for (uint32_t i = 0; i < TASK_IOS_MAX; i++) {
		bool there = i < task->n_ios;

		boost->window.device_of[i] = there ? task->ios[i].device : IO_BOOST_NO_DEVICE;
		boost->window.ios_of[i] = there ? task->ios[i].ios : 0;
	}
}

static uint64_t ios_before(const struct io_window *window, uint32_t device)
{
	for (uint32_t i = 0; i < TASK_IOS_MAX; i++)
		if (window->device_of[i] == device)
			return window->ios_of[i];
	return 0;
}

/* Totals of another task with this number, or of which a device is gone: nothing to compare with.
 */
static bool went_back(const struct io_window *window, const struct input_task *task)
{
	uint64_t host_cpu_ns, think_ns;

	total_host_ns(task, &host_cpu_ns, &think_ns);
	return task->io_waits < window->io_waits || task->io_starts < window->io_starts ||
	       task->in_flight_ns < window->in_flight_ns || host_cpu_ns < window->host_cpu_ns ||
	       think_ns < window->think_ns;
}

/* The device that got most of the window's requests, or IO_BOOST_NO_DEVICE. */
static uint32_t main_device(const struct io_window *window, const struct input_task *task)
{
	uint32_t device = IO_BOOST_NO_DEVICE;
	uint64_t most = 0;

	for (uint32_t i = 0; i < task->n_ios; i++) {
		uint64_t n = task->ios[i].ios - ios_before(window, task->ios[i].device);

		if (n <= most || n > task->ios[i].ios)
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
	uint64_t waits = task->io_waits - window->io_waits;
	uint64_t starts = task->io_starts - window->io_starts;

	return waits > starts ? waits : starts;
}

/* Thousandths of requests that a task had in flight, while it had any. */
static uint64_t window_depth_milli(const struct io_window *window, const struct input_task *task,
				   uint64_t elapsed_ns)
{
	uint64_t host_cpu_ns, think_ns, none_ns;

	total_host_ns(task, &host_cpu_ns, &think_ns);
	none_ns = host_cpu_ns - window->host_cpu_ns + think_ns - window->think_ns;
	if (none_ns >= elapsed_ns)
		return 1000;
	return (task->in_flight_ns - window->in_flight_ns) * 1000 / (elapsed_ns - none_ns);
}

/*
 * In a deep queue, empty places that no CPU is at work for are not the host's: the device hands out
 * in lots what it has done, or the task waits for a lot to be whole. In a closed network of queues
 * the throughput grows, for what a station gets faster by, as its mean queue does with the last
 * customer: Q(N) − Q(N − 1), and by the arrival theorem Q(N − 1) = Q(N) / U − 1, where U is how
 * busy the station is (Reiser and Lavenberg, 1980). So of Q empty places 1 − Q (1 − U) / U counts
 * at most. With few in flight that is too little: each waits for interrupts and wake-ups as well,
 * in which no CPU is busy and which yet take less time on a fast one. So it counts in part.
 */
static uint64_t served_ppm(const struct io_window *window, uint64_t share_ppm, uint64_t depth_milli,
			   uint64_t elapsed_ns)
{
	uint64_t busy_ppm = window->busy_ns / elapsed_ns, unserved_ppm, served = 0, part_milli;

	if (depth_milli <= SHALLOW_MILLI || !busy_ppm || busy_ppm >= IO_PPM || share_ppm > IO_PPM)
		return share_ppm;
	unserved_ppm = share_ppm * depth_milli / 1000 * (IO_PPM - busy_ppm) / busy_ppm;
	if (unserved_ppm < IO_PPM)
		served = IO_PPM - unserved_ppm;
	if (served >= share_ppm)
		return share_ppm;
	part_milli = depth_milli < DEEP_MILLI
			     ? (depth_milli - SHALLOW_MILLI) * 1000 / (DEEP_MILLI - SHALLOW_MILLI)
			     : 1000;
	return share_ppm - (share_ppm - served) * part_milli / 1000;
}

/*
 * The share of the time of an I/O that is the host's. With one request at a time that is host time.
 * A task that keeps up to D in flight has D places for requests, and each that is empty waits for
 * the host: of D · T the requests took what was in flight, and the rest, less what the task slept
 * of its own accord, is the host's. (By device idle time alone, as the design has it, a task with
 * four requests on a disk of five channels would get nothing, and loses a tenth of what it could
 * have.) D is the most that it had in flight, but no more than twice the mean and one less: a burst
 * does not stand for the whole window.
 */
static uint64_t host_share_ppm(const struct io_window *window, const struct input_task *task,
			       uint64_t elapsed_ns)
{
	uint64_t depth_milli = 2 * window_depth_milli(window, task, elapsed_ns);
	uint64_t host_cpu_ns, think_ns, in_flight_ns, places_ns;

	depth_milli = depth_milli > 2000 ? depth_milli - 1000 : 1000;
	if (depth_milli > 1000ULL * window->max_depth)
		depth_milli = 1000ULL * window->max_depth;
	total_host_ns(task, &host_cpu_ns, &think_ns);
	host_cpu_ns -= window->host_cpu_ns;
	if (depth_milli <= 1000)
		return host_cpu_ns * IO_PPM / elapsed_ns;
	think_ns -= window->think_ns;
	in_flight_ns = task->in_flight_ns - window->in_flight_ns;
	places_ns = depth_milli * elapsed_ns / 1000;
	if (in_flight_ns + depth_milli * think_ns / 1000 >= places_ns)
		return 0;
	return served_ppm(window,
			  (places_ns - in_flight_ns - depth_milli * think_ns / 1000) * 1000 /
				  depth_milli * IO_PPM / elapsed_ns,
			  depth_milli, elapsed_ns);
}

/* The task may have been elsewhere since the last sample, or the clock another: that is seen late.
 */
static void see_cpu(struct io_window *window, const struct input_task *task, uint64_t now_ns)
{
	uint64_t level = ((uint64_t)window->level + io_level(task->level_q)) / 2;
	uint64_t busy_ppm = ((uint64_t)window->busy_ppm + task->busy_ppm) / 2;

	window->level_ns += level * (now_ns - window->seen_ns);
	window->busy_ns += busy_ppm * (now_ns - window->seen_ns);
	window->seen_ns = now_ns;
	window->level = io_level(task->level_q);
	window->busy_ppm = task->busy_ppm;
}

/* ρ from that share, at the mean level of the window. */
static uint32_t window_ratio(const struct io_boost *boost, const struct policy_io_boost *policy,
			     const struct input_task *task, uint64_t elapsed_ns)
{
	uint64_t share_ppm = host_share_ppm(&boost->window, task, elapsed_ns);
	uint32_t level = boost->window.level_ns / elapsed_ns;

	if (share_ppm > IO_PPM) /* a counter that jumped */
		return boost->ratio;
	if (share_ppm <= io_ppm_of_percent(policy->min_host_percent))
		return 0;
	return io_ratio_of_share(share_ppm, level ? level : 1);
}

/* Smoothed as shares at the highest level of all: there a ratio without bound is at most 1. */
static uint32_t smooth(const struct io_boost *boost, uint32_t ratio)
{
	uint32_t n = boost->n_windows < IO_BOOST_SMOOTHING ? boost->n_windows + 1
							   : IO_BOOST_SMOOTHING;
	int64_t before = io_share_of_ratio(boost->ratio, IO_LEVEL_MAX);
	int64_t now = io_share_of_ratio(ratio, IO_LEVEL_MAX);

	return io_ratio_of_share(before + (now - before) / (int64_t)n, IO_LEVEL_MAX);
}

static void set_ratio(struct io_boost *boost, uint32_t ratio)
{
	uint32_t before = boost->held_ratio;

	boost->ratio = ratio;
	boost->held_ratio = io_ratio_hold(before, ratio);
	if (boost->held_ratio != before)
		boost->held_windows = 0;
}

/*
 * Its queue fills: more of what it started is in flight now than ended. So it is with one that
 * begins, and for as long as a request takes after a tracing period's start, since what was sent
 * before is not followed. How deep it is, and who waits for whom, shows when it is full.
 */
static bool is_filling(const struct io_window *window, const struct input_task *task)
{
	uint64_t starts = task->io_starts - window->io_starts;

	return window->max_depth > 1 && task->depth > window->depth &&
	       (uint64_t)(task->depth - window->depth) * FILLING > starts;
}

static void learn(struct io_boost *boost, const struct policy_io_boost *policy,
		  const struct input_task *task, uint64_t elapsed_ns)
{
	uint64_t depth_milli = window_depth_milli(&boost->window, task, elapsed_ns);

	boost->depth_milli = boost->depth_milli ? (7ULL * boost->depth_milli + depth_milli) / 8
						: depth_milli;
	boost->device = main_device(&boost->window, task);
	if (boost->device != IO_BOOST_NO_DEVICE)
		set_ratio(boost, smooth(boost, window_ratio(boost, policy, task, elapsed_ns)));
	boost->n_windows++;
	boost->held_windows++;
	boost->traced_windows++;
	if (boost->state == IO_BOOST_MEASURING)
		boost->state = IO_BOOST_DEVICE_BUSY;
}

/* Less than half of min-rate; what may end a boost takes more than what may begin one. */
static bool is_slow(const struct io_window *window, const struct policy_io_boost *policy,
		    const struct input_task *task, uint64_t elapsed_ns)
{
	return window_ios(window, task) * NS_PER_S < policy->min_rate_per_s / 2 * elapsed_ns;
}

static void close_window(struct io_boost *boost, const struct policy_io_boost *policy,
			 const struct input_task *task, bool followed, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - boost->window.start_ns;

	boost->rate_per_s = window_ios(&boost->window, task) * NS_PER_S / elapsed_ns;
	if (is_slow(&boost->window, policy, task, elapsed_ns)) {
		boost->state = IO_BOOST_BELOW_RATE;
		return;
	}
	if (followed && !is_filling(&boost->window, task))
		learn(boost, policy, task, elapsed_ns);
	else if (!followed && task->io_starts != boost->window.io_starts)
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
 * Long enough, and with the I/Os of an eligible task: a device that hands out what it has done
 * every now and then, or a task that works in bursts, has none in one window and many in the next.
 * A rate by itself is to be seen to change, and is taken over a long one, as one that is too low.
 */
static bool is_whole(const struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, bool followed, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - boost->window.start_ns;

	if (elapsed_ns < policy->window_ns)
		return false;
	if (elapsed_ns >= LONG_WINDOWS * policy->window_ns)
		return true;
	return followed && !is_slow(&boost->window, policy, task, elapsed_ns) &&
	       window_ios(&boost->window, task) * NS_PER_S >=
		       policy->min_rate_per_s * policy->window_ns;
}

/* While a request is in flight there is I/O. One whose end was lost ends with the rate. */
static uint64_t last_io_ns(const struct input_task *task, uint64_t now_ns)
{
	return task->depth ? now_ns : task->last_io_ns;
}

void io_boost_update(struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, bool followed, uint64_t now_ns)
{
	if (!boost->seen_ns)
		begin(boost, policy);
	boost->io_waits = task->io_waits;
	boost->io_starts = task->io_starts;
	boost->seen_ns = now_ns;
	boost->level = io_level(task->level_q);
	boost->watched = task->watched;
	boost->hold_end_ns = last_io_ns(task, now_ns) + policy->hold_ns;
	if (!policy->enabled || now_ns >= boost->hold_end_ns) {
		boost->state = IO_BOOST_LAPSED;
		return;
	}
	if (!boost->window.start_ns || went_back(&boost->window, task))
		start_window(boost, task, now_ns);
	if (task->max_depth > boost->window.max_depth)
		boost->window.max_depth = task->max_depth;
	see_cpu(&boost->window, task, now_ns);
	if (is_whole(boost, policy, task, followed, now_ns))
		close_window(boost, policy, task, followed, now_ns);
}

/*
 * A task that is boosted is looked at when its hold ends, one that may be soon after a window.
 * Whose boost is settled and whose hold is watched need be looked at only to see what changes;
 * but a tracing period is to be short.
 */
void io_boost_plan(struct io_boost *boost, const struct policy_io_boost *policy, uint64_t now_ns)
{
	bool waits = boost->state == IO_BOOST_RULED_OUT ||
		     (io_boost_is_known(boost) &&
		      (boost->state == IO_BOOST_DEVICE_BUSY || boost->state == IO_BOOST_AT_LEVEL ||
		       boost->state == IO_BOOST_DOESNT_PAY));

	if (boost->watched && boost->traced_windows && io_boost_is_settled(boost))
		boost->next_ns = now_ns + policy->window_ns * UNHELD_WINDOWS;
	else if (boost->granted) /* one that was looked at seldom may have to be looked at now */
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
	boost->n_windows = 0;
	boost->held_windows = 0;
	boost->traced_per_s = 0;
	io_boost_restart_window(boost);
}

void io_boost_resume(struct io_boost *boost)
{
	boost->state = boost->n_windows ? IO_BOOST_DEVICE_BUSY : IO_BOOST_MEASURING;
	io_boost_restart_window(boost);
}

void io_boost_expire(struct io_boost *boost, uint64_t now_ns)
{
	if (!io_boost_is_over(boost) && now_ns >= boost->next_ns && now_ns >= boost->hold_end_ns)
		boost->state = IO_BOOST_LAPSED;
}

const char *io_boost_state_name(enum io_boost_state state)
{
	static const char *const names[] = {
		[IO_BOOST_MEASURING] = "measuring",	[IO_BOOST_DEVICE_BUSY] = "device-busy",
		[IO_BOOST_AT_LEVEL] = "at-level",	[IO_BOOST_PREDICTED] = "predicted",
		[IO_BOOST_TRYING] = "trying",		[IO_BOOST_PAYS] = "pays",
		[IO_BOOST_DOESNT_PAY] = "does-not-pay", [IO_BOOST_CANT_TELL] = "cannot-tell",
		[IO_BOOST_RULED_OUT] = "ruled-out",	[IO_BOOST_BELOW_RATE] = "below-rate",
		[IO_BOOST_LAPSED] = "lapsed",
	};

	return names[state];
}
