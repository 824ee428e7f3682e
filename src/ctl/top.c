// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl top: the live view. Calls once per delay, and paints when something changed. */
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ttydefaults.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "ctl/top.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "varlink/caller.h"

/* Last: it makes macros of common words. */
#include <term.h>

#define DELAY_DEFAULT_MS 1000
#define DELAY_LEAST_MS	 200
#define DELAY_MOST_MS	 60000
#define TASKS_SHOWN	 100 /* limit of the tasks with most I/O, and of capped ones */

/* Consumes parameters. */
static void update_list(const struct ctl *ctl, struct top_view *view, enum top_pane pane,
			const char *method, json_t *parameters)
{
	json_auto_t *reply = NULL;
	json_t *list;

	ctl_try(ctl, method, parameters, &reply);
	list = json_object_get(reply, pane == TOP_DEVICES ? "devices" : "tasks");
	if (list)
		top_model_set(&view->model, pane, json_incref(list));
}

static void update(const struct ctl *ctl, struct top_view *view)
{
	uint64_t before_cpu_us = field_number(json_object_get(view->status, "self"), "cpu_us");
	uint64_t before_us = field_number(view->status, "uptime_us"), own_permille = 0, lost = 0;
	uint64_t cpu_us, uptime_us;
	json_t *status = NULL, *drops;
	const char *version, *key;

	ctl_try(ctl, "io.wakegov.Status", NULL, &status);
	view->is_lost = !status;
	if (!status)
		return;
	version = field_shown(status, "version");
	cpu_us = field_number(json_object_get(status, "self"), "cpu_us");
	uptime_us = field_number(status, "uptime_us");
	/* The growth of the daemon's CPU time, divided by the time between two replies. */
	if (view->status && uptime_us > before_us && cpu_us > before_cpu_us)
		own_permille = (cpu_us - before_cpu_us) * 1000 / (uptime_us - before_us);
	json_object_foreach(json_object_get(status, "drops"), key, drops)
		lost += (uint64_t)json_integer_value(drops);
	json_object_set_new(status, "own_permille", json_integer((json_int_t)own_permille));
	json_object_set_new(status, "lost", json_integer((json_int_t)lost));
	/* Without its commit, for which there is no room. */
	json_object_set_new(status, "release", json_stringn(version, strcspn(version, "~")));
	json_decref(view->status);
	view->status = status;
	top_model_set(&view->model, TOP_DOMAINS, json_incref(json_object_get(status, "domains")));
	update_list(ctl, view, TOP_TASKS, "io.wakegov.Tasks",
		    json_pack("{si}", "limit", TASKS_SHOWN));
	update_list(ctl, view, TOP_CAPPED, "io.wakegov.CappedTasks",
		    json_pack("{si}", "limit", TASKS_SHOWN));
	update_list(ctl, view, TOP_DEVICES, "io.wakegov.Devices", NULL);
}

/* Shows a view over everything, from its first line on. */
static void show_text(struct top_view *view, const char *name, const json_t *reply)
{
	size_t size;
	FILE *file = open_memstream(&view->text, &size);

	view->scroll = 0;
	if (file) {
		view_print(file, name, reply);
		fclose(file);
	}
}

/* The text of Explain for the selected row, or of ExplainRules for a capped one. */
static void explain_selected(const struct ctl *ctl, struct top_view *view)
{
	const json_t *row = top_model_selected(&view->model, view->pane);
	bool is_capped = view->pane == TOP_CAPPED;
	json_auto_t *reply = NULL;

	if (row && view->pane != TOP_DEVICES)
		ctl_try(ctl, is_capped ? "io.wakegov.ExplainRules" : "io.wakegov.Explain",
			view->pane == TOP_DOMAINS
				? json_pack("{ss}", "domain", field_text(row, "name"))
				: json_pack("{sI}", "pid", (json_int_t)field_number(row, "pid")),
			&reply);
	if (reply && !is_capped)
		explain_add(reply);
	show_text(view,
		  view->pane == TOP_DEVICES ? "top_no_task"
		  : !reply		    ? "top_gone"
		  : is_capped		    ? "rules_of_task"
					    : "explain",
		  reply ?: words_all());
}

static void edit_filter(struct top_view *view, int key)
{
	char text[TOP_FILTER_SIZE];
	size_t length = strlen(view->model.filter);

	memcpy(text, view->model.filter, sizeof(text));
	if (key == '\n' || key == KEY_ENTER) {
		view->is_filtering = false;
	} else if (key == 27) {
		view->is_filtering = false;
		text[0] = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length) {
		text[length - 1] = '\0';
	} else if (key >= ' ' && key < 127 && length + 1 < sizeof(text)) {
		text[length] = (char)key;
		text[length + 1] = '\0';
	}
	top_model_filter(&view->model, text);
}

