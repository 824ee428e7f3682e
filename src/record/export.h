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
	uint64_t begin_ns, end_ns;
	bool cut; /* the file is cut; reader->why says where */
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
 * (ui.perfetto.dev), in JSON: for each domain a counter with its frequency and slices with the
 * reasons for it, for each task slices with the state of its boost. Times are CLOCK_MONOTONIC of
 * the recorded machine. Returns as timeline_run(); write errors show in ferror(out).
 */
int perfetto_write(struct record_reader *reader, FILE *out, struct timeline *ret);

/*
 * A recording is cut into columns of time, one per pixel of the picture, so that a picture of an
 * hour takes no more memory than one of a second: per domain the frequency and its reason, per task
 * the state of its boost.
 */
#define COLUMNS_N	  860
#define COLUMNS_TASKS_MAX 64 /* later ones are only counted */

#define COLUMNS_USES_MAX  64 /* the time of others is only summed up */

#define COLUMN_NOTHING	  0xff /* for reason and state */

struct domain_column {
	uint32_t least_khz; /* lowest in this column; 0: no decision */
	uint32_t most_khz;
	uint32_t last_khz;
	uint8_t reason;	      /* enum reason: the one that held longest */
	uint32_t n_decisions; /* made in this column */
	/* The last of them; of the first column it may be from before. target_khz 0: none. */
	struct decision decision;
};

/* How long a task's demand won, for one reason. Tasks of one name are one. */
struct column_use {
	char comm[TASK_COMM_SIZE];
	enum reason reason;
	uint64_t ns;
	double khz_s; /* the integral of the target */
};

struct task_row {
	uint32_t pid;
	char comm[TASK_COMM_SIZE];
	uint32_t boosted;	  /* number of columns with a boost */
	uint8_t state[COLUMNS_N]; /* enum io_boost_state; the last in each column */
	bool held[COLUMNS_N];	  /* boosted in any part of the column */
};

struct columns {
	struct timeline timeline; /* of a recording */
	uint64_t begin_ns, end_ns;
	uint32_t n_domains;
	struct domain_column (*domains)[COLUMNS_N]; /* per domain */
	struct task_row *tasks;
	uint32_t n_tasks;
	uint64_t tasks_left_out;
	/* Sums over all domains. */
	struct column_use uses[COLUMNS_USES_MAX];
	uint32_t n_uses;
	uint64_t unlisted_ns;
	uint64_t limiter_ns[LIMITER_LAST + 1];
	/* The present state, while they are filled. */
	struct column_domain_now *now;
	struct column_task_now *tasks_now;
};

/*
 * Begins columns that columns_decide() fills. Returns 0 or -ENOMEM; call columns_deinit() in both
 * cases.
 */
int columns_begin(struct columns *ret, uint32_t n_domains, uint64_t begin_ns, uint64_t end_ns);
/*
 * Adds the next decision for a domain, by its now_ns, on the clock of begin_ns. One from before
 * the beginning counts from there on. Names in it are foreign.
 */
void columns_decide(struct columns *columns, const struct decision *decision);
/* The domain's last decision has ended. At the end, call it for each domain with end_ns. */
void columns_pause(struct columns *columns, uint32_t domain, uint64_t now_ns);

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
 * The parts of such a picture, without texts, for a page that styles them by class: the frequency
 * of a domain, COLUMNS_N wide and PICTURE_DOMAIN high; the states of a task, PICTURE_TASK high.
 * Colours are elements of the class in `name`, of `fill` unless a style says otherwise.
 */
#define PICTURE_DOMAIN 110
#define PICTURE_TASK   12

struct picture_colour {
	const char *name;
	const char *fill;
};

void picture_domain(FILE *out, const struct topology_domain *info,
		    const struct domain_column *columns);
void picture_task(FILE *out, const struct task_row *row);
struct picture_colour picture_reason(enum reason reason);
/* fill NULL: it has no colour. */
struct picture_colour picture_state(enum io_boost_state state);
/* The smallest 1, 2 or 5 times a power of ten that leaves room for labels. */
double picture_time_step(double span_s);
/* Puts the most boosted tasks first, and returns how many have a row in a picture. */
uint32_t picture_sort_tasks(struct columns *columns);

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
/* Foreign text as text of XML or HTML, also within quotation marks. */
void svg_escape(FILE *out, const char *foreign);
