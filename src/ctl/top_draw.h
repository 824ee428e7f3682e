/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Paints the live view with ncurses, which sends only changes to the terminal. */

#include <jansson.h>
#include <stdbool.h>

#include "ctl/top_model.h"

struct top_view {
	struct top_model model;
	json_t *status; /* the last one, or NULL */
	enum top_pane pane;
	size_t heights[TOP_PANES]; /* rows of each pane, as painted last */
	bool is_hidden[TOP_PANES]; /* it has no rows, or there is no room for it */
	double own_share;	   /* share of one CPU that the daemon took since the last look */
	bool is_paused;
	bool is_lost;	   /* the daemon does not answer */
	bool is_filtering; /* keys edit the filter */
	bool is_utf8;
	unsigned int delay_ms;
	char *text; /* text over everything: an explanation, or the keys; NULL: none */
};

/* Uses colours if the terminal has them and NO_COLOR is not set. */
void top_draw_init(struct top_view *view);

void top_draw(struct top_view *view);
