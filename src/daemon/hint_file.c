// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/hint_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "shared/cleanup.h"
#include "shared/statefile.h"

static const struct statefile hint_file = { .name = HINT_FILE, .version = 1 };

static void print_lines(FILE *out, const void *data)
{
	const struct hint *hint = NULL;

	while ((hint = hints_next(data, hint))) {
		if (hint->held)
			continue;
		fprintf(out, "%u %d %d %d %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s ", hint->pid,
			hint->is_thread, hint->children, hint->any_user, hint->uid, hint->by_uid,
			hint->start_ns, hint->since_ns, hint->end_ns, hint->class);
		statefile_print_escaped(out, hint->comm);
		fputc('\n', out);
	}
}

int hint_file_save(const char *directory, const struct hints *hints)
{
	if (!hints_count(hints))
		return statefile_remove(directory, &hint_file);
	return statefile_write(directory, &hint_file, print_lines, hints);
}

/* Returns whether the line is of the form. */
static bool take_line(const char *line, uint64_t now_ns, struct hints *hints)
{
	int is_thread, children, any_user, n = 0;
	struct hint hint = { 0 };

	if (sscanf(line, "%u %d %d %d %u %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %31s%n", &hint.pid,
		   &is_thread, &children, &any_user, &hint.uid, &hint.by_uid, &hint.start_ns,
		   &hint.since_ns, &hint.end_ns, hint.class, &n) != 10 ||
	    line[n] != ' ' || !statefile_unescape(line + n + 1, hint.comm, sizeof(hint.comm)) ||
	    !hint.pid)
		return false;
	hint.is_thread = is_thread;
	hint.children = children;
	hint.any_user = any_user;
	if (hint.end_ns > now_ns && !hints_find(hints, hint.pid))
		hints_add(hints, &hint);
	return true;
}

int hint_file_load(const char *directory, uint64_t now_ns, struct hints *hints)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	char *line;
	int r = statefile_open(directory, &hint_file, &reader);

	while (r > 0 && (r = statefile_next(&reader, &line)) > 0)
		if (!take_line(line, now_ns, hints))
			return -EBADMSG;
	return r;
}
