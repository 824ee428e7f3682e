// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pieces are due and which are waited for: loads of both kinds, each at a high and a low
 * clock, with noise on every begin, and what none of the two is.
 */
#include "test-core.h"

#include "shared/cleanup.h"
#include "wakegov/piece.h"

#define US     1000ULL
#define MS     1000000ULL
#define PIECES 64

static uint32_t seed;

static uint64_t by_chance(uint64_t least, uint64_t more)
{
	seed = seed * 1664525 + 1013904223;
	return least + more * (seed >> 16) / 65536;
}

enum begun {
	BY_CLOCK,    /* at absolute times */
	AFTER_PAUSE, /* a fixed time after the piece before */
	BY_SOMEBODY, /* after a pause by chance */
	BY_EVENTS,   /* at times by chance, whenever the piece before ended */
};

struct load {
	const char *name;
	enum begun begun;
	uint64_t gap_ns;	   /* between begins, or of the pause in the mean */
	uint64_t work_ns, more_ns; /* at full speed: at least, and up to so much more */
	enum piece_kind kind;
};

/* Begins pieces at this speed, of 1024; returns after which of them the verdict held. */
static uint32_t run(const struct load *load, uint32_t speed, struct piece *piece)
{
	uint64_t clock_ns = 1000 * MS, now_ns = clock_ns, verdict = 0;

	*piece = (struct piece){ 0 };
	for (uint32_t i = 0; i < PIECES; i++) {
		uint64_t work_ns = by_chance(load->work_ns, load->more_ns);
		uint64_t lost_ns = work_ns * 1024 / speed - work_ns;
		uint64_t ends_ns = now_ns + work_ns + lost_ns;

		clock_ns += load->begun == BY_EVENTS
				    ? by_chance(load->gap_ns / 4, load->gap_ns * 3 / 2)
				    : load->gap_ns;
		switch (load->begun) {
		case BY_CLOCK:
		case BY_EVENTS:
			now_ns = clock_ns;
			break;
		case AFTER_PAUSE:
			now_ns = ends_ns + load->gap_ns;
			break;
		case BY_SOMEBODY:
			now_ns = ends_ns + by_chance(load->gap_ns / 3, load->gap_ns * 4 / 3);
			break;
		}
		assert_true(ends_ns < now_ns);
		now_ns += by_chance(0, 50 * US);
		piece_begin(piece, ends_ns, now_ns, lost_ns);
		if (piece->kind == PIECE_UNKNOWN)
			verdict = i + 1;
	}
	return verdict;
}

TEST(test_kinds)
{
	static const struct load loads[] = {
		{ "frames", BY_CLOCK, 16667 * US, 1 * MS, 2 * MS, PIECE_DUE },
		{ "sound", BY_CLOCK, 5 * MS, 300 * US, 500 * US, PIECE_DUE },
		{ "video", BY_CLOCK, 41667 * US, 2 * MS, 5 * MS, PIECE_DUE },
		{ "a sensor", BY_CLOCK, 10 * MS, 200 * US, 800 * US, PIECE_DUE },
		{ "a client with a pause", AFTER_PAUSE, 30 * MS, 1 * MS, 3 * MS, PIECE_WAITED_FOR },
		{ "a shell each 100 ms", AFTER_PAUSE, 100 * MS, 2 * MS, 6 * MS, PIECE_WAITED_FOR },
		{ "a tunnel's messages", AFTER_PAUSE, 10 * MS, 300 * US, 500 * US,
		  PIECE_WAITED_FOR },
		{ "a service asked at random", BY_SOMEBODY, 50 * MS, 2 * MS, 4 * MS,
		  PIECE_WAITED_FOR },
		{ "a person", BY_SOMEBODY, 280 * MS, 3 * MS, 3 * MS, PIECE_WAITED_FOR },
		{ "requests of many", BY_EVENTS, 60 * MS, 1 * MS, 1 * MS, PIECE_WAITED_FOR },
	};
	struct piece piece;

	for (size_t i = 0; i < ARRAY_SIZE(loads); i++)
		for (uint32_t speed = 228; speed <= 1024; speed += 398) {
			uint32_t after = run(&loads[i], speed, &piece);

			if (piece.kind != loads[i].kind || after > 16)
				print_error("%s at %u: kind %u, score %d, after %u pieces\n",
					    loads[i].name, speed, piece.kind, piece.score, after);
			assert_int_equal(piece.kind, loads[i].kind);
			assert_in_range(after, 0, 16);
		}
}

/* What fills its interval is late: its begin is its own end, which says nothing. */
TEST(test_late)
{
	struct piece piece = { 0 };
	uint64_t now_ns = MS;

	for (uint32_t i = 0; i < PIECES; i++) {
		uint64_t pause_ns = by_chance(100 * US, MS);

		piece_begin(&piece, now_ns + 10 * MS, now_ns + 10 * MS + pause_ns, 0);
		now_ns += 10 * MS + pause_ns;
	}
	assert_int_equal(piece.kind, PIECE_UNKNOWN);
	assert_int_equal(piece.score, 0);
}

