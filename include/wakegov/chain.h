/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The utilisation of the chain that a task belongs to: one implementation for the BPF side and the
 * tests. A client that sends a request and sleeps, and the server that it wakes, are each half
 * idle, and yet one of the two always works. A task is *on* while it runs or is runnable. It is
 * also on during a sleep while others work for it: its waker, and the tasks that the waker had
 * waited for. The rest of a sleep, which a timer or a device ends, is *external*.
 *
 * The utilisation is the decayed share of on-time, with PELT's half-life, on PELT's clock: each
 * nanosecond counts by the speed of its CPU. The *lost* time, by which a slow clock prolonged the
 * work, is made up in external waits. Without external waits the utilisation goes to CHAIN_ONE at
 * any speed. With them it goes to what the work needs.
 *
 * Say T sleeps at s, and W, which is on since b, wakes it. T was then on since b as well. If s is
 * before b, the utilisation of W tells what W did from s to b:
 *
 *	u_T(b) = u_W(b) + (u_T(s) − u_W(s)) · 2^(−(b − s) / half-life)
 *
 * This is exact if both accrued at the same speed and u_W(s) is known. Each task has its
 * utilisation at four past times, the *marks*: the start of its present on-time, the end of the
 * previous one, and the starts of two earlier ones, the last at least CHAIN_MARK_NS older. Between
 * marks it is interpolated, before them constant. The result is at most that of a T that was on
 * from s to b.
 *
 * All times are by one clock, on which CPUs differ by a few microseconds.
 */

#include <stdbool.h>

#include "wakegov/decay.h"
#include "wakegov/piece.h"

#define CHAIN_ONE  DECAY_Q(1024) /* always on */
#define CHAIN_NEAR 16 /* needs, or demands, that are less than a 16th apart are the same */
/*
 * Least time between the two older marks; a short wait moves neither. Twice the time: longer sleeps
 * are covered, and shorter ones more coarsely.
 */
#define CHAIN_MARK_NS 8000000ULL
/*
 * An external wait makes up four times its length at most. At the frequency of a headroom of 1.25 a
 * fifth of the time is external, and the lost time is at most four times that.
 */
#define CHAIN_CATCH_UP	   4
#define CHAIN_LOST_MOST_NS (8 * DECAY_HALF_LIFE_NS)
/*
 * Growth for less than this time is accounted later, at the speed of that later moment. Twice the
 * time: the need of a task that hops to a slow CPU appears there that much later.
 */
#define CHAIN_LATE_NS 250000ULL

/* After this long without on-time nothing is known of a task. */
#define CHAIN_KEPT_NS 1000000000ULL

enum chain_flags {
	CHAIN_EXITED = 1 << 0, /* another task may have its place */
	CHAIN_INPUT = 1 << 1,  /* it works for an input event */
	CHAIN_WAITED = 1 << 2, /* … or for a piece that is waited for */
	CHAIN_KERNEL = 1 << 3, /* the kernel's own thread */
	CHAIN_PIECE = 1 << 4,  /* its present piece has woken no other task */
	CHAIN_KEEPS = 1 << 5,  /* it keeps a minimum clamp between its pieces */
	CHAIN_FORKS = 1 << 6,  /* it has forked, and never keeps one */
};

struct chain_mark {
	__u64 at_ns;
	__u32 util_q;
	__u32 lost_ns; /* before that; of `since` alone */
};

/* The task that last worked for another one. */
struct chain_waker {
	__u32 pid;    /* of the thread; 0: no task does */
	__u16 looked; /* chain_credit_waker() counted it since the last wake-up */
	__u16 waits;  /* external ones since that wake-up */
};

struct chain_task {
	struct chain_mark since;   /* start of the present on-time */
	struct chain_mark ended;   /* end of the previous one */
	struct chain_mark past[2]; /* starts of earlier ones; the newest first */
	__u64 updated_ns;	   /* util_q is as of then, on-time included up to slept_ns */
	__u64 slept_ns;		   /* since when it sleeps; 0: it is on */
	__u64 lost_ns;
	struct chain_waker waker;
	__u32 util_q; /* of CHAIN_ONE */
	__u32 generation;
	__u32 flags;	/* enum chain_flags */
	__u32 next;	/* the task that it last woke during work that is waited for; 0: none */
	__u64 input_ns; /* end of that work, by CLOCK_MONOTONIC */
	/* Its own: a child begins without. */
	__u32 pieces_of; /* the generation in which `piece` began; 0: there was none */
	__u16 cpu_next;	 /* the CPU after the one where it last did such work; 0: none */
	__u8 others;	 /* begins until it is alone; 0: it woke no other task in its last pieces */
	__u8 hurried;	 /* begins in a row, each of enough work and woken by no other task */
	__u16 io_cpus[2]; /* the CPUs after those where kernel threads last worked for its I/O */
	__u32 serves;	  /* a task with I/O, whose requests this kernel thread sends; 0: none */
	__u64 woken_by;	  /* the pid of its waker, and how often that one had waited then */
	__u8 works;	  /* runs until this kernel thread only hands on; 0: it does */
	__u8 one_way;	  /* looks in a row without a wait of its waker */
	struct piece piece;
};

