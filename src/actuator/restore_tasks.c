// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/restore_tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "actuator/tunables.h"
#include "shared/cleanup.h"

/* Number of generations that are searched for the ancestor of a task. */
#define GENERATIONS 8

static void tell(const struct restore_tasks *run, const struct restore_result *result)
{
	if (run->report)
		run->report(run->userdata, result);
}

void restore_tasks_tell(struct restore_tasks *run, uint32_t pid, enum restore_outcome outcome,
			const char *value, const char *current, int error)
{
	char name[48];
	const struct restore_result result = {
		.policy = TUNABLE_SHARED,
		.name = name,
		.outcome = outcome,
		.value = value,
		.current = current,
		.error = error,
	};

	snprintf(name, sizeof(name), "the %s of task %u", run->kind->what, pid);
	tell(run, &result);
	if (outcome == RESTORE_FAILED)
		run->error = run->error ?: error;
}

int restore_tasks_finish(const struct restore_tasks *run, const char *directory)
{
	char name[64];
	const struct restore_result result = {
		.policy = TUNABLE_SHARED,
		.name = name,
		.outcome = RESTORE_DONE,
		.value = "what they were",
	};

	snprintf(name, sizeof(name), "the %s of %zu task%s", run->kind->what, run->done,
		 run->done == 1 ? "" : "s");
	if (run->done)
		tell(run, &result);
	return run->error ?: statefile_remove(directory, &run->kind->log->file);
}

/* A line of the log, and the process of its task. */
struct member {
	uint32_t process;
	const void *line;
};

struct search {
	struct restore_tasks *run;
	const struct restore_tasks_kind *kind;
	const char *lines; /* of the log, sorted */
	size_t n;
	struct member *members; /* by process */
	void *child;		/* an entry */
};

/* The process of a task and its parent process; both 0 when the task is gone. */
static void find_relatives(uint32_t pid, uint32_t *ret_process, uint32_t *ret_parent)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[48], line[128];

	*ret_process = *ret_parent = 0;
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %u", ret_process) == 0 &&
		    sscanf(line, "PPid: %u", ret_parent) == 1)
			break;
}

static int compare_process(const void *one, const void *other)
{
	uint32_t a = ((const struct member *)one)->process;
	uint32_t b = ((const struct member *)other)->process;

	return a < b ? -1 : a > b;
}

/* Looks up the process of each line once, however many children there are. */
static int find_members(struct search *search)
{
	size_t size = search->kind->log->size;
	uint32_t parent;

	search->members = calloc(search->n + 1, sizeof(*search->members));
	search->child = calloc(1, size);
	if (!search->members || !search->child)
		return -ENOMEM;
	for (size_t i = 0; i < search->n; i++) {
		const void *line = search->lines + i * size;

		search->members[i].line = line;
		find_relatives(task_log_pid(line), &search->members[i].process, &parent);
	}
	qsort(search->members, search->n, sizeof(*search->members), compare_process);
	return 0;
}

static bool was_given(const struct search *search)
{
	for (size_t i = 0; i < search->n; i++)
		if (search->kind->gave(search->members[i].line, search->child))
			return true;
	return false;
}

/* The line of a thread of the process that could have given the child its setting, or NULL. */
static const void *find_giver(const struct search *search, uint32_t process)
{
	const struct member key = { .process = process };
	const struct member *end = search->members + search->n;
	const struct member *member = bsearch(&key, search->members, search->n, sizeof(key),
					      compare_process);

	while (member && member > search->members && member[-1].process == process)
		member--;
	for (; member && member < end && member->process == process; member++)
		if (search->kind->gave(member->line, search->child))
			return member->line;
	return NULL;
}

static void each_number(const char *path,
			void (*visit)(const struct search *search, uint32_t number),
			const struct search *search)
{
	_cleanup_closedir_ DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			visit(search, (uint32_t)strtoul(entry->d_name, NULL, 10));
}

static void visit_task(const struct search *search, uint32_t pid)
{
	const struct restore_tasks_kind *kind = search->kind;
	uint32_t ancestor = pid, process;
	const void *line = NULL;

	if (task_log_first(kind->log, search->lines, search->n, pid) ||
	    !kind->read(pid, search->child) || !was_given(search))
		return;
	for (int i = 0; i < GENERATIONS && ancestor > 1 && !line; i++) {
		find_relatives(ancestor, &process, &ancestor);
		if (process)
			line = find_giver(search, process);
	}
	if (line)
		kind->restore_heir(search->run, pid, line);
}

static void visit_process(const struct search *search, uint32_t process)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/task", process);
	each_number(path, visit_task, search);
}

static void restore_lines(const struct search *search)
{
	size_t size = search->kind->log->size;
	const char *line = search->lines, *end = line + search->n * size, *next;

	for (; line < end; line = next) {
		uint32_t pid = task_log_pid(line);

		for (next = line + size; next < end; next += size)
			if (task_log_pid(next) != pid)
				break;
		search->kind->restore(search->run, line, next);
	}
}

int restore_tasks_of_log(const struct restore_tasks_kind *kind, const char *directory,
			 restore_report_t report, void *userdata)
{
	struct restore_tasks run = { report, userdata, kind };
	struct search search = { .run = &run, .kind = kind };
	_cleanup_free_ void *lines = NULL;
	int r = task_log_read(directory, kind->log, &lines, &search.n);

	if (r == 0 && kind->merge)
		search.n = kind->merge(lines, search.n);
	search.lines = lines;
	if (r == 0)
		r = find_members(&search);
	/* Children first: what their ancestors have, and they inherited, is still there. */
	if (r == 0 && search.n)
		each_number("/proc", visit_process, &search);
	if (r == 0)
		restore_lines(&search);
	free(search.members);
	free(search.child);
	return r < 0 ? r : restore_tasks_finish(&run, directory);
}
