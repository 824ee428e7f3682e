/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * I/O boost of one task: a floor on the performance of the domain where it runs, as a hold.
 *
 * From the task's totals, window by window, comes what a faster clock would bring it
 * (core/io_model.h). Whether the boost is given is up to the experiment of its group
 * (core/io_group.h). It is held while the task
 * sleeps between two I/Os, since most of the CPU time between them is interrupt and completion work
 * with the task off the run queue, and ends hold_ns after the last I/O, or when ten windows show
 * less than half of min_rate.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"
#include "core/settings.h"

enum io_boost_state {
	IO_BOOST_MEASURING,   /* no whole window yet */
	IO_BOOST_DEVICE_BUSY, /* a faster clock would bring it less than the slack */
	IO_BOOST_AT_LEVEL,    /* its domain runs as high without a boost: nothing to compare */
	IO_BOOST_PREDICTED,   /* boosted by prediction: nothing is written that could be tried */
	IO_BOOST_TRYING,      /* with and without a boost, in turn */
	IO_BOOST_PAYS,	      /* it does more by it: boosted */
	IO_BOOST_DOESNT_PAY,  /* it does not: left alone */
	IO_BOOST_CANT_TELL,   /* too unsteady to tell; boosted where it does look so */
	IO_BOOST_RULED_OUT,   /* a rule, or the policy, says that there is to be none */
	IO_BOOST_BELOW_RATE,  /* ended: too few I/Os in a window */
	IO_BOOST_LAPSED,      /* ended: no I/O for the hold time */
};

#define IO_BOOST_NO_DEVICE UINT32_MAX
#define IO_BOOST_NO_GROUP  UINT32_MAX
#define IO_BOOST_SMOOTHING 8 /* windows that count */

/* Totals at the start of a window. */
struct io_window {
	uint64_t start_ns; /* 0: there is none yet */
	uint64_t io_waits;
	uint64_t io_starts;
	uint64_t host_cpu_ns;
	uint64_t think_ns;
	uint64_t in_flight_ns;
	uint32_t depth;	    /* requests in flight then */
	uint32_t max_depth; /* of the samples since */
	uint32_t level;	    /* at the last sample … */
	uint64_t seen_ns;   /* … which was then */
	uint64_t level_ns;  /* the integral of the level up to then */
	uint32_t busy_ppm;  /* how busy its CPU was by then … */
	uint64_t busy_ns;   /* … and the integral of that, in ppm · ns */
	uint32_t device_of[TASK_IOS_MAX];
	uint64_t ios_of[TASK_IOS_MAX];
};

struct io_boost {
	enum io_boost_state state;
	bool granted;		 /* wanted_khz is asked for */
	uint64_t hold_end_ns;	 /* of its last sample */
	uint64_t next_ns;	 /* when to sample it again */
	uint32_t rate_per_s;	 /* of the last whole window; before that, of the policy */
	uint32_t traced_per_s;	 /* its rate when its requests were last followed */
	uint32_t traced_windows; /* in the present tracing period */
	bool sends_requests;	 /* and it was not known to, when they were not */
	uint32_t device;	 /* to which most of its requests go, or IO_BOOST_NO_DEVICE */
	uint32_t ratio;		 /* ρ as measured, smoothed; 0: the device is busy, or not known */
	uint32_t held_ratio;	 /* the one that is acted upon */
	uint32_t wanted_khz;	 /* the OPP of its domain that its boost is, or would be; 0: none */
	uint32_t n_windows;
	uint32_t held_windows; /* since held_ratio was another */
	uint64_t io_waits;     /* as last sampled … */
	uint64_t io_starts;
	uint64_t seen_ns;     /* … then; 0: never … */
	uint32_t level;	      /* … and the level at which its CPU ran */
	uint32_t group;	      /* or IO_BOOST_NO_GROUP */
	uint32_t depth_milli; /* requests in flight while there are any, smoothed; 0: not known */
	bool watched;	      /* the end of its hold will be told */
	struct io_window window;
};

/* What is made of its I/O has not changed for as many windows as count. */
static inline bool io_boost_is_known(const struct io_boost *boost)
{
	return boost->held_windows >= IO_BOOST_SMOOTHING;
}

/*
 * Takes the totals of a task into account: the hold and, if one is over, the window. What the
 * numbers alone say comes out in state: MEASURING, DEVICE_BUSY for what follows, or an end.
 * followed: its requests are; otherwise only their number says something.
 */
void io_boost_update(struct io_boost *boost, const struct policy_io_boost *policy,
		     const struct input_task *task, bool followed, uint64_t now_ns);

/* Boosted, and nothing is being found out: only the end of its I/O is of interest. */
static inline bool io_boost_is_settled(const struct io_boost *boost)
{
	return boost->granted && boost->state != IO_BOOST_TRYING;
}

/* Sets next_ns, after state and granted are settled. */
void io_boost_plan(struct io_boost *boost, const struct policy_io_boost *policy, uint64_t now_ns);

/* The clock changes because of the task, or under it: the present window is given up. */
void io_boost_restart_window(struct io_boost *boost);

/* What was measured is of no use any more: its device is gone. */
void io_boost_restart(struct io_boost *boost);

/*
 * It does I/O again after its end. What was found out of it still holds, so that one that works in
 * bursts has its boost back at once, and its device's check is not cut to pieces.
 */
void io_boost_resume(struct io_boost *boost);

/* Ended a moment ago, and for all that is known about to do its next burst. */
static inline bool io_boost_pauses(const struct io_boost *boost, uint64_t hold_ns, uint64_t now_ns)
{
	return boost->state == IO_BOOST_LAPSED && now_ns < boost->hold_end_ns + 9 * hold_ns;
}

/* Ends the boost of a task that could not be sampled when it was due. */
void io_boost_expire(struct io_boost *boost, uint64_t now_ns);

/* Neither held nor followed any more. */
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
const char *io_boost_state_name(enum io_boost_state state);
