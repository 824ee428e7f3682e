/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The live view. Its model (top_model.c) knows no screen: lists with a filter, an order and a
 * selection. top_draw.c paints it with ncurses, which sends only changes to the terminal; top.c
 * asks the daemon and takes keys.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/print.h"

enum top_pane {
	TOP_DOMAINS,
	TOP_TASKS, /* that do I/O, boosted or not */
	TOP_CAPPED,
	TOP_DEVICES,
	TOP_PANES,
};

#define TOP_HISTORY	64 /* updates that are remembered */
#define TOP_LEVELS	8  /* of a frequency, 0 to the highest OPP */
#define TOP_FILTER_SIZE 32

struct top_list {
	json_t *all;	     /* as the daemon gave it, or NULL */
	const json_t **rows; /* the shown ones, in order */
	size_t n;
	size_t selected; /* an index into rows */
	size_t scroll;	 /* the first row on the screen */
	size_t sort;	 /* the column, counted from 1; 0: none */
	bool is_reverse;
};

/* What decided a frequency, as far as it has a colour. */
enum top_tone { TOP_PLAIN, TOP_BOOSTED, TOP_CHAINED, TOP_LIMITED, TOP_TROUBLED, TOP_TONES };

/* A domain's frequency at the last updates, oldest first, each from 0 to TOP_LEVELS. */
struct top_history {
	char name[24];
	uint8_t levels[TOP_HISTORY];
	size_t n;
};

struct top_model {
	struct top_list lists[TOP_PANES];
	struct top_history *histories;
	size_t n_histories;
	char filter[TOP_FILTER_SIZE];
};

void top_model_deinit(struct top_model *model);

/*
 * Stores a new list of the daemon's; consumes all. The selected row stays selected while it is
 * there. Frequencies of domains are added to their histories.
 */
void top_model_set(struct top_model *model, enum top_pane pane, json_t *all);

/* The colour of a domain's row. */
enum top_tone top_model_tone(const json_t *row);

/* The columns of each list, the most important first: the last ones go where there is no room. */
#define TOP_HISTORY_TITLE "HISTORY"
struct table top_table(enum top_pane pane);

/* Shows only rows with text in their names, states or reasons; "" shows all. */
void top_model_filter(struct top_model *model, const char *text);

/* Sorts by the next column, or reverses the order. */
void top_model_sort(struct top_model *model, enum top_pane pane, bool reverse);
const char *top_model_sort_name(const struct top_model *model, enum top_pane pane);

/* Moves the selection by this number of rows, and the window of height rows with it. */
void top_model_move(struct top_model *model, enum top_pane pane, long by, size_t height);

/* NULL when the list is empty. */
const json_t *top_model_selected(const struct top_model *model, enum top_pane pane);

/* NULL when it was never seen. */
const struct top_history *top_model_history(const struct top_model *model, const char *name);

struct top_view {
	struct top_model model;
	json_t *status; /* the last one, with what update() adds to it, or NULL */
	enum top_pane pane;
	size_t heights[TOP_PANES]; /* rows of each pane, as painted last */
	bool is_hidden[TOP_PANES]; /* it has no rows, or there is no room for it */
	bool is_paused;
	bool is_lost;	   /* the daemon does not answer */
	bool is_filtering; /* keys edit the filter */
	bool is_utf8;
	unsigned int delay_ms;
	char *text;   /* text over everything: an explanation, or the keys; NULL: none */
	long scroll;  /* the first of its lines on the screen */
	bool is_long; /* it has more lines than the screen */
};

/* Uses colours if the terminal has them and NO_COLOR is not set. */
void top_draw_init(struct top_view *view);

void top_draw(struct top_view *view);
