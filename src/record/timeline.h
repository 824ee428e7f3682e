/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The events of a recording in order: the recorded decisions, and the states of tasks, from an
 * engine that plays it.
 */

#include "core/decision.h"
#include "core/task_table.h"
#include "record/replay.h"

/* Each may be NULL. Arguments are borrowed until the call returns. */
struct timeline_sink {
	/*
	 * The domain's first decision, or one with another frequency, reason, task, limiter or
	 * timing than the one before.
	 */
	void (*decision)(void *userdata, const struct decision *decision, bool is_first);
	/* The last decision has ended: the domain is offline or yielded, or the recording ends. */
	void (*pause)(void *userdata, uint32_t domain, uint64_t now_ns);
	/* A new task, or a change of its boost's state or OPP. */
	void (*task)(void *userdata, const struct io_task *task, bool is_first, uint64_t now_ns);
	/* The task is no longer known, or the recording ends. */
	void (*task_end)(void *userdata, uint32_t pid, uint64_t now_ns);
	void *userdata;
};

struct timeline {
	struct played_time time;
	bool cut; /* the file is cut; record_reader_why() says where */
};

/* Reads to the end without calling a sink. Returns as timeline_run(). */
int timeline_measure(struct record_reader *reader, struct timeline *ret);

/*
 * Plays the records of reader, after record_reader_begin(), to the end. Returns 0, -ENOMEM, or as
 * record_reader_next().
 */
int timeline_run(struct record_reader *reader, const struct timeline_sink *sink,
		 struct timeline *ret);
