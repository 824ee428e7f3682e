/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The records of a file with a look at those that follow, so that samples can be had at times at
 * which none was taken: totals are counted on between the sample before and the one after.
 */

#include "record/reader.h"

#define LOOKAHEAD_RECORDS 8192
#define LOOKAHEAD_NS	  1000000000ULL

struct lookahead {
	struct record_reader *reader; /* borrowed */
	struct record *records;	      /* LOOKAHEAD_RECORDS, a ring */
	uint32_t first, n;
	int result; /* RECORD_READ, or what reading on came to */
};

/* Returns 0 or -ENOMEM. In both cases lookahead_deinit() is right afterwards. */
int lookahead_init(struct lookahead *ahead, struct record_reader *reader);
void lookahead_deinit(struct lookahead *ahead);

/* As record_reader_next(), but that the policy of a RECORD_POLICY is not to be used. */
int lookahead_next(struct lookahead *ahead, struct record *ret);

/*
 * What a task, or a device, would have been found at if it had been sampled at now_ns, given the
 * sample before. False when none follows soon.
 */
bool lookahead_task(const struct lookahead *ahead, const struct input *before, uint64_t now_ns,
		    struct input *ret);
bool lookahead_device(const struct lookahead *ahead, const struct input *before, uint64_t now_ns,
		      struct input *ret);
