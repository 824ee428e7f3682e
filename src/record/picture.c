// SPDX-License-Identifier: GPL-2.0-only
/* Draws a domain's frequencies and reasons as SVG. */
#include <stdio.h>
#include <stdlib.h>

#include "record/export.h"
#include "shared/cleanup.h"
#include "shared/text.h"

#define LEFT	      110
#define RIGHT	      30
#define WIDTH	      (LEFT + COLUMNS_N + RIGHT)
#define TOP	      64
#define GAP	      26
#define ROW	      18 /* the height of a task */
#define BOTTOM	      40
#define ROWS_MAX      16
#define TICK_WIDTH    100 /* least distance of time labels in pixels */
#define LEGEND_WIDTH  106

#define SVG_TEXT_SIZE 512

void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}

void svg_box(FILE *out, double x, double y, double width, double height, const char *fill)
{
	fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
		x, y, width, height, fill);
}

void svg_begin(FILE *out, int width, int height)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n",
		width, height, width, height);
	svg_box(out, 0, 0, width, height, "#ffffff");
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *stroke)
{
	fprintf(out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n", x1,
		y1, x2, y2, stroke);
}

void svg_escape(FILE *out, const char *foreign)
{
	char text[SVG_TEXT_SIZE];

	text_copy(text, sizeof(text), foreign);
	for (const char *c = text; *c; c++) {
		if (*c == '&')
			fputs("&amp;", out);
		else if (*c == '<')
			fputs("&lt;", out);
		else if (*c == '>')
			fputs("&gt;", out);
		else if (*c == '"')
			fputs("&quot;", out);
		else
			fputc(*c, out);
	}
}

static void put_text(FILE *out, double x, double y, const char *anchor, const char *foreign,
		     const char *style)
{
	fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\"%s>", x, y, anchor, style);
	svg_escape(out, foreign);
	fputs("</text>\n", out);
}

void svg_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
	put_text(out, x, y, anchor, text, "");
}

void svg_label(FILE *out, double x, double y, const char *anchor, const char *text)
{
	put_text(out, x, y, anchor, text, " font-size=\"11\" fill=\"#555555\"");
}

static const char *const reason_fills[] = {
	[REASON_IDLE] = "#eeeeee",     [REASON_UTILISATION] = "#c6dbef",
	[REASON_IO_BOOST] = "#fdd0a2", [REASON_FLOOR] = "#c7e9c0",
	[REASON_UNCAPPED] = "#fbb4b9", [REASON_OWN_FLOOR] = "#e6f598",
	[REASON_CHAIN] = "#cbc9e2",
};

_Static_assert(ARRAY_SIZE(reason_fills) == REASON_LAST + 1, "each reason has a colour");

static const char *const state_fills[] = {
	[IO_BOOST_MEASURING] = "#d9d9d9",  [IO_BOOST_DEVICE_BUSY] = "#9ecae1",
	[IO_BOOST_AT_LEVEL] = "#c6dbef",   [IO_BOOST_PREDICTED] = "#fee391",
	[IO_BOOST_TRYING] = "#fe9929",	   [IO_BOOST_PAYS] = "#41ab5d",
	[IO_BOOST_DOESNT_PAY] = "#ef3b2c", [IO_BOOST_CANT_TELL] = "#807dba",
	[IO_BOOST_BELOW_RATE] = "#f0f0f0", [IO_BOOST_LAPSED] = "#f0f0f0",
};

struct picture_colour picture_reason(enum reason reason)
{
	return (struct picture_colour){ reason_name(reason), reason_fills[reason] };
}

struct picture_colour picture_state(enum io_boost_state state)
{
	return (struct picture_colour){ io_boost_state_name(state), state_fills[state] };
}

/* Draws adjacent columns of one colour as one box. */
static void draw_boxes(FILE *out, double height, struct picture_colour (*colour)(const void *, int),
		       const void *of)
{
	int start = 0;

	for (int i = 1; i <= COLUMNS_N; i++) {
		struct picture_colour before = colour(of, start);

		if (i < COLUMNS_N && before.fill == colour(of, i).fill)
			continue;
		if (before.fill)
			fprintf(out,
				"<rect class=\"%s\" x=\"%d\" y=\"0\" width=\"%d\" height=\"%g\" "
				"fill=\"%s\"/>\n",
				before.name, start, i - start, height, before.fill);
		start = i;
	}
}

static struct picture_colour domain_colour(const void *columns, int i)
{
	const struct domain_column *column = (const struct domain_column *)columns + i;

	return column->least_khz ? picture_reason(column->reason) : (struct picture_colour){ 0 };
}

static struct picture_colour task_colour(const void *row, int i)
{
	uint8_t state = ((const struct task_row *)row)->state[i];

	return state < ARRAY_SIZE(state_fills) ? picture_state(state)
					       : (struct picture_colour){ 0 };
}

static double height_of(const struct topology_domain *info, uint32_t khz)
{
	return (double)khz / topology_domain_max_khz(info) * (PICTURE_DOMAIN - 6);
}

/* Draws a line from column to column, with a vertical stroke over the range of a column. */
static void draw_frequency(FILE *out, const struct topology_domain *info,
			   const struct domain_column *columns)
{
	uint32_t before_khz = 0;

	fputs("<path class=\"frequency\" fill=\"none\" stroke=\"#08306b\" stroke-width=\"1.5\" d=\"",
	      out);
	for (int i = 0; i < COLUMNS_N; i++) {
		const struct domain_column *column = &columns[i];
		double bottom = PICTURE_DOMAIN;

		if (!column->least_khz) {
			before_khz = 0;
			continue;
		}
		if (!before_khz)
			fprintf(out, "M%d %.1f", i, bottom - height_of(info, column->last_khz));
		if (before_khz != column->least_khz || column->least_khz != column->most_khz)
			fprintf(out, "H%dV%.1fV%.1fV%.1f", i,
				bottom - height_of(info, column->least_khz),
				bottom - height_of(info, column->most_khz),
				bottom - height_of(info, column->last_khz));
		if (i + 1 == COLUMNS_N || !columns[i + 1].least_khz)
			fprintf(out, "H%d", i + 1);
		before_khz = column->last_khz;
	}
	fputs("\"/>\n", out);
}

