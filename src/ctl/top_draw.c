// SPDX-License-Identifier: GPL-2.0-only
/* Paints the live view with ncurses: each list as the table that other commands print. */
#include "ctl/top.h"

#include <inttypes.h>
#include <langinfo.h>
#include <ncurses.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "ctl/print.h"
#include "shared/cleanup.h"

#define LINE_SIZE     512
#define COLUMNS_LEAST 4
#define HISTORY_LEAST 8

/* Pairs of colours are numbered by tone. */
static const short colours[TOP_TONES] = {
	[TOP_BOOSTED] = COLOR_GREEN,
	[TOP_CHAINED] = COLOR_CYAN,
	[TOP_LIMITED] = COLOR_YELLOW,
	[TOP_TROUBLED] = COLOR_RED,
};

void top_draw_init(struct top_view *view)
{
	view->is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (!style_is_used(stdout) || !has_colors())
		return;
	start_color();
	use_default_colors();
	for (int tone = TOP_PLAIN + 1; tone < TOP_TONES; tone++)
		init_pair(tone, colours[tone], -1);
}

/* Draws text in a field of width columns, cut or padded. Characters may be two columns wide. */
static void put(int y, int x, int width, const char *text)
{
	_cleanup_free_ char *clean = format_clean(text);
	wchar_t wide[LINE_SIZE];
	size_t n = clean ? mbstowcs(wide, clean, LINE_SIZE - 1) : 0;
	int used = 0;
	size_t i;

	if (width > COLS - x)
		width = COLS - x;
	if (y >= LINES || width <= 0)
		return;
	if (n == (size_t)-1)
		/* A locale without such characters: each of their bytes becomes "?". */
		for (n = 0; n < LINE_SIZE - 1 && clean[n]; n++)
			wide[n] = (unsigned char)clean[n] < 0x80 ? clean[n] : L'?';
	for (i = 0; i < n; i++) {
		int columns = wcwidth(wide[i]);

		if (columns < 0) {
			wide[i] = '?';
			columns = 1;
		}
		if (used + columns > width)
			break;
		used += columns;
	}
	mvaddnwstr(y, x, wide, (int)i);
	for (; used < width; used++)
		addch(' ');
}

static void putf(int y, int x, int width, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void putf(int y, int x, int width, const char *format, ...)
{
	char text[LINE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put(y, x, width, text);
}

/* Half of the width beyond 80 columns; the reasons get the other half. */
static int history_width(void)
{
	int width = HISTORY_LEAST + (COLS > 80 ? (COLS - 80) / 2 : 0);

	return width < TOP_HISTORY ? width : TOP_HISTORY;
}

/* What the domain's frequency did in the last updates, as a row of blocks. */
static json_t *history_of(const struct top_view *view, const char *name)
{
	static const char *const utf8[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { " ", "_", ".", "-", "=", "+", "*", "#", "@" };
	const struct top_history *history = top_model_history(&view->model, name);
	size_t width = (size_t)history_width(), n = history ? history->n : 0;
	char text[LINE_SIZE] = "";

	for (size_t i = n > width ? n - width : 0; i < n; i++)
		strcat(text, (view->is_utf8 ? utf8 : plain)[history->levels[i]]);
	for (size_t i = n; i < width; i++)
		strcat(text, " ");
	return json_string(text);
}

static const struct pane_look {
	const char *empty;
	const char *coloured; /* a row is coloured where this is not 0; NULL: by its reason */
	enum top_tone tone;
} looks[TOP_PANES] = {
	[TOP_DOMAINS] = { "no cpufreq domain" },
	[TOP_TASKS] = { "no task does I/O as often as min-rate in wakegov.conf(5) says",
			"boost_cap", TOP_BOOSTED },
	[TOP_CAPPED] = { "no task is capped", "pid", TOP_LIMITED },
	[TOP_DEVICES] = { "no block device was used", "boosted", TOP_BOOSTED },
};

/* The lines of the rows that the screen has room for, the title first. */
static char **lines_of(const struct top_view *view, enum top_pane pane, json_t *rows)
{
	struct table table = top_table(pane);
	json_t *row;
	size_t i;

	if (pane == TOP_DOMAINS)
		json_array_foreach(rows, i, row)
			json_object_set_new(row, "history",
					    history_of(view, field_text(row, "name")));
	table.width = (size_t)COLS;
	for (;; table.n_columns--) {
		char **lines = table_lines(&table, rows, table.width);

		if (table.n_columns <= COLUMNS_LEAST || strlen(lines[0]) <= table.width)
			return lines;
		for (i = 0; i <= json_array_size(rows); i++)
			free(lines[i]);
		free(lines);
	}
}

static void draw_row(const struct pane_look *look, int y, const json_t *row, const char *line,
		     bool is_selected, int history_x)
{
	enum top_tone tone = !look->coloured			 ? top_model_tone(row)
			     : field_number(row, look->coloured) ? look->tone
								 : TOP_PLAIN;

	attron(COLOR_PAIR((int)tone) | (is_selected ? A_REVERSE : 0));
	put(y, 0, COLS, line);
	attroff(COLOR_PAIR((int)tone) | A_REVERSE);
	/* Reverse blocks look like holes. */
	if (history_x < COLS)
		mvchgat(y, history_x, history_width(), A_NORMAL, (short)tone, NULL);
}

static void draw_pane(struct top_view *view, enum top_pane pane, int top, size_t height)
{
	struct top_list *list = &view->model.lists[pane];
	bool is_active = pane == view->pane;
	json_auto_t *rows = json_array();
	_cleanup_free_ char **lines = NULL;
	const char *history;

	view->heights[pane] = height;
	top_model_move(&view->model, pane, 0, height);
	for (size_t i = list->scroll; i < list->n && i < list->scroll + height; i++)
		json_array_append(rows, (json_t *)list->rows[i]);
	lines = lines_of(view, pane, rows);
	history = strstr(lines[0], TOP_HISTORY_TITLE);
	attron(is_active ? A_REVERSE : A_BOLD);
	put(top, 0, COLS, lines[0]);
	if (height && list->n > height)
		putf(top, COLS > 14 ? COLS - 12 : 0, 12, " %zu-%zu/%zu", list->scroll + 1,
		     list->scroll + height, list->n);
	attroff(A_REVERSE | A_BOLD);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		draw_row(&looks[pane], top + 1 + (int)i, json_array_get(rows, i), lines[i + 1],
			 is_active && list->scroll + i == list->selected,
			 history ? (int)(history - lines[0]) : COLS);
		free(lines[i + 1]);
	}
	free(lines[0]);
	if (!list->n && height)
		put(top + 1, 0, COLS,
		    view->model.filter[0] ? "nothing matches" : looks[pane].empty);
}

static void draw_head(const struct top_view *view)
{
	_cleanup_free_ char *line = words_fill("parts", "top_head", view->status, NULL);
	attr_t trouble = view->is_lost || !line ? COLOR_PAIR(TOP_TROUBLED) | A_BOLD : 0;

	attron(trouble);
	put(0, 0, COLS,
	    trouble ? "wakegovd does not answer; trying again. See: systemctl status wakegovd"
		    : line);
	attroff(trouble);
}

/* Shows as many keys as fit, the most important first; none is cut. */
static void draw_foot(const struct top_view *view)
{
	const struct top_list *list = &view->model.lists[view->pane];
	bool is_long = list->n > view->heights[view->pane];
	char sort[64], filter[TOP_FILTER_SIZE + 16], text[LINE_SIZE] = "";
	const char *const parts[] = {
		view->is_paused ? "PAUSED" : NULL,
		"q quit",
		"? keys",
		is_long ? "Up, Down scroll" : NULL,
		sort,
		filter,
		"Tab list",
		"e explain",
		"p pause",
	};

	if (view->is_filtering) {
		putf(LINES - 1, 0, COLS, "filter: %s_   Enter keeps it, Esc shows all",
		     view->model.filter);
		return;
	}
	snprintf(sort, sizeof(sort), "s sort (%s%s)", top_model_sort_name(&view->model, view->pane),
		 list->is_reverse ? ", reversed" : "");
	snprintf(filter, sizeof(filter), "/ filter%s%s", view->model.filter[0] ? ": " : "",
		 view->model.filter);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i] && (int)(strlen(text) + strlen(parts[i])) + 2 <= COLS)
			strcat(strcat(text, text[0] ? "  " : ""), parts[i]);
	put(LINES - 1, 0, COLS, text);
}

