/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What a recording would have been under another policy: an engine with that policy gets the
 * recorded inputs, and decides when its own rules say so. Where it would have sampled tasks and
 * devices at other times, it gets values interpolated between the recorded samples.
 *
 * The tasks behave as recorded: a recording cannot tell whether they would have done more or less
 * I/O at another frequency.
 */

#include <stdbool.h>

#include "core/decision.h"
#include "record/reader.h"

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
	bool begun; /* begin_ns is known */
	uint64_t begin_ns, end_ns;
	uint64_t n_recorded; /* number of recorded decisions */
	uint64_t n_other;
	uint64_t n_differences;
	struct what_if_difference differences[WHAT_IF_DIFFERENCES]; /* the first differences */
	bool cut; /* the file is cut; record_reader_why() says where */
};

/*
 * Plays the records of reader, after record_reader_begin(), to the end; its topology stays
 * borrowed. Returns 0, -ENOMEM, or as record_reader_next(). Call what_if_deinit() in all cases.
 */
int what_if_run(struct record_reader *reader, const struct policy *policy, struct what_if *ret);
void what_if_deinit(struct what_if *what_if);
