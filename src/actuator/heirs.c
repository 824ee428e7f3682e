// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/heirs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "shared/cleanup.h"

/* Number of generations that are searched for the ancestor of a task. */
#define GENERATIONS 8

/* A line of the log, and the process of its task. */
struct member {
	uint32_t process;
	const void *line;
};

struct search {
	const struct heirs *heirs;
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

static const void *line_at(const struct heirs *heirs, size_t i)
{
	return (const char *)heirs->lines + i * heirs->kind->size;
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
	const struct heirs *heirs = search->heirs;
	uint32_t parent;

	search->members = calloc(heirs->n, sizeof(*search->members));
	search->child = calloc(1, heirs->kind->size);
	if (!search->members || !search->child)
		return -ENOMEM;
	for (size_t i = 0; i < heirs->n; i++) {
		const struct logged_task *line = line_at(heirs, i);

		search->members[i].line = line;
		find_relatives(line->pid, &search->members[i].process, &parent);
	}
	qsort(search->members, heirs->n, sizeof(*search->members), compare_process);
	return 0;
}

static bool was_given(const struct search *search)
{
	const struct heirs *heirs = search->heirs;

	for (size_t i = 0; i < heirs->n; i++)
		if (heirs->gave(line_at(heirs, i), search->child))
			return true;
	return false;
}

/* The line of a thread of the process that could have given the child its setting, or NULL. */
static const void *find_giver(const struct search *search, uint32_t process)
{
	const struct member key = { .process = process };
	const struct member *end = search->members + search->heirs->n;
	const struct member *member = bsearch(&key, search->members, search->heirs->n, sizeof(key),
					      compare_process);

	while (member && member > search->members && member[-1].process == process)
		member--;
	for (; member && member < end && member->process == process; member++)
		if (search->heirs->gave(member->line, search->child))
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
	const struct heirs *heirs = search->heirs;
	uint32_t ancestor = pid, process;
	const void *line = NULL;

	if (task_log_first(heirs->kind, heirs->lines, heirs->n, pid) ||
	    !heirs->read(pid, search->child) || !was_given(search))
		return;
	for (int i = 0; i < GENERATIONS && ancestor > 1 && !line; i++) {
		find_relatives(ancestor, &process, &ancestor);
		if (process)
			line = find_giver(search, process);
	}
	if (line)
		heirs->restore(heirs->userdata, pid, line);
}

static void visit_process(const struct search *search, uint32_t process)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/task", process);
	each_number(path, visit_task, search);
}

int heirs_restore(const struct heirs *heirs)
{
	struct search search = { .heirs = heirs };
	int r = heirs->n ? find_members(&search) : 0;

	if (r == 0 && heirs->n)
		each_number("/proc", visit_process, &search);
	free(search.members);
	free(search.child);
	return r;
}