/* The number of rows of a list: at least one, which says when the list is empty. */
static size_t rows_of(const struct top_view *view, enum top_pane pane, size_t most)
{
	size_t n = view->model.lists[pane].n ? view->model.lists[pane].n : 1;

	return n < most ? n : most;
}

/*
 * Domains get what they need up to half, devices up to a quarter, capped tasks with their title up
 * to a third of the rest, and tasks what is left.
 */
static void draw_panes(struct top_view *view)
{
	size_t room = LINES > 8 ? (size_t)LINES - 5 : 3; /* rows without titles, head and foot */
	size_t domains = rows_of(view, TOP_DOMAINS, (room + 1) / 2);
	size_t devices = rows_of(view, TOP_DEVICES, (room + 3) / 4);
	size_t tasks = room > domains + devices ? room - domains - devices : 0, capped = 0;
	int y = 2 + (int)domains;

	if (json_array_size(view->model.lists[TOP_CAPPED].all) && tasks > 2)
		capped = rows_of(view, TOP_CAPPED, tasks / 3);
	view->is_hidden[TOP_CAPPED] = !capped;
	if (!capped && view->pane == TOP_CAPPED)
		view->pane = TOP_TASKS;
	if (capped)
		tasks -= capped + 1;
	draw_pane(view, TOP_DOMAINS, 1, domains);
	draw_pane(view, TOP_TASKS, y, tasks);
	y += 1 + (int)tasks;
	if (capped)
		draw_pane(view, TOP_CAPPED, y, capped);
	y += capped ? 1 + (int)capped : 0;
	draw_pane(view, TOP_DEVICES, y, devices);
}

static void draw_text(struct top_view *view)
{
	const char *line = view->text, *next;
	long n = 0, height = LINES - 1;

	for (const char *end = line; (end = strchr(end, '\n')); end++)
		n++;
	view->is_long = n > height;
	view->scroll = view->scroll < n - height ? view->scroll : n - height;
	view->scroll = view->scroll > 0 ? view->scroll : 0;
	for (long i = 0; (next = strchr(line, '\n')) && i < view->scroll + height; i++) {
		if (i >= view->scroll)
			putf((int)(i - view->scroll), 0, COLS, "%.*s", (int)(next - line), line);
		line = next + 1;
	}
	put(LINES - 1, 0, COLS,
	    view->is_long ? "Up, Down, PgUp, PgDn scroll, any other key goes back"
			  : "any key goes back");
}

void top_draw(struct top_view *view)
{
	erase();
	if (view->text) {
		draw_text(view);
	} else {
		draw_head(view);
		draw_panes(view);
		draw_foot(view);
	}
	refresh();
}
