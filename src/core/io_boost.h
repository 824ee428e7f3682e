/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * I/O boost of one task: a floor on the performance of the domain where it runs, as a hold.
 *
 * Each window of the task's totals gives a prediction of the gain from a higher frequency
 * (core/io_model.h). The experiment of the task's group (core/io_group.h) decides whether the boost
 * is granted. It is held while the task sleeps between two I/Os, as most of the CPU time between
 * them is interrupt and completion work while the task is off the run queue. It ends hold_ns after
 * the last I/O, or when ten windows show less than half of min_rate.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"
#include "core/settings.h"

enum io_boost_state {
	IO_BOOST_MEASURING,   /* no whole window yet */
	IO_BOOST_DEVICE_BUSY, /* a higher frequency would gain less than the slack */
	IO_BOOST_AT_LEVEL,    /* the domain runs as high without a boost: nothing to compare */
	IO_BOOST_PREDICTED, /* boosted by prediction: no write is made, so no experiment is possible
			     */
	IO_BOOST_TRYING,    /* experiment under way, with and without a boost in turn */
	IO_BOOST_PAYS,	    /* throughput gains: boosted */
	IO_BOOST_DOESNT_PAY, /* no gain: not boosted */
	IO_BOOST_CANT_TELL,  /* too unsteady to tell; boosted if it seems to pay */
	IO_BOOST_RULED_OUT,  /* a rule or the policy rules the boost out */
	IO_BOOST_BELOW_RATE, /* ended: too few I/Os in a window */
	IO_BOOST_LAPSED,     /* ended: no I/O for the hold time */
};

#define IO_BOOST_NO_DEVICE UINT8_MAX
#define IO_BOOST_NO_GROUP  UINT8_MAX
#define IO_BOOST_SMOOTHING 8 /* windows of the average */
/*
 * Windows over which a task must have min_rate before it is followed. Most programs read as fast
 * for a moment when they start, and to follow them costs more than they could gain. Doubled, a
 * reader is found 50 ms later.
 */
#define IO_BOOST_ENTRY_WINDOWS 5

/* A window, and the totals at its start. There are thousands: counts and times are modulo 2^32. */
struct io_window {
	uint64_t start_ns;     /* 0: no window yet */
	uint64_t in_flight_ns; /* whole, as a thousand requests may be in flight */
	uint32_t io_waits;
	uint32_t io_starts;
	uint32_t worked_us;
	uint32_t waited_us;
	uint32_t ios_of[TASK_IOS_MAX];
	uint8_t device_of[TASK_IOS_MAX];
	uint32_t mean_level; /* up to the last sample */
};

struct io_boost {
	uint64_t hold_end_ns; /* hold of its last sample */
	uint64_t next_ns;     /* when to sample it again */
	uint64_t seen_ns;     /* its last sample; 0: none … */
	uint32_t level;	      /* … the level at which its CPU ran then … */
	uint32_t io_waits;    /* … and the totals, modulo 2^32 */
	uint32_t io_starts;
	uint32_t rate_per_s;   /* rate of the last whole window; before that, the policy's */
	uint32_t traced_per_s; /* its rate in the last learning period */
	uint32_t ratio;	       /* smoothed measured ρ; 0: the device is busy, or ρ is not known */
	uint32_t held_ratio;   /* ρ with hysteresis, used for decisions */
	uint32_t wanted_khz;   /* OPP of the boost, granted or not; 0: none */
	uint32_t wanted_cap;   /* of the machine: more than that where a big CPU gives more */
	uint32_t depth_milli; /* mean requests in flight while there are any, smoothed; 0: not known
			       */
	uint8_t state;	      /* enum io_boost_state */
	uint8_t device;	      /* to which most of its requests go, or IO_BOOST_NO_DEVICE */
	uint8_t group;	      /* or IO_BOOST_NO_GROUP */
	uint8_t n_windows;    /* IO_BOOST_SMOOTHING stands for more … */
	uint8_t held_windows; /* … also of windows since held_ratio changed */
	bool traced;	      /* has a window in the present learning period */
	bool granted;	      /* wanted_khz is asked for */
	bool sends_requests;  /* sends requests, unknown outside of learning periods */
	bool waits_for_io;    /* as schedutil sees it: in I/O wait at least once a tick */
	bool watched;	      /* the kernel side reports the end of the hold */
	struct io_window window;
};

/* The time in which a task that is not followed must have io_boost_entry_ios() to be so. */
static inline uint64_t io_boost_entry_ns(const struct policy_io_boost *policy)
{
	return IO_BOOST_ENTRY_WINDOWS * policy->window_ns;
}

uint32_t io_boost_entry_ios(const struct policy_io_boost *policy);

/* Whether held_ratio has not changed for as many windows as the average has. */
static inline bool io_boost_is_known(const struct io_boost *boost)
{
	return boost->held_windows >= IO_BOOST_SMOOTHING;
}

/*
 * Takes a sample: updates the hold and, if a window is over, the ratio. Sets state by the numbers
 * alone: MEASURING, DEVICE_BUSY for further decisions, or an end. learns: a learning
 * period is under way; otherwise only the number of its requests is valid.
 */
void io_boost_update(struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, bool learns, uint64_t now_ns);

/* Boosted, with a settled result: only the end of the I/O matters. */
static inline bool io_boost_is_settled(const struct io_boost *boost)
{
	return boost->granted && boost->state != IO_BOOST_TRYING;
}

/* Sets next_ns, after state and granted are settled. */
void io_boost_plan(struct io_boost *boost, const struct policy_io_boost *policy, uint64_t now_ns);

/* Discards the present window: the frequency has changed. */
void io_boost_restart_window(struct io_boost *boost);

/* Discards everything that was measured: the device is gone. */
void io_boost_restart(struct io_boost *boost);

/*
 * Resumes a task that does I/O again after its end, and is counted from 0. Results are kept, so
 * that a task with bursts gets its boost back at once.
 */
void io_boost_resume(struct io_boost *boost);

/* Whether the task ended so recently that another burst is likely. */
static inline bool io_boost_pauses(const struct io_boost *boost, uint64_t hold_ns, uint64_t now_ns)
{
	return boost->state == IO_BOOST_LAPSED && now_ns < boost->hold_end_ns + 9 * hold_ns;
}

/* Ends the boost of a task that could not be sampled when it was due. */
void io_boost_expire(struct io_boost *boost, uint64_t now_ns);

/* The boost is neither held nor followed any more. */
static inline bool io_boost_is_over(const struct io_boost *boost)
{
	return boost->state >= IO_BOOST_BELOW_RATE;
}

/* Boosted now. */
static inline bool io_boost_is_held(const struct io_boost *boost)
{
	return boost->granted && !io_boost_is_over(boost);
}

/*
 * measuring, device-busy, at-level, predicted, trying, pays, does-not-pay, cannot-tell, ruled-out,
 * below-rate, lapsed. Static strings.
 */
extern const char *const io_boost_state_names[];