void picture_domain(FILE *out, const struct topology_domain *info,
		    const struct domain_column *columns)
{
	uint32_t marks[] = { info->opp_khz[0], topology_domain_max_khz(info) };

	draw_boxes(out, PICTURE_DOMAIN, domain_colour, columns);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		double at = PICTURE_DOMAIN - height_of(info, marks[i]);

		svg_line(out, 0, at, COLUMNS_N, at, "#bbbbbb");
	}
	draw_frequency(out, info, columns);
	svg_line(out, 0, PICTURE_DOMAIN, COLUMNS_N, PICTURE_DOMAIN, "#555555");
}

void picture_task(FILE *out, const struct task_row *row)
{
	draw_boxes(out, PICTURE_TASK, task_colour, row);
}

static void draw_domain(FILE *out, double y, const struct topology_domain *info,
			const struct domain_column *columns)
{
	uint32_t marks[] = { info->opp_khz[0], topology_domain_max_khz(info) };
	char text[32];

	fprintf(out, "<g transform=\"translate(%d %g)\">\n", LEFT, y);
	picture_domain(out, info, columns);
	fputs("</g>\n", out);
	svg_text(out, 8, y + PICTURE_DOMAIN / 2.0, "start", info->name);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		snprintf(text, sizeof(text), "%u MHz", marks[i] / 1000);
		svg_label(out, LEFT - 6, y + PICTURE_DOMAIN - height_of(info, marks[i]) + 4, "end",
			  text);
	}
}

double picture_time_step(double span_s)
{
	static const double factors[] = { 2, 2.5, 2 }; /* from 1 to 2, to 5, to 10 */
	double step_s = 1e-6;

	for (size_t i = 0; span_s > 0 && step_s / span_s * COLUMNS_N < TICK_WIDTH; i++)
		step_s *= factors[i % 3];
	return step_s;
}

static void draw_times(FILE *out, double y, double span_s)
{
	double step_s = picture_time_step(span_s);
	char text[32];

	for (double at_s = 0; at_s <= span_s * 1.0001; at_s += step_s) {
		double x = LEFT + (span_s > 0 ? at_s / span_s * COLUMNS_N : 0);

		svg_line(out, x, y, x, y + 5, "#555555");
		snprintf(text, sizeof(text), "%g s", at_s);
		svg_label(out, x, y + 18, "middle", text);
		if (span_s <= 0)
			break;
	}
}

static void draw_colour(FILE *out, int i, double y, struct picture_colour colour)
{
	svg_box(out, LEFT + i * LEGEND_WIDTH, y - 9, 10, 10, colour.fill);
	svg_label(out, LEFT + i * LEGEND_WIDTH + 14, y, "start", colour.name);
}

static void draw_legends(FILE *out, double y)
{
	svg_label(out, 8, y, "start", "reason");
	for (int i = 0; i <= REASON_LAST; i++)
		draw_colour(out, i, y, picture_reason(i));
	svg_label(out, 8, y + 16, "start", "I/O boost");
	for (int i = 0; i <= IO_BOOST_CANT_TELL; i++)
		draw_colour(out, i, y + 16, picture_state(i));
}

static int compare_boosted(const void *a, const void *b)
{
	const struct task_row *first = a, *second = b;

	return (first->boosted < second->boosted) - (first->boosted > second->boosted);
}

uint32_t picture_sort_tasks(struct columns *columns)
{
	qsort(columns->tasks, columns->n_tasks, sizeof(*columns->tasks), compare_boosted);
	return columns->n_tasks < ROWS_MAX ? columns->n_tasks : ROWS_MAX;
}

void picture_write(FILE *out, const char *title, const struct topology *topology,
		   struct columns *columns)
{
	uint32_t rows = picture_sort_tasks(columns);
	double span_s = (double)(columns->timeline.end_ns - columns->timeline.begin_ns) / 1e9;
	uint64_t left_out = columns->n_tasks - rows + columns->tasks_left_out;
	double y = TOP;
	char text[64];

	svg_begin(out, WIDTH,
		  TOP + columns->n_domains * (PICTURE_DOMAIN + GAP) + rows * ROW + BOTTOM);
	svg_text(out, 8, 20, "start", title);
	draw_legends(out, 40);
	for (uint32_t i = 0; i < columns->n_domains; i++, y += PICTURE_DOMAIN + GAP)
		draw_domain(out, y, &topology->domains[i], columns->domains[i]);
	y -= columns->n_domains ? GAP - 8 : 0;
	for (uint32_t i = 0; i < rows; i++, y += ROW) {
		const struct task_row *row = &columns->tasks[i];

		snprintf(text, sizeof(text), "%s %u", row->comm, row->pid);
		svg_label(out, 8, y + 11, "start", text);
		fprintf(out, "<g transform=\"translate(%d %g)\">\n", LEFT, y + 2);
		picture_task(out, row);
		fputs("</g>\n", out);
	}
	draw_times(out, y + 2, span_s);
	if (left_out) {
		snprintf(text, sizeof(text), "and %llu more tasks", (unsigned long long)left_out);
		svg_label(out, WIDTH - 8, 20, "end", text);
	}
	svg_end(out);
}
