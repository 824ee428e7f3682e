/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The utilisation of the chain that a task belongs to, one implementation for the BPF side and the
 * tests. A client that sends a request and sleeps, and the server that it wakes, are half idle
 * each, and yet one of the two always works. A task is *on* while it runs or could run, and also
 * while it sleeps for as long as those work for whom it waits: its waker, and those for whom that
 * one had waited. The rest of a sleep, which a timer or a device ends, is *external*.
 *
 * The utilisation is the decayed share of on-time, with PELT's half-life, on PELT's clock: each
 * nanosecond counts by the speed at which it passed, and what a slow clock took longer, the *lost*
 * time, is caught up with in external waits. Without external waits the utilisation goes to
 * CHAIN_ONE at any speed, with them to what the work needs.
 *
 * T sleeps at s, and W, which is on since b, wakes it. Since b T was on as well. If s is before b,
 * what W did from s to b is in its utilisation:
 *
 *	u_T(b) = u_W(b) + (u_T(s) − u_W(s)) · 2^(−(b − s) / half-life)
 *
 * This is exact when both are counted at the same speed and u_W(s) is known. Of each task the
 * utilisation at four past times is kept, the *marks*: when its present on-time began, when the one
 * before ended, and when two earlier ones began, of which the last is CHAIN_MARK_NS old or more. In
 * between it is taken as a straight line, before them as constant. The result is
 * never more than if T had been on from s to b itself.
 *
 * Times are those of one clock, by which CPUs are alike to some microseconds.
 */

#include <stdbool.h>

#include "wakegov/decay.h"

#define CHAIN_ONE  DECAY_Q(1024) /* always on */
#define CHAIN_NEAR 16 /* needs, or demands, that are less than a 16th apart are the same */
/*
 * Least time between the two older marks. A short wait does not move them; with twice the time, of
 * longer sleeps more is known, of shorter ones less.
 */
#define CHAIN_MARK_NS 8000000ULL
/*
 * External waits catch up with four times their length at most. At the frequency that a headroom of
 * 1.25 chooses a fifth of the time is external, and no more than four times of that is lost.
 */
#define CHAIN_CATCH_UP	   4
#define CHAIN_LOST_MOST_NS (8 * DECAY_HALF_LIFE_NS)
/*
 * Growth of less than this time is accounted later, at the speed of then. With twice the time, a
 * task that hops to a slow CPU is known there that much later.
 */
#define CHAIN_LATE_NS 250000ULL

/* What is known of a task that has not been on for so long is worth nothing. */
#define CHAIN_KEPT_NS 1000000000ULL

enum chain_flags {
	CHAIN_EXITED = 1 << 0, /* its place is free for another's */
	CHAIN_INPUT = 1 << 1,  /* it does an input event's work */
};

struct chain_mark {
	__u64 at_ns;
	__u32 util_q;
	__u32 pad;
};

/* Who last worked for a task. */
struct chain_waker {
	__u32 pid;    /* of the thread; 0: no task does */
	__u32 looked; /* once since it woke the task: chain_look() */
};

struct chain_task {
	struct chain_mark since;   /* the present on-time began */
	struct chain_mark ended;   /* the one before ended */
	struct chain_mark past[2]; /* earlier ones began; the newest first */
	__u64 updated_ns; /* util_q is as of then; the task is on since, or was until slept_ns */
	__u64 slept_ns;	  /* since when it sleeps; 0: it is on */
	__u64 lost_ns;
	struct chain_waker waker;
	__u32 util_q; /* of CHAIN_ONE */
	__u32 generation;
	__u32 flags; /* enum chain_flags */
	__u32 pad;
	__u64 input_ns; /* until when an input event's work goes on, of CLOCK_MONOTONIC */
};

/* Which need was last compared with what a CPU asks for by itself. */
struct chain_compared {
	__u64 at_ns;
	__u32 near_q; /* one above is not near, and so is news */
	__u32 pad;
};

static inline void chain_compare(struct chain_compared *compared, __u32 need_q, __u64 now_ns)
{
	compared->near_q = need_q + need_q / (CHAIN_NEAR - 1);
	compared->at_ns = now_ns;
}

/* Whether the same need, or a higher one, was compared in the last most_ns. */
static inline bool chain_is_compared(const struct chain_compared *compared, __u32 need_q,
				     __u64 most_ns, __u64 now_ns)
{
	return need_q <= compared->near_q && now_ns <= compared->at_ns + most_ns;
}

