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
#include "ctl/format.h"
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

static const char keys_text[] =
	"Tab, Shift-Tab   the next list, the one before\n"
	"Up, Down, j, k   the next row; PgUp, PgDn, Home, End\n"
	"e, Enter         explain the selected domain or task\n"
	"s, r             sort by the next key, in the other direction\n"
	"/                show only rows with a text in their names, states or reasons\n"
	"p, Space         pause, and go on\n"
	"+, -             look more often, less often\n"
	"q, Ctrl-C        quit\n"
	"\n"
	"Tasks are listed that do I/O, and below those that a rule or an override caps.\n"
	"Green: boosted, or a disk where boosts pay. Yellow: limited.\n"
	"Cyan: tasks that work in turn.\n"
	"Red: left to another program, or in trouble.\n";

/* Calls a method; NULL when it failed. Consumes parameters. */
static json_t *ask(int fd, const char *method, json_t *parameters, uint64_t deadline_ns)
{
	json_t *reply, *ret = NULL;

	if (caller_call(fd, method, parameters, deadline_ns, &reply) < 0)
		return NULL;
	if (!json_is_string(json_object_get(reply, "error")))
		ret = json_incref(json_object_get(reply, "parameters"));
	json_decref(reply);
	return ret;
}

/* Moves a list out of a reply. Consumes the reply. */
static void set_list(struct top_view *view, enum top_pane pane, json_t *reply, const char *key)
{
	json_t *list = json_object_get(reply, key);

	if (list)
		top_model_set(&view->model, pane, json_incref(list));
	json_decref(reply);
}

static void update(const struct ctl *ctl, struct top_view *view)
{
	uint64_t deadline_ns = caller_deadline(ctl->timeout_ns);
	_cleanup_close_ int fd = caller_open(ctl->path, deadline_ns);
	json_t *status = fd < 0 ? NULL : ask(fd, "io.wakegov.Status", NULL, deadline_ns);
	uint64_t cpu_us = field_number(json_object_get(status, "self"), "cpu_us");
	uint64_t before_cpu_us = field_number(json_object_get(view->status, "self"), "cpu_us");
	uint64_t uptime_us = field_number(status, "uptime_us");
	uint64_t before_us = field_number(view->status, "uptime_us");

	view->is_lost = !status;
	if (!status)
		return;
	/* The growth of the daemon's CPU time, divided by the time between two replies. */
	view->own_share = 0;
	if (view->status && uptime_us > before_us && cpu_us > before_cpu_us)
		view->own_share = (double)(cpu_us - before_cpu_us) /
				  (double)(uptime_us - before_us);
	json_decref(view->status);
	view->status = status;
	top_model_set(&view->model, TOP_DOMAINS, json_incref(json_object_get(status, "domains")));
	set_list(view, TOP_TASKS,
		 ask(fd, "io.wakegov.Tasks", json_pack("{si}", "limit", TASKS_SHOWN), deadline_ns),
		 "tasks");
	set_list(view, TOP_CAPPED,
		 ask(fd, "io.wakegov.CappedTasks", json_pack("{si}", "limit", TASKS_SHOWN),
		     deadline_ns),
		 "tasks");
	set_list(view, TOP_DEVICES, ask(fd, "io.wakegov.Devices", NULL, deadline_ns), "devices");
}

/* The text of Explain for the selected row, or of ExplainRules for a capped one. */
static void explain_selected(const struct ctl *ctl, struct top_view *view)
{
	const json_t *row = top_model_selected(&view->model, view->pane);
	uint64_t deadline_ns = caller_deadline(ctl->timeout_ns);
	bool is_capped = view->pane == TOP_CAPPED;
	json_auto_t *reply = NULL;
	_cleanup_close_ int fd = -1;
	FILE *file = NULL;
	size_t size;

	if (row && view->pane != TOP_DEVICES) {
		fd = caller_open(ctl->path, deadline_ns);
		reply = ask(
			fd, is_capped ? "io.wakegov.ExplainRules" : "io.wakegov.Explain",
			view->pane == TOP_DOMAINS
				? json_pack("{ss}", "domain", field_text(row, "name"))
				: json_pack("{sI}", "pid", (json_int_t)field_number(row, "pid")),
			deadline_ns);
	}
	if (reply)
		file = open_memstream(&view->text, &size);
	if (file) {
		if (!is_capped)
			explain_add(reply);
		view_print(file, is_capped ? "rules_of_task" : "explain", reply);
		fclose(file);
	}
	if (!view->text)
		view->text =
			strdup(view->pane == TOP_DEVICES
				       ? "A domain or a task can be explained. Tab leads to them."
				       : "It cannot be explained now: it is gone, or wakegovd does "
					 "not answer.");
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

static void move_selection(struct top_view *view, int key)
{
	long height = (long)view->heights[view->pane];
	long by = key == KEY_UP || key == 'k'	  ? -1
		  : key == KEY_DOWN || key == 'j' ? 1
		  : key == KEY_PPAGE		  ? -height
		  : key == KEY_NPAGE		  ? height
		  : key == KEY_HOME		  ? -100000
		  : key == KEY_END		  ? 100000
						  : 0;

	top_model_move(&view->model, view->pane, by, (size_t)height);
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
		free(view->text);
		view->text = NULL;
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
		view->text = strdup(keys_text);
		break;
	default:
		move_selection(view, key);
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
