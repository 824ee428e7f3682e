/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Plays a recording on a new engine: to compare its decisions with the recorded ones, for what is
 * not in the file but in an engine that gets the same inputs, or to see what another policy would
 * have decided.
 */

#include "record/record.h"

/*
 * Creates the engine of the recording's beginning, with the given policy, whose sizes must be those
 * of the recorded one. again records the played calls; NULL: no. Call it after
 * record_reader_begin(). Returns 0, -ENOMEM, or a failure whose reason is in reader->why.
 */
int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret);

#define REPLAY_NO_TASK UINT32_MAX

enum replay_outcome {
	REPLAY_SAME,	/* every decision is the same, and the recording is complete */
	REPLAY_CUT,	/* every decision is the same up to where the file is cut */
	REPLAY_DIFFERS, /* stopped at the first difference */
};

struct replay {
	uint64_t n_inputs;
	uint64_t n_decisions; /* decisions made, including the one that differs */
	/* The last answer, or the difference. */
	struct decision recorded;
	struct decision replayed;
	enum engine_call_type type;	       /* ENGINE_COMMIT, or the call about a task … */
	uint32_t recorded_task, replayed_task; /* … and the task: a pid, or the tracer's handle */
};

/*
 * Repeats the recorded call on the engine. Returns REPLAY_SAME; REPLAY_DIFFERS if the engine
 * answered something else than was recorded; or -EBADMSG for a decision for a domain that is not
 * active, with reader->why. *ret is all zero before the first call.
 */
int player_play(struct engine *engine, struct record_reader *reader, const struct engine_call *call,
		struct replay *ret);

/*
 * Replays the records of reader, after record_reader_begin(). again records the replay; NULL: no.
 * Returns an enum replay_outcome, or a negative errno, except for -ENOMEM with the reason in
 * reader->why; *ret is set then too.
 */
int replay_run(struct record_reader *reader, struct recorder *again, struct replay *ret);

/*
 * What a recording would have been under another policy: an engine with that policy gets the
 * recorded inputs, and decides when its own rules say so.
 *
 * The tasks behave as recorded: a recording cannot tell whether they would have done more or less
 * I/O at another frequency. They are sampled when they were: a policy that would have sampled them
 * earlier decides with the sample before.
 */

#define WHAT_IF_DIFFERENCES 3

/* The frequencies decided for a domain, their times, and the number of changes. */
struct opp_times {
	const struct topology_domain *info; /* borrowed */
	uint64_t at_ns[DOMAIN_OPPS_MAX];    /* time at each OPP */
	uint64_t changes;
	uint32_t khz;	   /* present frequency; 0: none, or not ours */
	uint64_t since_ns; /* time up to which it is accounted */
};

uint64_t opp_times_total_ns(const struct opp_times *times);

/* The mean over that time; 0 without any. */
uint32_t opp_times_mean_khz(const struct opp_times *times);

/* A time from which on the two have different frequencies of a domain. */
struct what_if_difference {
	uint64_t at_ns; /* since the beginning of the recording */
	struct decision recorded;
	struct decision other;
};

struct what_if {
	uint32_t n_domains;
	struct opp_times *recorded; /* per domain */
	struct opp_times *other;
	uint64_t n_recorded; /* number of recorded decisions */
	uint64_t n_other;
	uint64_t n_differences;
	struct what_if_difference differences[WHAT_IF_DIFFERENCES]; /* the first differences */
	bool cut; /* the file is cut; reader->why says where */
};

/*
 * Plays the records of reader, after record_reader_begin(), to the end; its topology stays
 * borrowed. Returns 0, -ENOMEM, or as record_reader_next(). Call what_if_deinit() in all cases.
 */
int what_if_run(struct record_reader *reader, const struct policy *policy, struct what_if *ret);
void what_if_deinit(struct what_if *what_if);