/*
 * A chain's need as it is compared with what a CPU asks for by itself, as the core does: it has no
 * more of a CPU than the whole, and needs that are near are the same.
 */
static inline __u32 chain_compared_q(__u32 need_q, __u32 capacity)
{
	__u32 whole_q = DECAY_Q(capacity);

	if (need_q > whole_q)
		need_q = whole_q;
	return need_q - need_q / CHAIN_NEAR;
}

static inline void chain_grow(struct chain_task *task, __u64 on_ns, __u32 level)
{
	__u64 scaled_ns = on_ns * level / 1024;

	task->util_q = decay_toward(task->util_q, CHAIN_ONE, scaled_ns);
	task->lost_ns += on_ns - scaled_ns;
	if (task->lost_ns > CHAIN_LOST_MOST_NS)
		task->lost_ns = CHAIN_LOST_MOST_NS;
}

/* The task, which is on, was so until now, at this level: 1024 is full speed. */
VERIFIED_ONCE int chain_was_on(struct chain_task *task, __u64 now_ns, __u32 level)
{
	if (!task)
		return 0; /* for the verifier: never so */
	if (now_ns <= task->updated_ns)
		return 0;
	chain_grow(task, now_ns - task->updated_ns, level);
	task->updated_ns = now_ns;
	return 0;
}

/* Its utilisation after an external wait, which catches up with lost time. */
static inline __u32 chain_rest(struct chain_task *task, __u64 external_ns)
{
	__u64 late_ns = task->lost_ns;

	if (late_ns > CHAIN_CATCH_UP * external_ns)
		late_ns = CHAIN_CATCH_UP * external_ns;
	task->lost_ns -= late_ns;
	return decay_toward(task->util_q, 0, external_ns + late_ns);
}

/* The task, which sleeps, is on since then, with this utilisation. */
static inline void chain_begin(struct chain_task *task, __u64 at_ns, __u32 util_q)
{
	if (task->since.at_ns >= task->past[0].at_ns + CHAIN_MARK_NS) {
		task->past[1] = task->past[0];
		task->past[0] = task->since;
	}
	task->ended.at_ns = task->slept_ns;
	task->ended.util_q = task->util_q;
	task->since.at_ns = at_ns;
	task->since.util_q = util_q;
	task->util_q = util_q;
	task->updated_ns = at_ns;
	task->slept_ns = 0;
}

/* What its utilisation was, at a time between two marks. */
static inline __u32 chain_between(const struct chain_mark *from, const struct chain_mark *to,
				  __u64 at_ns)
{
	__u64 span = (to->at_ns - from->at_ns) >> 10, past = (at_ns - from->at_ns) >> 10;
	__s64 change = (__s64)to->util_q - from->util_q;

	if (!span || past >= span)
		return to->util_q;
	/* 2^10 steps of the span: enough, and no overflow */
	return from->util_q + (change * (__s64)((past << 10) / span) >> 10);
}

/* What its utilisation was, at a time before its present on-time. */
static inline __u32 chain_past(const struct chain_task *task, __u64 at_ns)
{
	const struct chain_mark *past = task->past;

	if (at_ns >= task->ended.at_ns)
		return chain_between(&task->ended, &task->since, at_ns);
	if (at_ns >= past[0].at_ns)
		return chain_between(&past[0], &task->ended, at_ns);
	if (at_ns >= past[1].at_ns)
		return chain_between(&past[1], &past[0], at_ns);
	return past[1].util_q;
}

/* The waker had an external wait while the task slept. */
static inline void chain_follow(struct chain_task *task, const struct chain_task *waker,
				__u32 level)
{
	__u64 since_ns = waker->since.at_ns, slept_ns = task->slept_ns;
	__u64 factor = decay_factor(since_ns - slept_ns);
	__s64 apart_q, util_q, most_q;

	chain_was_on(task, slept_ns, level);
	apart_q = (__s64)task->util_q - chain_past(waker, slept_ns);
	util_q = waker->since.util_q + (apart_q * (__s64)factor >> 31);
	most_q = CHAIN_ONE - ((CHAIN_ONE - task->util_q) * factor >> 31);
	if (util_q < 0)
		util_q = 0;
	if (util_q > most_q)
		util_q = most_q;
	task->lost_ns = waker->lost_ns;
	chain_begin(task, since_ns, util_q);
}

/*
 * The task, which sleeps, is woken by one that is on since since_ns. Returns whether it was on all
 * the time, as if it had not slept: else chain_follow() says what came of it.
 */
