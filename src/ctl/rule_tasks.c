// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/rule_tasks.h"

#include <inttypes.h>
#include <stdio.h>

#include "ctl/format.h"
#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"

#define PAGE 100u /* the most that the daemon gives at a time */

static enum ctl_exit add_page(const struct ctl *ctl, const char *rule, json_t *threads, size_t max,
			      json_int_t *offset)
{
	size_t left = max - json_array_size(threads);
	const json_t *next;
	json_t *reply;
	enum ctl_exit code;

	code = ctl_call(ctl, "io.wakegov.RuleTasks",
			json_pack("{ss sI sI}", "rule", rule, "offset", *offset, "limit",
				  (json_int_t)(left < PAGE ? left : PAGE)),
			&reply);
	if (code != CTL_OK)
		return code;
	json_array_extend(threads, json_object_get(reply, "tasks"));
	next = json_object_get(reply, "next_offset");
	*offset = json_is_integer(next) ? json_integer_value(next) : -1;
	json_decref(reply);
	return CTL_OK;
}

enum ctl_exit rule_tasks_add(const struct ctl *ctl, json_t *rule, size_t max)
{
	json_t *threads = json_array();
	json_int_t offset = 0;
	enum ctl_exit code = CTL_OK;

	while (code == CTL_OK && offset >= 0 && json_array_size(threads) < max)
		code = add_page(ctl, field_text(rule, "name"), threads, max, &offset);
	json_object_set_new(rule, "threads", threads);
	return code;
}

void rule_tasks_print_line(const json_t *rule)
{
	const json_t *threads = json_object_get(rule, "threads"), *thread;
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	uint64_t n = field_number(rule, "tasks"), shown = json_array_size(threads);
	size_t i;

	if (!shown)
		return;
	printf("%s:", name);
	json_array_foreach(threads, i, thread) {
		_cleanup_free_ char *comm = format_clean(field_text(thread, "comm"));

		printf("%s %s (%" PRIu64 ")", i ? "," : "", comm, field_number(thread, "pid"));
	}
	if (n > shown)
		printf(" and %" PRIu64 " more, see: wakegovctl rules %s", n - shown, name);
	putchar('\n');
}

void rule_tasks_show(const json_t *rule)
{
	static const struct table_column columns[] = {
		{ "PID", TABLE_RIGHT, cell_number, "pid" },
		{ "PROCESS", TABLE_RIGHT, cell_number, "tgid" },
		{ "TASK", TABLE_LEFT, cell_text, "comm" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns) };
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	_cleanup_free_ char *file = format_clean(field_text(rule, "file"));
	_cleanup_free_ char *match = format_clean(field_text(rule, "match"));

	printf("%s (%s:%" PRIu64 "), for %s: %" PRIu64 " now, %" PRIu64 " came to match\n", name,
	       file, field_number(rule, "line"), match, field_number(rule, "tasks"),
	       field_number(rule, "matches"));
	table_print(&table, json_object_get(rule, "threads"), stdout);
}
