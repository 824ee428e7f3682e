/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Pieces: what a task, and those that work for it, do between a wake-up from outside and the next
 * external wait (chain.h). Two kinds want the opposite of a clock. A piece that is *due* is begun
 * by a clock: it is in time or it is not. One that is *waited for* is begun by a user or a peer, or
 * a fixed pause after the one before: whatever it takes longer is their time.
 *
 * Whatever changes how long the pieces take tells the two apart. Where the pieces are due, the
 * interval between two begins stays as it is and the pause before them changes; where they are
 * waited for after a pause, the pause stays and the interval changes. Each begin is a vote. Where
 * both change, and by much, only a user or a peer explains it. Pieces that are all alike give no
 * votes: then the clock is changed by turns, so that how long they take changes.
 */

#include <stdbool.h>

#include "wakegov/decay.h"

/* More than a timer's slack. With twice the noise, short pieces tell their kind that much later. */
#define PIECE_NOISE_US 64
/* A vote is for what changed by less than half of the other. */
#define PIECE_APART 2
/* Where the pause is less than a quarter of the piece it is late, and says nothing. */
#define PIECE_LATE	 4
#define PIECE_SCORE_MOST 4
/* So many votes are a verdict, which holds until there is another one. */
#define PIECE_SCORE_VERDICT 2
/*
 * So many begins without a vote take one back, as the votes may be of another time. A task that
 * woke another one counts as one that does for so many begins. With twice as many, a wrong verdict
 * on pieces that are alike lasts twice as long.
 */
#define PIECE_FADE 32
/*
 * Turns of a high and a low clock, in pieces. Shorter than a hold time they change nothing; with
 * twice as many, pieces that are alike have their verdict that much later.
 */
#define PIECE_TURN	8
#define PIECE_TURNS_END 64 /* that have no verdict by now get none by turns */
/* The decay of their longest work with each. Twice as much: a program's start counts for longer. */
#define PIECE_PEAK_DECAY 2
/* … and where they are due. With half as much, those that vary by a third are late now and then. */
#define PIECE_DUE_DECAY 16
/*
 * A due piece is to end within its interval, and within this time where that is longer. With twice
 * the time, what is awaited at half of a tenth of a second is late.
 */
#define PIECE_DUE_US 50000

enum piece_kind {
	PIECE_UNKNOWN,
	PIECE_DUE,
	PIECE_WAITED_FOR,
};

struct piece {
	__u64 begin_ns;	   /* the present one, or the last; 0: there was none */
	__u32 interval_us; /* between its begin and the one before; 0: not known */
	__u32 pause_us;	   /* of that the wait before its begin */
	__u32 peak_us;	   /* the longest work of the last ones, at full capacity */
	__u16 n;	   /* how many there were; 32768 to 65535: that or more */
	__s8 score;	   /* votes: for due above 0, for waited for below */
	__u8 kind;	   /* enum piece_kind */
};

static inline __u32 piece_apart(__u32 a, __u32 b)
{
	return a > b ? a - b : b - a;
}

/* In us, up to an hour. */
static inline __u32 piece_us(__u64 from_ns, __u64 to_ns)
{
	__u64 us = to_ns > from_ns ? (to_ns - from_ns) / 1000 : 0;

	return us < 0xffffffff ? us : 0xffffffff;
}

/* How this begin, at which interval and pause are known, changes the score. */
static inline int piece_vote(const struct piece *before, __u32 interval_us, __u32 pause_us)
{
	__u64 intervals = piece_apart(interval_us, before->interval_us);
	__u64 pauses = piece_apart(pause_us, before->pause_us);
	__u64 less = intervals < pauses ? intervals : pauses;
	__u32 shorter = interval_us < before->interval_us ? interval_us : before->interval_us;

	if (PIECE_APART * intervals + PIECE_NOISE_US < pauses)
		return 1;
	if (PIECE_APART * pauses + PIECE_NOISE_US < intervals)
		return -1;
	return less > PIECE_NOISE_US && less > shorter / 2 ? -1 : 0;
}

static inline void piece_count(struct piece *piece, int vote)
{
	int score = piece->score + vote;

	if (score > PIECE_SCORE_MOST || score < -PIECE_SCORE_MOST)
		return;
	piece->score = score;
	if (score >= PIECE_SCORE_VERDICT)
		piece->kind = PIECE_DUE;
	else if (score <= -PIECE_SCORE_VERDICT)
		piece->kind = PIECE_WAITED_FOR;
}

/* Whether the piece that begins gets the clock that waiting is worth. */
static inline bool piece_hurries(const struct piece *piece)
{
	if (piece->kind == PIECE_DUE)
		return false;
	if (piece->score <= -PIECE_SCORE_VERDICT)
		return true;
	if (piece->kind == PIECE_UNKNOWN && piece->n >= PIECE_TURNS_END)
		return false;
	return piece->n & PIECE_TURN;
}

/* The speed that ends 1.25 of this work in time needs this utilisation; 0: it is not due. */
static inline __u32 piece_due_util(const struct piece *piece, __u32 interval_us)
{
	__u32 in_us = interval_us < PIECE_DUE_US ? interval_us : PIECE_DUE_US;

	if (piece->kind != PIECE_DUE || !in_us || piece->pause_us < DECAY_HALF_LIFE_NS / 1000)
		return 0;
	return piece->peak_us < in_us ? piece->peak_us * 1024ULL / in_us : 1024;
}

/*
 * Something outside wakes the task, which sleeps since slept_ns, by CLOCK_MONOTONIC: a piece
 * begins. Slow clocks prolonged the last one by lost_ns. Returns the time since that began; 0: it
 * is not known.
 */
static inline __u32 piece_begin(struct piece *piece, __u64 slept_ns, __u64 now_ns, __u64 lost_ns)
{
	__u32 interval_us = piece_us(piece->begin_ns, now_ns),
	      pause_us = piece_us(slept_ns, now_ns), lost_us = piece_us(0, lost_ns), work_us;
	bool known = piece->begin_ns, late;
	int vote = 0;

	piece->begin_ns = now_ns;
	if (!known)
		return 0;
	if (pause_us > interval_us)
		pause_us = interval_us;
	work_us = interval_us - pause_us;
	work_us -= lost_us < work_us ? lost_us : work_us;
	piece->peak_us -= piece->peak_us /
			  (piece->kind == PIECE_DUE ? PIECE_DUE_DECAY : PIECE_PEAK_DECAY);
	if (work_us > piece->peak_us)
		piece->peak_us = work_us;
	if (!++piece->n)
		piece->n = 0x8000;
	late = (__u64)pause_us * PIECE_LATE < interval_us - pause_us;
	if (late && piece->kind == PIECE_WAITED_FOR)
		vote = -1; /* too slow in a turn of the low clock, of whichever kind it is */
	else if (!late && piece->interval_us)
		vote = piece_vote(piece, interval_us, pause_us);
	if (!vote && piece->score < 0 && piece->n % PIECE_FADE == 0)
		vote = 1;
	piece_count(piece, vote);
	piece->interval_us = late ? 0 : interval_us;
	piece->pause_us = pause_us;
	return interval_us;
}

/* Begins were missed: the next interval is not known. */
static inline void piece_miss(struct piece *piece)
{
	piece->begin_ns = 0;
	piece->interval_us = 0;
}
