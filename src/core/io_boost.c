// SPDX-License-Identifier: GPL-2.0-only
#include "core/io_boost.h"

#include "core/io_model.h"
#include "shared/time.h"

#define UNHELD_WINDOWS 10	       /* between samples of a task that is not expected to pay */
#define LONG_WINDOWS   10	       /* after so many a window ends with any number of I/Os */
#define TICK_NS	       (4 * NS_PER_MS) /* schedutil's boost halves with each tick without a wait */
#define SHALLOW_MILLI  8000  /* in flight, in thousandths of a request: each waits alone … */
#define DEEP_MILLI     32000 /* … or all for the queue */
#define FILLING	       8     /* a queue that grows by one per so many starts is filling */

/* Sums over devices: host time in which the task ran or was runnable … */
static uint32_t total_host_cpu_us(const struct input_task *task)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < task->n_ios; i++)
		sum_ns += task->ios[i].host_cpu_ns;
	return sum_ns / NS_PER_US;
}

/* … and in which it slept voluntarily. */
static uint32_t total_think_us(const struct input_task *task)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < task->n_ios; i++)
		sum_ns += task->ios[i].host_ns - task->ios[i].host_cpu_ns;
	return sum_ns / NS_PER_US;
}

/* The growth of both since the start of the window. */
static uint64_t host_cpu_ns(const struct io_window *window, const struct input_task *task)
{
	return NS_PER_US * (total_host_cpu_us(task) - window->host_cpu_us);
}

static uint64_t think_ns(const struct io_window *window, const struct input_task *task)
{
	return NS_PER_US * (total_think_us(task) - window->think_us);
}

