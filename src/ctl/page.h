/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The page of wakegovctl report --html: page.html, which the build embeds, with pictures and tables
 * in it. It loads nothing, and shows everything but the decision under the pointer without scripts.
 */

#include <jansson.h>
#include <stdio.h>

#include "ctl/print.h"
#include "record/export.h"

#define PAGE_PERIODS_MAX 3

/* A stretch of time, which the page shows when it is chosen. */
struct page_period {
	char title[32];		/* "last hour" */
	struct columns columns; /* ended by columns_pause() */
};

struct page {
	char *title;	   /* foreign; owned */
	bool is_recording; /* times are from its beginning, else CLOCK_REALTIME */
	json_t *notes;	   /* sentences that come first; owned */
	json_t *domains;   /* objects with note, in the order of the topology; owned */
	const struct topology *topology; /* borrowed */
	struct page_period periods[PAGE_PERIODS_MAX];
	uint32_t n_periods;
	/* Of a daemon, else NULL; owned. */
	json_t *machine;  /* as machine_find() gives it */
	json_t *limiters; /* objects with domain, who and text */
	json_t *stats;	  /* reply of io.wakegov.Stats */
};

/* Write errors show in ferror(out). */
void page_write(FILE *out, struct page *page);
void page_deinit(struct page *page);

/* page_period.c: one of the periods. */
void page_put_period(FILE *out, struct page *page, uint32_t i);

/* html.c: parts of an HTML page. Texts are foreign: they are cleaned and escaped. */

void html_paragraph(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A table, or the sentence where it has no rows. */
void html_table(FILE *out, const struct table *table, const json_t *rows, const char *none);