/* A task whose kind of work changes gets the new verdict after some pieces. */
TEST(test_changes)
{
	static const struct load paused = { "", AFTER_PAUSE, 30 * MS, MS, 3 * MS, 0 };
	struct piece piece;
	uint64_t clock_ns = 100000 * MS;
	uint32_t n = 0;

	run(&paused, 1024, &piece);
	assert_int_equal(piece.kind, PIECE_WAITED_FOR);
	piece_miss(&piece);
	assert_int_equal(piece.kind, PIECE_WAITED_FOR);
	while (piece.kind != PIECE_DUE && n++ < PIECES) {
		clock_ns += 30 * MS;
		piece_begin(&piece, clock_ns - 30 * MS + by_chance(MS, 3 * MS), clock_ns, 0);
	}
	assert_in_range(n, PIECE_SCORE_VERDICT, 16);
}

/* The longest of the last pieces, at full capacity: what a program did at its start soon ends. */
TEST(test_peak)
{
	struct piece piece = { 0 };
	uint64_t now_ns = MS;

	for (uint32_t i = 0; i < 20; i++, now_ns += 300 * MS)
		piece_begin(&piece, now_ns - 100 * MS, now_ns, 100 * MS);
	assert_int_equal(piece.peak_us, 100000);
	for (uint32_t i = 0; i < 10; i++, now_ns += 10 * MS)
		piece_begin(&piece, now_ns - 290 * MS, now_ns, 5 * MS);
	assert_in_range(piece.peak_us, 50, 249);
	assert_int_equal(piece.n, 29);
}

/* What ends the longest of the last pieces in time, whatever clock they had, after a long pause. */
TEST(test_due)
{
	static const struct load report = { "", BY_CLOCK, 100 * MS, 8 * MS, 8 * MS, 0 };
	struct piece piece;

	for (uint32_t speed = 256; speed <= 1024; speed *= 2) {
		run(&report, speed, &piece);
		assert_in_range(piece_due_util(&piece, 100000), 10 * 1024 / 50, 16 * 1024 / 50);
		assert_int_equal(piece_due_util(&piece, 10000), 1024);
		assert_int_equal(piece_due_util(&piece, 0), 0);
	}
	piece.pause_us = 30000;
	assert_int_equal(piece_due_util(&piece, 40000), 0);
}

/* Pieces that are all alike, each by its clock. Returns how many of 256 had the low one. */
static uint32_t run_by_turns(bool due, uint64_t work_ns, struct piece *piece)
{
	uint64_t clock_ns = 1000 * MS, now_ns = clock_ns;
	uint32_t low = 0;

	for (uint32_t i = 0; i < 256; i++) {
		bool high = piece_hurries(piece);
		uint64_t ends_ns = now_ns + work_ns * (high ? 1 : 4);

		clock_ns += 20 * MS;
		now_ns = (due ? clock_ns : ends_ns + 20 * MS) + by_chance(0, 50 * US);
		piece_begin(piece, ends_ns, now_ns, high ? 0 : 3 * work_ns);
		low += !high;
	}
	return low;
}

/* Turns of the clock tell pieces that are alike apart, and take back a wrong verdict. */
TEST(test_turns)
{
	for (int score = -PIECE_SCORE_MOST; score <= 0; score += PIECE_SCORE_MOST) {
		struct piece due = { .score = score, .kind = score ? PIECE_WAITED_FOR : 0 };
		struct piece paused = due, filled = due;

		assert_in_range(run_by_turns(true, 2 * MS, &due), 100, 256);
		assert_int_equal(due.kind, PIECE_DUE);
		assert_in_range(run_by_turns(false, 2 * MS, &paused), 0, 24);
		assert_int_equal(paused.kind, PIECE_WAITED_FOR);
		/* the pause is less than a quarter of the piece at the low clock */
		if (score)
			assert_in_range(run_by_turns(false, 25 * MS, &filled), 0, 12);
	}
}

/* What cannot be told, at any clock, is left to its utilisation after a while. */
TEST(test_turns_end)
{
	struct piece piece = { 0 };
	uint64_t now_ns = MS;
	uint32_t high = 0;

	for (uint32_t i = 0; i < 70000; i++, now_ns += 20 * MS) {
		piece_begin(&piece, now_ns - 17 * MS, now_ns, 0);
		high += piece_hurries(&piece);
	}
	assert_in_range(high, 24, 32);
	assert_int_equal(piece.kind, PIECE_UNKNOWN);
	assert_in_range(piece.n, 32768, 65535);
}