/* The need that was last compared with the CPU's own demand. */
struct chain_compared {
	__u64 at_ns;
	__u32 near_q; /* a need above this differs, and is news */
	__u32 pad;
};

static inline void chain_compare(struct chain_compared *compared, __u32 need_q, __u64 now_ns)
{
	compared->near_q = need_q + need_q / (CHAIN_NEAR - 1);
	compared->at_ns = now_ns;
}

/* Whether this need, or a higher one, was compared in the last most_ns. */
static inline bool chain_is_compared(const struct chain_compared *compared, __u32 need_q,
				     __u64 most_ns, __u64 now_ns)
{
	return need_q <= compared->near_q && now_ns <= compared->at_ns + most_ns;
}

/*
 * The need of a chain for a comparison with the CPU's own demand, as in the core: at most the CPU's
 * capacity, and lower by the difference that counts as equal.
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

/* The task, which is on, has been on until now, at this level; 1024: full speed. */
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

/* The utilisation after an external wait, which makes up lost time. */
static inline __u32 chain_rest(struct chain_task *task, __u64 external_ns)
{
	__u64 late_ns = task->lost_ns;

	if (late_ns > CHAIN_CATCH_UP * external_ns)
		late_ns = CHAIN_CATCH_UP * external_ns;
	task->lost_ns -= late_ns;
	return decay_toward(task->util_q, 0, external_ns + late_ns);
}

/* The sleeping task is on since at_ns, with this utilisation. */
static inline void chain_begin(struct chain_task *task, __u64 at_ns, __u32 util_q)
{
	if (task->since.at_ns >= task->past[0].at_ns + CHAIN_MARK_NS) {
		task->past[1] = task->past[0];
		task->past[0] = task->since;
	}
	task->ended.at_ns = task->slept_ns;
	task->ended.util_q = task->util_q;
	task->since = (struct chain_mark){ at_ns, util_q, task->lost_ns };
	task->util_q = util_q;
	task->updated_ns = at_ns;
	task->slept_ns = 0;
}

/* The utilisation at a time between two marks. */
static inline __u32 chain_between(const struct chain_mark *from, const struct chain_mark *to,
				  __u64 at_ns)
{
	__u64 span = (to->at_ns - from->at_ns) >> 10, past = (at_ns - from->at_ns) >> 10;
	__s64 change = (__s64)to->util_q - from->util_q;

	if (!span || past >= span)
		return to->util_q;
	/* 2^10 steps for the span: fine enough, and without overflow */
	return from->util_q + (change * (__s64)((past << 10) / span) >> 10);
}

/* The utilisation at a time before the present on-time. */
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
VERIFIED_ONCE int chain_follow(struct chain_task *task, const struct chain_task *waker, __u32 level)
{
	__u64 since_ns, slept_ns, factor;
	__s64 apart_q, util_q, most_q;

	if (!task || !waker)
		return 0; /* for the verifier: never so */
	since_ns = waker->since.at_ns;
	slept_ns = task->slept_ns;
	factor = decay_factor(since_ns - slept_ns);
	chain_was_on(task, slept_ns, level);
	apart_q = (__s64)task->util_q - chain_past(waker, slept_ns);
	util_q = waker->since.util_q + (apart_q * (__s64)factor >> 31);
	most_q = CHAIN_ONE - ((CHAIN_ONE - task->util_q) * factor >> 31);
	if (util_q < 0)
		util_q = 0;
	if (util_q > most_q)
		util_q = most_q;
	task->lost_ns = waker->since.lost_ns; /* what it lost since then is accounted next */
	chain_begin(task, since_ns, util_q);
	return 0;
}

/*
 * A task that is on since since_ns wakes this sleeping one. Returns whether the task was on all the
 * time, as if it had not slept. If not, call chain_follow().
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
 * So many looks in a row without a wait of the waker show that it does not wait for this task, as a
 * busy writer does not wait for its reader: it goes on as fast whatever this task's clock is. One
 * of eight wake-ups is looked at, by chance, as a look takes 30 instructions. With twice as many
 * looks, it takes twice as long; with half, a waker that waits in one of 32 turns may be taken for
 * one that never does.
 */