static inline bool chain_wake(struct chain_task *task, __u64 since_ns, __u32 id)
{
	task->waker = (struct chain_waker){ .pid = id };
	if (since_ns > task->slept_ns)
		return false;
	task->slept_ns = 0;
	return true;
}

/*
 * A timer wakes the task, which sleeps, while its waker is on since since_ns. A wait with a
 * time-out in which that one worked was for it, as far as is known: the task was on, as if it had
 * not slept. So it counts once after each wake-up: a busy task that woke another one does not work
 * for it for ever. Returns whether it counts; else the wait was external.
 */
static inline bool chain_look(struct chain_task *task, __u64 since_ns)
{
	if (task->waker.looked || since_ns > task->slept_ns)
		return false;
	task->waker.looked = 1;
	task->slept_ns = 0;
	return true;
}

/* The task, which runs, goes to sleep. */
static inline void chain_sleep(struct chain_task *task, __u64 now_ns, __u32 level)
{
	if (now_ns > task->updated_ns + CHAIN_LATE_NS)
		chain_was_on(task, now_ns, level);
	task->slept_ns = now_ns > task->updated_ns ? now_ns : task->updated_ns;
}

/*
 * The task, which sleeps, was woken by no task: its wait was external, and who worked for it before
 * is forgotten when it was long.
 */
VERIFIED_ONCE int chain_end_wait(struct chain_task *task, __u64 now_ns, __u32 level)
{
	__u64 external_ns;

	if (!task)
		return 0; /* for the verifier: never so */
	chain_was_on(task, task->slept_ns, level);
	external_ns = now_ns > task->slept_ns ? now_ns - task->slept_ns : 0;
	if (external_ns > DECAY_HALF_LIFE_NS)
		task->waker.pid = 0;
	chain_begin(task, now_ns, chain_rest(task, external_ns));
	return 0;
}

/*
 * The task is on now, and not seen yet since chains are followed again, which begins a generation.
 * Their clock stands still while they are not followed. A task that slept before has done so until
 * now, as far as is known; of one that was on it is not known how it went on. Of one that was not
 * seen for long nothing is known.
 */
static inline void chain_start(struct chain_task *task, __u32 generation, __u64 now_ns, __u32 level)
{
	bool known = task->generation && now_ns < task->updated_ns + CHAIN_KEPT_NS;
	const struct chain_mark mark = { .at_ns = now_ns, .util_q = known ? task->util_q : 0 };

	if (known && task->slept_ns) {
		chain_end_wait(task, now_ns, level);
		task->generation = generation;
		return;
	}
	*task = (struct chain_task){
		.since = mark,
		.ended = mark,
		.past = { mark, mark },
		.updated_ns = now_ns,
		.util_q = mark.util_q,
		.waker.pid = known ? task->waker.pid : 0,
		.generation = generation,
		.flags = task->flags & CHAIN_INPUT,
		.input_ns = task->input_ns,
	};
}

/*
 * Chains are followed, or again since this generation began, and the task is on. unpaused is the
 * last generation that did not end a pause: of a task that slept before it is not known until when.
 * Returns whether the task was known: else it begins now.
 */
static inline bool chain_know(struct chain_task *task, __u32 generation, __u32 unpaused,
			      __u64 now_ns, __u32 level)
{
	if (task->generation == generation)
		return true;
	if (task->generation < unpaused)
		task->slept_ns = 0;
	chain_start(task, generation, now_ns, level);
	return false;
}

/*
 * The same, of a task that slept before and does so still: as far as is known it did all the while.
 * Returns whether that is known.
 */
static inline bool chain_know_asleep(struct chain_task *task, __u32 generation, __u32 unpaused)
{
	if (!task->generation || task->generation < unpaused || task->flags & CHAIN_EXITED)
		return false;
	task->generation = generation;
	return true;
}

/* A CPU of this level switches to the task. */
static inline void chain_come(struct chain_task *task, __u64 now_ns, __u32 level)
{
	if (task->slept_ns)
		chain_end_wait(task, now_ns, level);
	else if (now_ns > task->updated_ns + CHAIN_LATE_NS)
		chain_was_on(task, now_ns, level);
}

/* The parent, which runs, has a new child: it goes on where the parent is. */
static inline void chain_fork(const struct chain_task *parent, struct chain_task *child, __u32 id)
{
	*child = *parent;
	child->waker = (struct chain_waker){ .pid = id };
}
