/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What a recording would have come to under another policy: an engine that obeys it is told what
 * the recorded one was told, and decides whenever its own rules say so. Where it would have sampled
 * tasks and devices at other times it gets what lies between the recorded samples.
 *
 * The tasks do what they did: that they would have done more or less I/O at another frequency is
 * not in a recording.
 */

#include <stdbool.h>

#include "core/decision.h"
#include "record/opp_times.h"
#include "record/reader.h"

#define WHAT_IF_DIFFERENCES 3

/* A moment from which on the two want different frequencies of a domain. */
struct what_if_difference {
	uint64_t at_ns; /* since the beginning */
	struct decision recorded;
	struct decision other;
};

struct what_if {
	uint32_t n_domains;
	struct opp_times *recorded; /* per domain */
	struct opp_times *other;
	bool begun; /* begin_ns is known */
	uint64_t begin_ns, end_ns;
	uint64_t n_recorded; /* decisions */
	uint64_t n_other;
	uint64_t n_differences;
	struct what_if_difference differences[WHAT_IF_DIFFERENCES]; /* the first of them */
	bool cut; /* the file is, record_reader_why() says where */
};

/*
 * Plays what reader gives, after record_reader_begin(), to the end; its topology stays borrowed.
 * Returns 0, -ENOMEM, or as record_reader_next(). In all cases what_if_deinit() is right
 * afterwards.
 */
int what_if_run(struct record_reader *reader, const struct policy *policy, struct what_if *ret);
void what_if_deinit(struct what_if *what_if);