/* How far a key moves where a page has so many rows; 0: it is another key. */
static long rows_of_key(int key, long height)
{
	return key == KEY_UP || key == 'k'     ? -1
	       : key == KEY_DOWN || key == 'j' ? 1
	       : key == KEY_PPAGE	       ? -height
	       : key == KEY_NPAGE	       ? height
	       : key == KEY_HOME	       ? -100000
	       : key == KEY_END		       ? 100000
					       : 0;
}

/* Goes to another pane that is shown, `by` further on. */
static void change_pane(struct top_view *view, unsigned int by)
{
	do
		view->pane = (view->pane + by) % TOP_PANES;
	while (view->is_hidden[view->pane]);
}

/* False: quits. */
static bool on_key(const struct ctl *ctl, struct top_view *view, int key)
{
	size_t height = view->heights[view->pane];

	if (key == CTRL('c'))
		return false;
	if (key == CTRL('z')) {
		raise(SIGTSTP);
		return true;
	}
	if (view->is_filtering) {
		edit_filter(view, key);
		return true;
	}
	if (view->text && key != KEY_RESIZE) {
		view->scroll += rows_of_key(key, LINES - 1);
		if (!view->is_long || !rows_of_key(key, LINES - 1)) {
			free(view->text);
			view->text = NULL;
		}
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case '\t':
		change_pane(view, 1);
		break;
	case KEY_BTAB:
		change_pane(view, TOP_PANES - 1);
		break;
	case 'e':
	case '\n':
	case KEY_ENTER:
		explain_selected(ctl, view);
		break;
	case 's':
	case 'r':
		top_model_sort(&view->model, view->pane, key == 'r');
		break;
	case '/':
		view->is_filtering = true;
		break;
	case 'p':
	case ' ':
		view->is_paused = !view->is_paused;
		break;
	case '+':
		if (view->delay_ms / 2 >= DELAY_LEAST_MS)
			view->delay_ms /= 2;
		break;
	case '-':
		if (view->delay_ms * 2 <= DELAY_MOST_MS)
			view->delay_ms *= 2;
		break;
	case '?':
	case 'h':
		show_text(view, "top_keys", words_all());
		break;
	default:
		top_model_move(&view->model, view->pane, rows_of_key(key, (long)height), height);
	}
	return true;
}

static void run(const struct ctl *ctl, struct top_view *view)
{
	uint64_t next_us = 0, now_us;
	int key = ERR;

	do {
		now_us = time_now_ns() / NS_PER_US;
		if (now_us >= next_us) {
			if (!view->is_paused && !view->text)
				update(ctl, view);
			next_us = now_us + view->delay_ms * 1000ULL;
		}
		top_draw(view);
		timeout((int)((next_us - now_us) / 1000) + 1);
		key = getch();
	} while (key == ERR || on_key(ctl, view, key));
}

static enum ctl_exit show_screen(const struct ctl *ctl, struct top_view *view)
{
	const char *move = NULL;
	sigset_t resize, before;
	SCREEN *screen;
	int error;

	/*
	 * A resize between the question for the size and ncurses' handler would be lost, so
	 * SIGWINCH waits for that.
	 */
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	sigprocmask(SIG_BLOCK, &resize, &before);
	if (setupterm(NULL, STDOUT_FILENO, &error) == OK)
		move = tigetstr("cup");
	screen = move && move != (char *)-1 ? newterm(NULL, stdout, stdin) : NULL;
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* Without cursor movement it can show lines only. */
	if (!screen) {
		complain("this terminal (TERM=%s) cannot show a live view. Try: wakegovctl monitor",
			 getenv("TERM") ?: "");
		return CTL_REFUSED;
	}
	set_term(screen);
	set_escdelay(50);
	/* Ctrl-C is a key, so that it quits as q does. */
	raw();
	noecho();
	keypad(stdscr, true);
	curs_set(0);
	top_draw_init(view);
	run(ctl, view);
	endwin();
	delscreen(screen);
	return CTL_OK;
}

enum ctl_exit command_top(struct ctl *ctl)
{
	struct top_view view = { .delay_ms = DELAY_DEFAULT_MS };
	const char *delay = ctl_value(ctl, "delay");
	uint64_t delay_us;
	enum ctl_exit code;
	int fd;

	if (delay && (!quantity_duration_us(delay, &delay_us) || delay_us < DELAY_LEAST_MS * 1000 ||
		      delay_us > DELAY_MOST_MS * 1000))
		return ctl_misuse(ctl, "--delay %s: expected a time from 200ms to 60s", delay);
	if (delay)
		view.delay_ms = (unsigned int)(delay_us / 1000);
	if (ctl->json)
		return ctl_misuse(ctl, "top is for people; try 'wakegovctl monitor --json'");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ctl_misuse(ctl, "top needs a terminal; try 'wakegovctl status'");
	fd = caller_open(ctl->path, caller_deadline(ctl->timeout_ns));
	if (fd < 0)
		return complain_open(ctl->path, fd);
	close(fd);
	code = show_screen(ctl, &view);
	top_model_deinit(&view.model);
	json_decref(view.status);
	free(view.text);
	return code;
}
