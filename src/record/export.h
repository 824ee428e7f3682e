/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording in other forms: its events in order (timeline.c), a trace (perfetto.c), and one
 * picture (columns.c, picture.c).
 */

#include <stdio.h>

#include "core/task_table.h"
#include "record/replay.h"

/*
 * A timeline: the recorded decisions, and the states of tasks, from an engine that plays the
 * recording.
 */

/* Arguments are borrowed until the call returns. */
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

/*
 * Plays the records of reader, after record_reader_begin(), and writes a trace for the Perfetto UI
 * (ui.perfetto.dev), in its own protobuf format: for each domain a counter with its frequency and
 * slices with the reasons for it, for each task slices with the state of its boost. Times are
 * CLOCK_MONOTONIC of the recorded machine. Returns as timeline_run(); write errors show in
 * ferror(out).
 */
int perfetto_write(struct record_reader *reader, FILE *out, struct timeline *ret);

/*
 * A recording is cut into columns of time, one per pixel of the picture, so that a picture of an
 * hour takes no more memory than one of a second: per domain the frequency and its reason, per task
 * the state of its boost.
 */
#define COLUMNS_N	  860
#define COLUMNS_TASKS_MAX 64 /* later ones are only counted */

#define COLUMN_NOTHING	  0xff /* for reason and state */

struct domain_column {
	uint32_t least_khz; /* lowest in this column; 0: no decision */
	uint32_t most_khz;
	uint32_t last_khz;
	uint8_t reason; /* enum reason: the one that held longest */
};

struct task_row {
	uint32_t pid;
	char comm[TASK_COMM_SIZE];
	uint32_t boosted;	  /* number of columns with a boost */
	uint8_t state[COLUMNS_N]; /* enum io_boost_state; the last in each column */
	bool held[COLUMNS_N];	  /* boosted in any part of the column */
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
 * Plays the records of reader, after record_reader_begin(), into the columns of `measured`
 * (timeline_measure() of the same file). Returns as timeline_run(). Call columns_deinit() in all
 * cases.
 */
int columns_fill(struct record_reader *reader, const struct timeline *measured,
		 struct columns *ret);
void columns_deinit(struct columns *columns);

/*
 * Draws for each domain its frequency over time, on the colour of the reason; below, the most
 * boosted tasks, with the states of their boosts. title is UTF-8 without control characters. Write
 * errors show in ferror(out).
 */
void picture_write(FILE *out, const char *title, const struct topology *topology,
		   struct columns *columns);

/*
 * Lines, boxes and texts in SVG, also for other pictures. Coordinates are in pixels; texts are
 * UTF-8, with unsafe characters escaped (shared/text.h). Write errors show in ferror(out).
 */

void svg_begin(FILE *out, int width, int height);
void svg_end(FILE *out);
void svg_box(FILE *out, double x, double y, double width, double height, const char *fill);
void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *stroke);
/* anchor: start, middle or end. */
void svg_text(FILE *out, double x, double y, const char *anchor, const char *text);
/* The same in small print. */
void svg_label(FILE *out, double x, double y, const char *anchor, const char *text);
