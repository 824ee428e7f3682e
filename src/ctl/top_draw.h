/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Paints the live view with ncurses, which sends the terminal only what changed. */

#include <jansson.h>
#include <stdbool.h>

#include "ctl/top_model.h"

struct top_view {
	struct top_model model;
	json_t *status; /* the last that came, or NULL */
	enum top_pane pane;
	size_t heights[TOP_PANES]; /* rows of each pane, as painted last */
	bool is_hidden[TOP_PANES]; /* for lack of rows, or of room */
	double own_share;	   /* of one CPU, what the daemon took since the last look */
	bool is_paused;
	bool is_lost;	   /* the daemon does not answer */
	bool is_filtering; /* keys go into the filter */
	bool is_utf8;
	unsigned int delay_ms;
	char *text; /* shown over everything: an explanation, or the keys; NULL: none */
};

/* Colours, where the terminal has them and NO_COLOR does not forbid them. */
void top_draw_init(struct top_view *view);

void top_draw(struct top_view *view);
