/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The records of a file with a view of later ones, to compute samples at times without one: totals
 * are interpolated between the sample before and the one after.
 */

#include "record/reader.h"

#define LOOKAHEAD_RECORDS 8192
#define LOOKAHEAD_NS	  1000000000ULL

struct lookahead {
	struct record_reader *reader; /* borrowed */
	struct record *records;	      /* LOOKAHEAD_RECORDS, a ring */
	uint32_t first, n;
	int result; /* RECORD_READ, or the result of reading on */
};

/* Returns 0 or -ENOMEM. Call lookahead_deinit() in both cases. */
int lookahead_init(struct lookahead *ahead, struct record_reader *reader);
void lookahead_deinit(struct lookahead *ahead);

/* As record_reader_next(), except that the policy of a RECORD_POLICY must not be used. */
int lookahead_next(struct lookahead *ahead, struct record *ret);

/*
 * The sample of a task or a device at now_ns, given the sample before. False when no later one
 * follows soon.
 */
bool lookahead_task(const struct lookahead *ahead, const struct input *before, uint64_t now_ns,
		    struct input *ret);
bool lookahead_device(const struct lookahead *ahead, const struct input *before, uint64_t now_ns,
		      struct input *ret);
