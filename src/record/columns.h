/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording cut into columns of time, one for each pixel of a picture, so that a picture of an
 * hour takes no more memory than one of a second: per domain what it ran at and why, per task the
 * state of its boost.
 */

#include "record/timeline.h"

#define COLUMNS_N	  860
#define COLUMNS_TASKS_MAX 64 /* those that come later are counted only */

#define COLUMN_NOTHING	  0xff /* for reason and state */

struct domain_column {
	uint32_t least_khz; /* in this column; 0: nothing was decided */
	uint32_t most_khz;
	uint32_t last_khz;
	uint8_t reason; /* enum reason: that which held longest */
};

struct task_row {
	uint32_t pid;
	char comm[TASK_COMM_SIZE];
	uint32_t boosted;	  /* columns in which it was */
	uint8_t state[COLUMNS_N]; /* enum io_boost_state; the last in each column */
	bool held[COLUMNS_N];	  /* in any part of it */
};

struct columns {
	struct timeline timeline;
	uint32_t n_domains;
	struct domain_column (*domains)[COLUMNS_N]; /* per domain */
	struct task_row *tasks;
	uint32_t n_tasks;
	uint64_t tasks_left_out;
};

/*
 * Plays what reader gives, after record_reader_begin(), in the columns of measured
 * (timeline_measure(), of the same file). Returns as timeline_run(). In all cases columns_deinit()
 * is right afterwards.
 */
int columns_fill(struct record_reader *reader, const struct timeline *measured,
		 struct columns *ret);
void columns_deinit(struct columns *columns);
