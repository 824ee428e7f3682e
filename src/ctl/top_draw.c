// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/top.h"

#include <inttypes.h>
#include <langinfo.h>
#include <ncurses.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define LINE_SIZE     512
#define BAR_WIDTH     12
#define HISTORY_LEAST 8
#define HISTORY_MOST  64
#define GRAPH_LEAST   5	 /* rows, below which no graph is worth its title */
#define GRAPH_MARGIN  10 /* for its scale */

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

/* Right-aligned; "-" if it is not known. */
static void put_number(int y, int x, int width, const json_t *row, const char *key, uint64_t unit,
		       const char *suffix)
{
	char text[32] = "-";

	if (field_is_known(row, key))
		snprintf(text, sizeof(text), "%" PRIu64 "%s",
			 (field_number(row, key) + unit / 2) / unit, suffix);
	putf(y, x, width, "%*s", width, text);
}

static void put_bar(const struct top_view *view, int y, int x, uint64_t part, uint64_t whole)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	uint64_t filled = whole ? part * BAR_WIDTH * 8 / whole : 0;
	char text[LINE_SIZE] = "";

	if (filled > BAR_WIDTH * 8)
		filled = BAR_WIDTH * 8;
	for (uint64_t i = 0; i < filled / 8; i++)
		strcat(text, view->is_utf8 ? "█" : "#");
	strcat(text, view->is_utf8 ? eighths[filled % 8] : "");
	put(y, x, BAR_WIDTH, text);
}

/* Half of the width beyond 80 columns; the reasons get the other half. */
static int history_width(void)
{
	int width = HISTORY_LEAST + (COLS > 80 ? (COLS - 80) / 2 : 0);

	return width < HISTORY_MOST ? width : HISTORY_MOST;
}

/* Whether the lists have room for their less important columns. */
static bool is_wide(void)
{
	return COLS >= 110;
}

