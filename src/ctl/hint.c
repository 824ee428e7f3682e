// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl hint: gives tasks a class, and lists hints and classes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "ctl/quantity.h"
#include "shared/cleanup.h"
#include "shared/time.h"

/* "make (812) and what it starts" */
static char *cell_whom(const json_t *hint, const char *key)
{
	_cleanup_free_ char *comm = format_clean(field_text(hint, "comm"));
	bool is_thread = json_is_true(json_object_get(hint, "thread"));
	bool children = json_is_true(json_object_get(hint, "children"));

	return format_print("%s (%s%" PRIu64 ")%s", comm, is_thread ? "thread " : "",
			    field_number(hint, "pid"), children ? " and what it starts" : "");
}

static char *cell_left(const json_t *hint, const char *key)
{
	return field_is_known(hint, key) ? cell_duration(hint, key) : strdup("its client");
}

static void show_hints(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "CLASS", TABLE_LEFT, cell_text, "class" },
		{ "THREADS", TABLE_RIGHT, cell_number, "tasks" },
		{ "LEFT", TABLE_RIGHT, cell_left, "left_us" },
		{ "BY", TABLE_LEFT, cell_user, "uid" },
		{ "FOR", TABLE_LEFT, cell_whom },
	};

	if (!table_print(TABLE(columns), json_object_get(reply, "hints"), stdout))
		puts("no task was hinted to be of a class. One is by: wakegovctl hint PID "
		     "background");
}

static enum ctl_exit list(struct ctl *ctl)
{
	json_auto_t *hints = json_array(), *all = json_pack("{sO}", "hints", hints);
	enum ctl_exit code = ctl_call_pages(ctl, "io.wakegov.Hints", json_object(), "hints",
					    SIZE_MAX, hints);

	return code == CTL_OK ? ctl_print(ctl, all, show_hints) : code;
}

static char *cell_inherit(const json_t *class, const char *key)
{
	return strdup(json_is_true(json_object_get(class, key)) ? "yes" : "no");
}

static void show_classes(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "CLASS", TABLE_LEFT, cell_text, "name" },
		{ "CAP", TABLE_RIGHT, cell_level, "cap" },
		{ "FLOOR", TABLE_RIGHT, cell_level, "floor" },
		{ "I/O", TABLE_RIGHT, cell_text, "io_boost" },
		{ "PLACEMENT", TABLE_LEFT, cell_text, "placement" },
		{ "IDLE", TABLE_RIGHT, cell_level, "idle_latency" },
		{ "INHERIT", TABLE_RIGHT, cell_inherit, "inherit" },
		{ "THREADS", TABLE_RIGHT, cell_number, "tasks" },
	};
	_cleanup_free_ char *why_not = format_clean(field_text(reply, "why_not_here"));

	table_print(TABLE(columns), json_object_get(reply, "classes"), stdout);
	if (field_text(reply, "why_not_here"))
		printf("none of them does anything here: %s\n", why_not);
}

static void show_hint(const json_t *reply)
{
	const json_t *hint = json_object_get(reply, "hint");
	_cleanup_free_ char *whom = NULL, *class = NULL, *left = NULL;

	if (!json_is_object(hint)) {
		puts("the hint is over");
		return;
	}
	whom = cell_whom(hint, NULL);
	class = format_clean(field_text(hint, "class"));
	left = format_left(field_number(hint, "left_us"));
	printf("%s: %s for %s, or until it ends. End it sooner with: wakegovctl hint %" PRIu64
	       " none\n",
	       whom, class, left, field_number(hint, "pid"));
}

static enum ctl_exit give(struct ctl *ctl, uint64_t pid)
{
	bool children = ctl_value(ctl, "children"), alone = ctl_value(ctl, "alone");
	json_t *parameters;
	uint64_t us = 0;

	if (!ctl_duration(ctl, "for", &us))
		return CTL_USAGE;
	if (children && alone)
		return ctl_misuse(ctl, "give --children or --alone, not both");
	parameters = json_pack("{sI so}", "pid", (json_int_t)pid, "class",
			       format_json(ctl->arguments[1]));
	if (us)
		json_object_set_new(parameters, "for_us", json_integer((json_int_t)us));
	if (children || alone)
		json_object_set_new(parameters, "children", json_boolean(children));
	return ctl_ask(ctl, "io.wakegov.GiveHint", parameters, show_hint);
}

enum ctl_exit command_hint(struct ctl *ctl)
{
	const char *first = ctl->n_arguments ? ctl->arguments[0] : "list";
	uint64_t pid;

	if (ctl->n_arguments <= 1 && !strcmp(first, "list"))
		return list(ctl);
	if (ctl->n_arguments == 1 && !strcmp(first, "classes"))
		return ctl_ask(ctl, "io.wakegov.Classes", NULL, show_classes);
	if (ctl->n_arguments != 2 || !quantity_number(first, &pid) || !pid)
		return ctl_misuse(ctl, "expected a PID and a class, such as: wakegovctl hint 812 "
				       "background; 'wakegovctl hint classes' shows them");
	return give(ctl, pid);
}