static void start_window(struct io_boost *boost, const struct input_task *task, uint64_t now_ns)
{
	boost->window = (struct io_window){
		.start_ns = now_ns,
		.io_waits = task->io_waits,
		.io_starts = task->io_starts,
		.in_flight_ns = task->in_flight_ns,
		.host_cpu_us = total_host_cpu_us(task),
		.think_us = total_think_us(task),
		.depth = task->depth,
		.busy_ppm = task->busy_ppm,
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

/* Whether totals are lower than before: another task with the same pid, or a device is gone. */
static bool went_back(const struct io_window *window, const struct input_task *task)
{
	return (int32_t)(task->io_waits - window->io_waits) < 0 ||
	       (int32_t)(task->io_starts - window->io_starts) < 0 ||
	       task->in_flight_ns < window->in_flight_ns ||
	       (int32_t)(total_host_cpu_us(task) - window->host_cpu_us) < 0 ||
	       (int32_t)(total_think_us(task) - window->think_us) < 0;
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

/* Mean number of requests in flight, in thousandths, while there were any. */
static uint64_t window_depth_milli(const struct io_window *window, const struct input_task *task,
				   uint64_t elapsed_ns)
{
	uint64_t none_ns = host_cpu_ns(window, task) + think_ns(window, task);

	if (none_ns >= elapsed_ns)
		return 1000;
	return (task->in_flight_ns - window->in_flight_ns) * 1000 / (elapsed_ns - none_ns);
}

/*
 * In a deep queue, places that are empty while no CPU is busy are not due to the host: the device
 * completes in batches, or the task waits for a full batch. In a closed network of queues the
 * throughput grows, per speed-up of a station, as its mean queue does with the last customer: Q(N)
 * − Q(N − 1), and by the arrival theorem Q(N − 1) = Q(N) / U − 1, where U is the utilisation of the
 * station (Reiser and Lavenberg, 1980). So of Q empty places at most 1 − Q (1 − U) / U counts. With
 * few requests in flight this is too little: each also waits for interrupts and wake-ups, during
 * which no CPU is busy but which a faster CPU shortens. So the bound counts in part.
 */
static uint64_t served_ppm(const struct io_window *window, uint64_t share_ppm, uint64_t depth_milli)
{
	uint64_t busy_ppm = window->mean_busy_ppm, unserved_ppm, served = 0, part_milli;

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
 * The host's share of the time of an I/O. With one request at a time it is host time. A task that
 * keeps up to D requests in flight has D places, and an empty place waits for the host: of D · T,
 * the requests took their time in flight, and the rest, less the task's voluntary sleep, is the
 * host's. (By the device's idle time alone, a task with four requests on a disk of five channels
 * would get no boost, and lose a tenth of its throughput.) D is the maximum in flight, but at most
 * twice the mean less one, as a burst does not represent the whole window. All places are empty
 * while the task has nothing in flight and runs or waits for its CPU, whatever the means of queues
 * say: so do all queues of a CPU where another task runs for longer than a queue lasts.
 */
static uint64_t host_share_ppm(const struct io_window *window, const struct input_task *task,
			       uint64_t elapsed_ns)
{
	uint64_t depth_milli = 2 * window_depth_milli(window, task, elapsed_ns);
	uint64_t alone_ppm = host_cpu_ns(window, task) * IO_PPM / elapsed_ns;
	uint64_t slept_ns = think_ns(window, task), in_flight_ns, places_ns, share_ppm;

	depth_milli = depth_milli > 2000 ? depth_milli - 1000 : 1000;
	if (depth_milli > 1000ULL * window->max_depth)
		depth_milli = 1000ULL * window->max_depth;
	if (depth_milli <= 1000)
		return alone_ppm;
	in_flight_ns = task->in_flight_ns - window->in_flight_ns;
	places_ns = depth_milli * elapsed_ns / 1000;
	if (in_flight_ns + depth_milli * slept_ns / 1000 >= places_ns)
		return alone_ppm;
	share_ppm = served_ppm(window,
			       (places_ns - in_flight_ns - depth_milli * slept_ns / 1000) * 1000 /
				       depth_milli * IO_PPM / elapsed_ns,
			       depth_milli);
	return share_ppm > alone_ppm ? share_ppm : alone_ppm;
}

/* The mean of `elapsed` ns, of which the last `passed` had this value. */
static uint32_t mean_of(uint32_t mean, uint64_t elapsed, uint64_t passed, uint32_t value)
{
	return elapsed ? (mean * (elapsed - passed) + value * passed) / elapsed : value;
}

/*
 * The means of the level and the busy share of the task's CPU. A move or a change of frequency
 * since the last sample is seen late.
 */
static void see_cpu(struct io_boost *boost, const struct input_task *task, uint64_t now_ns)
{
	struct io_window *window = &boost->window;
	uint64_t elapsed_ns = now_ns - window->start_ns, passed_ns = now_ns - boost->seen_ns;
	uint32_t level = ((uint64_t)boost->level + io_level(task->level_q)) / 2;
	uint32_t busy_ppm = ((uint64_t)window->busy_ppm + task->busy_ppm) / 2;

	window->mean_level = mean_of(window->mean_level, elapsed_ns, passed_ns, level);
	window->mean_busy_ppm = mean_of(window->mean_busy_ppm, elapsed_ns, passed_ns, busy_ppm);
	window->busy_ppm = task->busy_ppm;
}

/* ρ from that share, at the mean level of the window. */
static uint32_t window_ratio(const struct io_boost *boost, const struct input_task *task,
			     uint64_t elapsed_ns)
{
	uint64_t share_ppm = host_share_ppm(&boost->window, task, elapsed_ns);
	uint32_t level = boost->window.mean_level;

	if (share_ppm > IO_PPM) /* a counter that jumped */
		return boost->ratio;
	return io_ratio_of_share(share_ppm, level ? level : 1);
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

/*
 * Whether the queue fills: more requests are in flight than at the start of the window. This holds
 * for a task that has just begun, and at the start of a tracing period for the duration of a
 * request, as earlier requests are not followed. The depth, and whether the task or the device
 * waits, shows only when the queue is full.
 */
static bool is_filling(const struct io_window *window, const struct input_task *task)
{
	uint32_t starts = task->io_starts - window->io_starts;

	return window->max_depth > 1 && task->depth > window->depth &&
	       (uint64_t)(task->depth - window->depth) * FILLING > starts;
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
			 const struct input_task *task, bool followed, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - boost->window.start_ns;

	boost->rate_per_s = window_ios(&boost->window, task) * NS_PER_S / elapsed_ns;
	boost->waits_for_io = (uint32_t)(task->io_waits - boost->window.io_waits) * TICK_NS >=
			      elapsed_ns;
	if (is_slow(&boost->window, policy, task, elapsed_ns)) {
		boost->state = IO_BOOST_BELOW_RATE;
		return;
	}
	if (followed && !is_filling(&boost->window, task))
		learn(boost, task, elapsed_ns);
	else if (!followed && (uint32_t)task->io_starts != boost->window.io_starts)
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

/*
 * The time of the last I/O: now while a request is in flight. A request whose end was lost stops
 * counting with the rate.
 */
static uint64_t last_io_ns(const struct input_task *task, uint64_t now_ns)
{
	return task->depth ? now_ns : task->last_io_ns;
}

/* Adds the sample to the window, and closes that when it is whole. */
static void add_to_window(struct io_boost *boost, const struct policy_io_boost *policy,
			  const struct input_task *task, bool followed, uint64_t now_ns)
{
	if (!boost->window.start_ns || went_back(&boost->window, task))
		start_window(boost, task, now_ns);
	if (task->max_depth > boost->window.max_depth)
		boost->window.max_depth = task->max_depth;
	see_cpu(boost, task, now_ns);
	if (is_whole(boost, policy, task, followed, now_ns))
		close_window(boost, policy, task, followed, now_ns);
}

void io_boost_update(struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, bool followed, uint64_t now_ns)
{
	if (!boost->seen_ns)
		begin(boost, policy);
	boost->watched = task->watched;
	boost->hold_end_ns = last_io_ns(task, now_ns) + policy->hold_ns;
	if (!policy->enabled || now_ns >= boost->hold_end_ns)
		boost->state = IO_BOOST_LAPSED;
	else
		add_to_window(boost, policy, task, followed, now_ns);
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
