// SPDX-License-Identifier: GPL-2.0-only
/* The file of the hints and of the tasks that inherited them: a line for each. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/modules/hinting.h"
#include "daemon/process.h"
#include "shared/cleanup.h"
#include "shared/statefile.h"

static const struct statefile hint_file = { .name = HINT_FILE, .version = 2 };

static void print_lines(FILE *out, const void *data)
{
	const struct rules *rules = data;
	const struct hint *hint = NULL;
	struct rules_task task;
	uint32_t place = 0;

	while ((hint = hints_next(rules->hints, hint))) {
		if (hint->held)
			continue;
		fprintf(out, "hint %u %d %d %d %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
			hint->pid, hint->is_thread, hint->children, hint->any_user, hint->uid,
			hint->by_uid, hint->start_ns, hint->since_ns, hint->end_ns, hint->class);
	}
	while (rules_next_heir(rules, &place, &task, &hint))
		if (!hint->held)
			fprintf(out, "heir %u %" PRIu64 " %u\n", task.pid, task.start_ns,
				hint->pid);
}

int hint_file_save(const char *directory, const struct rules *rules)
{
	return pid_index_count(rules->hints->index)
		       ? statefile_write(directory, &hint_file, print_lines, rules)
		       : statefile_remove(directory, &hint_file);
}

/* Parses what follows "hint ". Returns whether it is valid. */
static bool parse_hint(const char *text, uint64_t now_ns, struct hints *hints)
{
	int is_thread, children, any_user, n = 0;
	struct hint hint = { 0 };

	if (sscanf(text, "%u %d %d %d %u %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %31s%n", &hint.pid,
		   &is_thread, &children, &any_user, &hint.uid, &hint.by_uid, &hint.start_ns,
		   &hint.since_ns, &hint.end_ns, hint.class, &n) != 10 ||
	    text[n] || !hint.pid)
		return false;
	process_name(hint.pid, "", hint.comm);
	hint.is_thread = is_thread;
	hint.children = children;
	hint.any_user = any_user;
	if (hint.end_ns > now_ns && !hints_find(hints, hint.pid))
		hints_add(hints, &hint);
	return true;
}

/* Parses what follows "heir "; leaves out heirs of a hint that has ended. */
static bool parse_heir(const char *text, struct rules *rules)
{
	const struct hint *hint;
	uint64_t start_ns;
	uint32_t pid, of;
	int n = 0;

	if (sscanf(text, "%u %" SCNu64 " %u%n", &pid, &start_ns, &of, &n) != 3 || text[n] || !pid)
		return false;
	hint = hints_find(rules->hints, of);
	if (hint)
		rules_add_heir(rules, pid, start_ns, hint);
	return true;
}

int hint_file_load(const char *directory, uint64_t now_ns, struct rules *rules)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	struct hints *hints = rules->hints;
	struct hint *hint;
	char *line;
	int r = statefile_open(directory, &hint_file, &reader);

	while (r > 0 && (r = statefile_next(&reader, &line)) > 0)
		if (!(!strncmp(line, "hint ", 5) && parse_hint(line + 5, now_ns, hints)) &&
		    !(!strncmp(line, "heir ", 5) && parse_heir(line + 5, rules)))
			r = -EBADMSG;
	while (r < 0 && (hint = hints_next(hints, NULL)))
		hints_remove(hints, hint);
	return r;
}
