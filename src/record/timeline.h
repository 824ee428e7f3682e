/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What happened in a recording, told in order: the decisions that were recorded, and what became of
 * the tasks, which is not in the file but in an engine that is told the same.
 */

#include "core/decision.h"
#include "core/task_table.h"
#include "record/reader.h"

/* Each may be NULL. What is pointed to is borrowed until the call returns. */
struct timeline_sink {
	/*
	 * The domain's first decision, or one with another frequency, reason, task, limiter or
	 * timing than the one before.
	 */
	void (*decision)(void *userdata, const struct decision *decision, bool is_first);
	/* The last decision no longer holds: offline, or somebody else's, or the recording ends. */
	void (*pause)(void *userdata, uint32_t domain, uint64_t now_ns);
	/* A new task, or another state of its boost, or another frequency that it asks for. */
	void (*task)(void *userdata, const struct io_task *task, bool is_first, uint64_t now_ns);
	/* It is no longer known, or the recording ends. */
	void (*task_end)(void *userdata, uint32_t pid, uint64_t now_ns);
	void *userdata;
};

struct timeline {
	bool begun;		   /* begin_ns is known */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC of the recorded machine */
	bool cut;		   /* the file is, record_reader_why() says where */
};

/* Reads to the end without telling anything. Returns as timeline_run(). */
int timeline_measure(struct record_reader *reader, struct timeline *ret);

/*
 * Plays what reader gives, after record_reader_begin(), to the end. Returns 0, -ENOMEM, or as
 * record_reader_next().
 */
int timeline_run(struct record_reader *reader, const struct timeline_sink *sink,
		 struct timeline *ret);