/* A column of a row of blocks that is filled to this many eighths. */
static const char *block(const struct top_view *view, unsigned int eighths)
{
	static const char *const utf8[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { " ", "_", ".", "-", "=", "+", "*", "#", "@" };

	return (view->is_utf8 ? utf8 : plain)[eighths > 8 ? 8 : eighths];
}

static void put_history(const struct top_view *view, int y, int x, const char *name)
{
	const struct top_history *history = top_model_history(&view->model, name);
	size_t width = (size_t)history_width(), first;
	char text[LINE_SIZE] = "";

	first = history && history->n > width ? history->n - width : 0;
	for (size_t i = first; history && i < history->n; i++)
		strcat(text,
		       block(view, (history->moments[i].level * 8U + TOP_LEVELS / 2) / TOP_LEVELS));
	put(y, x, (int)width, text);
}

static void draw_domain(const struct top_view *view, int y, const json_t *row)
{
	const char *name = field_text(row, "name"), *why = field_text(row, "state_why");
	_cleanup_free_ char *reason = cell_reason(row, NULL);
	int x = 36 + history_width();
	attr_t attributes;
	short pair;

	put(y, 0, 9, field_shown(row, "name"));
	put(y, 10, 7, field_text(row, "cpus"));
	put_number(y, 18, 4, row, "current_khz", 1000, "");
	/* Reverse blocks look like holes. */
	attr_get(&attributes, &pair, NULL);
	attroff(A_REVERSE);
	put(y, 22, 1, " ");
	put_bar(view, y, 23, field_number(row, "current_khz"),
		field_number(row, "highest_opp_khz"));
	put(y, 35, 1, " ");
	put_history(view, y, 36, name);
	attron(attributes & A_REVERSE);
	putf(y, x, 6, "%4u %%", (unsigned int)(field_number(row, "utilisation_cap") * 100 / 1024));
	attron(COLOR_PAIR((int)top_model_tone(row)));
	putf(y, x + 6, COLS, " %s", why ? why : reason ? reason : "-");
	attroff(COLOR_PAIR((int)top_model_tone(row)));
}

static void draw_task(const struct top_view *view, int y, const json_t *row)
{
	_cleanup_free_ char *hold = format_duration(field_number(row, "hold_left_us"));
	int colour = field_number(row, "boost_cap") ? TOP_BOOSTED : 0;

	put_number(y, 0, 7, row, "pid", 1, "");
	putf(y, 7, 17, " %s", field_shown(row, "comm"));
	put(y, 24, 9, field_text(row, "domain"));
	attron(COLOR_PAIR(colour));
	putf(y, 33, 18, " %s", field_shown(row, "state"));
	attroff(COLOR_PAIR(colour));
	put(y, 51, 9, field_text(row, "device"));
	put_number(y, 60, 6, row, "io_rate_per_s", 1, "");
	put_number(y, 66, 7, row, "predicted_gain_permille", 10, " %");
	put_number(y, 73, 5, row, "wanted_khz", 1000, "");
	put(y, 78, COLS, "");
	if (!is_wide())
		return;
	put_number(y, 78, 7, row, "host_share_permille", 10, " %");
	put_number(y, 85, 8, row, "measured_gain_permille", 10, " %");
	putf(y, 93, 11, "%11s", hold ? hold : "-");
}

static void draw_capped(const struct top_view *view, int y, const json_t *row)
{
	_cleanup_free_ char *cap = format_level(field_text(row, "cap"));
	const char *file = field_text(row, "file");

	put_number(y, 0, 7, row, "pid", 1, "");
	putf(y, 7, 17, " %s", field_shown(row, "comm"));
	putf(y, 24, 10, "%s", cap);
	attron(COLOR_PAIR(TOP_LIMITED));
	put(y, 34, 24, field_text(row, "rule"));
	attroff(COLOR_PAIR(TOP_LIMITED));
	if (file && file[0])
		putf(y, 58, COLS, " %s:%" PRIu64, file, field_number(row, "line"));
	else
		put(y, 58, COLS, " an override");
}

static void draw_device(const struct top_view *view, int y, const json_t *row)
{
	_cleanup_free_ char *depth = cell_thousandths(row, "depth_milli");
	int colour = field_number(row, "boosted") ? TOP_BOOSTED : 0;

	put(y, 0, 16, field_text(row, "name"));
	put_number(y, 16, 6, row, "tasks", 1, "");
	put_number(y, 22, 10, row, "completions_per_s", 1, "");
	putf(y, 32, 7, "%7s", depth);
	attron(COLOR_PAIR(colour));
	put_number(y, 39, 8, row, "boosted", 1, "");
	attroff(COLOR_PAIR(colour));
	put_number(y, 47, 8, row, "trying", 1, "");
	put(y, 55, COLS, "");
	if (!is_wide())
		return;
	put_number(y, 70, 5, row, "completion_cpu", 1, "");
	putf(y, 75, COLS, "  %s", field_shown(row, "completion_domain"));
}

static const struct pane_look {
	const char *title;
	const char *behind; /* what follows the history, which is shorter or longer */
	const char *wide;   /* additional titles on wide screens */
	const char *empty;
	void (*draw)(const struct top_view *view, int y, const json_t *row);
} looks[TOP_PANES] = {
	[TOP_DOMAINS] = {
		.title = "DOMAIN    CPUS     MHZ              HISTORY",
		.behind = " USED WHY",
		.empty = "no cpufreq domain",
		.draw = draw_domain,
	},
	[TOP_TASKS] = {
		.title = "    PID TASK             DOMAIN    STATE            DEVICE    I/O/S   GAIN  MHZ",
		.wide = "   HOST   FOUND       HOLD",
		.empty = "no task does I/O as often as min-rate in wakegov.conf(5) says",
		.draw = draw_task,
	},
	[TOP_CAPPED] = {
		.title = "    PID CAPPED TASK      CAP       RULE OR OVERRIDE         WHERE",
		.empty = "no task is capped",
		.draw = draw_capped,
	},
	[TOP_DEVICES] = {
		.title = "DEVICE           TASKS     I/O/S  DEPTH BOOSTED  TRYING",
		.wide = "          CPU  DOMAIN",
		.empty = "no block device was used",
		.draw = draw_device,
	},
};

static void draw_pane(struct top_view *view, enum top_pane pane, int top, size_t height)
{
	struct top_list *list = &view->model.lists[pane];
	bool is_active = pane == view->pane;

	view->heights[pane] = height;
	view->tops[pane] = top;
	top_model_move(&view->model, pane, 0, height);
	attron(is_active ? A_REVERSE : A_BOLD);
	putf(top, 0, COLS, "%s%s", looks[pane].title, is_wide() ? looks[pane].wide ?: "" : "");
	if (looks[pane].behind)
		mvaddstr(top, 37 + history_width(), looks[pane].behind);
	if (height && list->n > height)
		putf(top, COLS > 14 ? COLS - 12 : 0, 12, " %zu-%zu/%zu", list->scroll + 1,
		     list->scroll + height, list->n);
	attroff(A_REVERSE | A_BOLD);
	for (size_t i = 0; i < height && list->scroll + i < list->n; i++) {
		bool is_selected = is_active && list->scroll + i == list->selected;

		if (is_selected) {
			attron(A_REVERSE);
			put(top + 1 + (int)i, 0, COLS, "");
		}
		looks[pane].draw(view, top + 1 + (int)i, list->rows[list->scroll + i]);
		attroff(A_REVERSE);
	}
	if (!list->n && height)
		put(top + 1, 0, COLS,
		    view->model.filter[0] ? "nothing matches" : looks[pane].empty);
}

static void draw_head(const struct top_view *view)
{
	const json_t *self = json_object_get(view->status, "self");
	const char *version = field_text(view->status, "version");
	const char *mode = field_text(view->status, "mode");
	_cleanup_free_ char *uptime = format_duration(field_number(view->status, "uptime_us"));
	uint64_t lost = 0;
	const char *key;
	json_t *drops;

	json_object_foreach(json_object_get(view->status, "drops"), key, drops)
		lost += (uint64_t)json_integer_value(drops);
	if (view->is_lost || !view->status) {
		attron(COLOR_PAIR(TOP_TROUBLED) | A_BOLD);
		put(0, 0, COLS,
		    "wakegovd does not answer; trying again. See: systemctl status "
		    "wakegovd");
		attroff(COLOR_PAIR(TOP_TROUBLED) | A_BOLD);
		return;
	}
	putf(0, 0, COLS, "wakegovd %s, up %s, %s  own %.1f %% CPU, %.1f MiB  lost %" PRIu64,
	     version ? version : "?", uptime ? uptime : "?", mode ? mode : "?",
	     100 * view->own_share, (double)field_number(self, "pss_kib") / 1024, lost);
}

/* Shows as many keys as fit, the most important first; none is cut. */
static void draw_foot(const struct top_view *view)
{
	const struct top_list *list = &view->model.lists[view->pane];
	char sort[64], filter[TOP_FILTER_SIZE + 16], text[LINE_SIZE] = "";
	const char *const parts[] = {
		view->is_paused ? "PAUSED" : NULL,
		"q quit",
		"? keys",
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

/* Why the domain runs as it does, in one line; of a chain both tasks. */
static char *explain_why(const struct top_view *view, const json_t *domain)
{
	const json_t *first = json_array_get(json_object_get(view->explained, "contenders"), 0);
	const json_t *chain = json_object_get(first, "chain");
	_cleanup_free_ char *task = NULL, *other = NULL;

	if (!json_is_object(chain))
		return cell_reason(domain, NULL);
	task = cell_task(first, NULL);
	if (!field_is_known(chain, "pid"))
		return format_print("chain: %s, after an input event", task ?: "?");
	other = cell_task(chain, NULL);
	return format_print("chain: %s, and %s, are together %u %% of a CPU", task ?: "?",
			    other ?: "?", field_percent(chain, "share_permille"));
}

/* The selected domain's frequency by time, in the rows below the lists: a column for each look. */
static void draw_graph(const struct top_view *view, int top, int height)
{
	const json_t *domain = top_model_selected(&view->model, TOP_DOMAINS);
	const struct top_history *history = top_model_history(&view->model,
							      field_text(domain, "name"));
	size_t width = COLS > GRAPH_MARGIN ? (size_t)(COLS - GRAPH_MARGIN) : 0, first;
	_cleanup_free_ char *why = NULL, *since = NULL;

	if (!history || !width)
		return;
	first = history->n > width ? history->n - width : 0;
	since = format_duration(history->moments[history->n - 1].at_us -
				history->moments[first].at_us);
	why = explain_why(view, domain);
	attron(A_BOLD);
	putf(top, 0, COLS, "%s in the last %s; now %s", history->name, since ?: "?", why ?: "?");
	attroff(A_BOLD);
	put_number(top + 1, 0, GRAPH_MARGIN - 1, domain, "highest_opp_khz", 1000, " MHz");
	for (int row = 0; row < height - 1; row++) {
		/* From the bottom. */
		unsigned int below = (unsigned int)(height - 2 - row) * 8;

		move(top + 1 + row, GRAPH_MARGIN);
		for (size_t i = first; i < history->n; i++) {
			const struct top_moment *moment = &history->moments[i];
			unsigned int eighths =
				(moment->level * (unsigned int)(height - 1) * 8 + TOP_LEVELS / 2) /
				TOP_LEVELS;

			attron(COLOR_PAIR(moment->tone));
			addstr(block(view, eighths > below ? eighths - below : 0));
			attroff(COLOR_PAIR(moment->tone));
		}
	}
}

/*
 * Domains get what they need up to half, devices up to a quarter, capped tasks with their title up
 * to a third of the rest, tasks what they need of the remainder, and a graph what is left, if that
 * is enough for one.
 */
static void draw_panes(struct top_view *view)
{
	size_t room = LINES > 8 ? (size_t)LINES - 5 : 3; /* rows without titles, head and foot */
	size_t domains = rows_of(view, TOP_DOMAINS, (room + 1) / 2);
	size_t devices = rows_of(view, TOP_DEVICES, (room + 3) / 4);
	size_t tasks = room > domains + devices ? room - domains - devices : 0, capped = 0, graph;
	int y = 2 + (int)domains;

	if (json_array_size(view->model.lists[TOP_CAPPED].all) && tasks > 2)
		capped = rows_of(view, TOP_CAPPED, tasks / 3);
	view->is_hidden[TOP_CAPPED] = !capped;
	if (!capped && view->pane == TOP_CAPPED)
		view->pane = TOP_TASKS;
	if (capped)
		tasks -= capped + 1;
	if (view->most_tasks < rows_of(view, TOP_TASKS, tasks))
		view->most_tasks = rows_of(view, TOP_TASKS, tasks);
	graph = tasks > view->most_tasks ? tasks - view->most_tasks : 0;
	if (graph < GRAPH_LEAST)
		graph = 0;
	tasks -= graph;
	draw_pane(view, TOP_DOMAINS, 1, domains);
	draw_pane(view, TOP_TASKS, y, tasks);
	y += 1 + (int)tasks;
	if (capped)
		draw_pane(view, TOP_CAPPED, y, capped);
	y += capped ? 1 + (int)capped : 0;
	draw_pane(view, TOP_DEVICES, y, devices);
	if (graph)
		draw_graph(view, y + 1 + (int)devices, (int)graph);
}

void top_draw(struct top_view *view)
{
	const char *text = view->text;

	erase();
	if (text) {
		for (int y = 0; *text && y < LINES - 1; y++, text += *text == '\n') {
			size_t length = strcspn(text, "\n");

			putf(y, 0, COLS, "%.*s", (int)length, text);
			text += length;
		}
		put(LINES - 1, 0, COLS, "any key goes back");
	} else {
		draw_head(view);
		draw_panes(view);
		draw_foot(view);
	}
	refresh();
}