#define CHAIN_ONE_WAY 8

static inline bool chain_is_looked_at(const struct chain_task *task)
{
	return !(task->slept_ns >> 10 & 7);
}

static inline bool chain_is_one_way(const struct chain_task *task)
{
	return task->one_way == CHAIN_ONE_WAY;
}

/* A task of another process, which has waited so often, wakes this one, and is looked at. */
static inline void chain_look(struct chain_task *task, __u32 id, __u32 waits)
{
	__u64 woken_by = (__u64)id << 32 | waits;

	if (task->woken_by != woken_by) {
		task->woken_by = woken_by;
		task->one_way = 0;
	} else if (task->one_way < CHAIN_ONE_WAY) {
		task->one_way++;
	}
}

/*
 * A timer wakes the sleeping task, whose last waker is on since since_ns. If the waker worked
 * during the whole sleep, we assume that it worked for the task: a wait with a time-out. Then the
 * task was on all the time. This counts once per wake-up, or a busy task would work for ever for
 * each task that it once woke. Returns whether it counts; if not, the wait was external.
 */
static inline bool chain_credit_waker(struct chain_task *task, __u64 since_ns)
{
	if (task->waker.looked || since_ns > task->slept_ns)
		return false;
	task->waker.looked = 1;
	task->slept_ns = 0;
	return true;
}

/* The running task goes to sleep. */
static inline void chain_sleep(struct chain_task *task, __u64 now_ns, __u32 level)
{
	if (now_ns > task->updated_ns + CHAIN_LATE_NS)
		chain_was_on(task, now_ns, level);
	task->slept_ns = now_ns > task->updated_ns ? now_ns : task->updated_ns;
}

/*
 * No task woke the sleeping task: its wait was external. After a long wait its former waker is
 * forgotten, and after so many in a row as a thread has that its parent woke once, and then timers.
 */
VERIFIED_ONCE int chain_end_wait(struct chain_task *task, __u64 now_ns, __u32 level)
{
	__u64 external_ns;

	if (!task)
		return 0; /* for the verifier: never so */
	chain_was_on(task, task->slept_ns, level);
	external_ns = now_ns > task->slept_ns ? now_ns - task->slept_ns : 0;
	if (external_ns > DECAY_HALF_LIFE_NS || ++task->waker.waits > PIECE_FADE)
		task->waker.pid = 0;
	chain_begin(task, now_ns, chain_rest(task, external_ns));
	return 0;
}

/*
 * The task is on, for the first time in this generation. A generation begins when chains are
 * followed again; their clock stands still while they are not. We assume that a task that slept has
 * slept until now. The progress of one that was on is unknown. After CHAIN_KEPT_NS nothing is known
 * of a task.
 */
static inline void chain_start(struct chain_task *task, __u32 generation, __u64 now_ns, __u32 level)
{
	bool known = task->generation && now_ns < task->updated_ns + CHAIN_KEPT_NS;
	const struct chain_mark mark = { .at_ns = now_ns, .util_q = known ? task->util_q : 0 };

	task->generation = generation;
	if (known && task->slept_ns) {
		chain_end_wait(task, now_ns, level);
		return;
	}
	task->since = task->ended = task->past[0] = task->past[1] = mark;
	task->updated_ns = now_ns;
	task->util_q = mark.util_q;
	task->slept_ns = task->lost_ns = 0;
	task->waker = (struct chain_waker){ .pid = known ? task->waker.pid : 0 };
	task->flags &= ~CHAIN_EXITED;
}

/*
 * Brings a task that is on into this generation. unpaused is the last generation that did not end a
 * pause: the sleep of a task that slept before it may have ended at any time. Returns whether the
 * task was in this generation already; if not, its on-time begins now.
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
 * The same for a task that sleeps, and is assumed to have slept all the while. Returns false if
 * that is not known.
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

/* The running parent has a new child, which continues the parent's work. */
static inline void chain_fork(const struct chain_task *parent, struct chain_task *child, __u32 id)
{
	__builtin_memcpy(child, parent, __builtin_offsetof(struct chain_task, pieces_of));
	__builtin_memset(&child->pieces_of, 0,
			 sizeof(*child) - __builtin_offsetof(struct chain_task, pieces_of));
	child->flags &= ~(CHAIN_KEEPS | CHAIN_FORKS);
	child->waker = (struct chain_waker){ .pid = id };
}
