// SPDX-License-Identifier: GPL-2.0-only
/* The table and its log, and the restoring of settings from either. */
#include "actuator/task_log.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/control.h"
#include "actuator/task.h"
#include "core/pid_index.h"
#include "shared/cleanup.h"
#include "shared/cpu_mask.h"
#include "shared/sysfs.h"

#define LINE_SIZE (64 + 2 * CPU_MASK_TEXT_SIZE)
/* The log is rewritten when its lines exceed twice the tasks by this many. */
#define SPARE_LINES 4096
/* How many generations up an ancestor is searched. */
#define GENERATIONS 8

static bool init(struct task_log *log, const struct task_log_kind *kind, const char *directory,
		 size_t size)
{
	*log = (struct task_log){
		.kind = kind,
		.directory = directory,
		.fd = -1,
		.index = pid_index_new(size),
		.entries = calloc(size, kind->size),
	};
	return log->index && log->entries;
}

bool task_log_init(struct task_log *log, const struct task_log_kind *kind, const char *directory)
{
	return init(log, kind, directory, kind->max_tasks);
}

void task_log_deinit(struct task_log *log)
{
	close_fdp(&log->fd);
	pid_index_free(log->index);
	free(log->entries);
}

static void *entry_at(const struct task_log *log, uint32_t place)
{
	return place == PID_INDEX_NONE ? NULL : log->entries + place * log->kind->size;
}

static uint32_t place_of(const struct task_log *log, const void *entry)
{
	return ((const char *)entry - log->entries) / log->kind->size;
}

void *task_log_find(const struct task_log *log, uint32_t pid)
{
	return entry_at(log, pid_index_find(log->index, pid));
}

void *task_log_add(struct task_log *log, const void *entry)
{
	const struct logged_task *task = entry;
	void *put = entry_at(log, pid_index_add(log->index, task->pid));

	return put ? memcpy(put, entry, log->kind->size) : NULL;
}

void task_log_drop(struct task_log *log, const void *entry)
{
	pid_index_remove(log->index, place_of(log, entry));
}

void *task_log_next(const struct task_log *log, const void *after)
{
	return entry_at(log, pid_index_next(log->index, after ? place_of(log, after) + 1 : 0));
}

static void print_line(const struct task_log_kind *kind, const void *entry,
		       char ret_line[LINE_SIZE])
{
	const struct logged_task *task = entry;
	int n = snprintf(ret_line, LINE_SIZE, "task %u %llu ", task->pid,
			 (unsigned long long)task->start);

	kind->print(entry, ret_line + n, LINE_SIZE - n);
}

static void print_kept(FILE *out, const void *data)
{
	const struct task_log *log = data;
	const struct logged_task *task = NULL;
	char line[LINE_SIZE];

	while ((task = task_log_next(log, task)))
		if (task->kept) {
			print_line(log->kind, task, line);
			fprintf(out, "%s\n", line);
		}
}

int task_log_begin(struct task_log *log)
{
	int r = statefile_write(log->directory, &log->kind->file, print_kept, log);

	if (r == 0)
		r = statefile_open_log(log->directory, &log->kind->file);
	if (r < 0)
		return r;
	close_fdp(&log->fd);
	log->fd = r;
	log->lines = pid_index_count(log->index);
	return 0;
}

int task_log_add_line(struct task_log *log, const void *entry)
{
	char line[LINE_SIZE];
	int r = 0;

	if (log->fd < 0 || log->lines > 2 * pid_index_count(log->index) + SPARE_LINES)
		r = task_log_begin(log);
	if (r < 0)
		return r;
	print_line(log->kind, entry, line);
	strcat(line, "\n");
	r = statefile_append(log->fd, line);
	log->lines += r == 0;
	return r;
}

/* Accepts only lines exactly as task_log_add_line() writes them. */
static bool parse_line(const struct task_log_kind *kind, const char *line, void *ret)
{
	struct logged_task *task = ret;
	unsigned long long start;
	char expected[LINE_SIZE];
	int n = 0;

	if (sscanf(line, "task %10u %20llu %n", &task->pid, &start, &n) != 2 || !n || !task->pid)
		return false;
	task->start = start;
	if (!kind->parse(line + n, ret))
		return false;
	print_line(kind, ret, expected);
	return strcmp(line, expected) == 0;
}

int task_log_load(struct task_log *log, const struct task_log_kind *kind, const char *directory)
{
	_cleanup_(statefile_close) struct statefile_reader reader = { 0 };
	_cleanup_free_ struct logged_task *task = calloc(1, kind->size);
	int r = statefile_open(directory, &kind->file, &reader);
	struct logged_task *before;
	char *line;

	if (!init(log, kind, directory, reader.n_max + 1) || !task)
		return -ENOMEM;
	while (r > 0 && (r = statefile_next(&reader, &line)) > 0) {
		memset(task, 0, kind->size);
		if (!parse_line(kind, line, task))
			return -EBADMSG;
		before = task_log_find(log, task->pid);
		if (before && before->start == task->start)
			kind->follow(task, before);
		task->kept = true;
		if (before)
			memcpy(before, task, kind->size);
		else
			task_log_add(log, task);
	}
	return r;
}

static void report_result(const struct task_restore *run, const struct restore_result *result)
{
	if (run->report)
		run->report(run->userdata, result);
}

void task_restore_report(struct task_restore *run, uint32_t pid, enum restore_outcome outcome,
			 const char *value, const char *current, int error)
{
	char name[48];
	const struct restore_result result = {
		.policy = CONTROL_SHARED,
		.name = name,
		.outcome = outcome,
		.value = value,
		.current = current,
		.error = error,
	};

	snprintf(name, sizeof(name), "the %s of task %u", run->what, pid);
	report_result(run, &result);
	if (outcome == RESTORE_FAILED)
		run->error = run->error ?: error;
}

/* Reports the successes in one line, and removes the log when no task failed. */
static int finish(const struct task_restore *run, const char *directory,
		  const struct task_log_kind *kind)
{
	char name[64];
	const struct restore_result result = {
		.policy = CONTROL_SHARED,
		.name = name,
		.outcome = RESTORE_DONE,
		.value = "what they were",
	};

	snprintf(name, sizeof(name), "the %s of %zu task%s", run->what, run->done,
		 run->done == 1 ? "" : "s");
	if (run->done)
		report_result(run, &result);
	return run->error ?: statefile_remove(directory, &kind->file);
}

struct search {
	struct task_restore *run;
	const struct task_log *log;
	void *child; /* an entry */
};

/* Whether the child could have its setting from the line of the task with this pid. */
static const void *find_giver_at(const struct search *search, uint32_t pid)
{
	const struct logged_task *line = task_log_find(search->log, pid);

	return line && line->kept && search->log->kind->gave(line, search->child) ? line : NULL;
}

/* The next entry of a directory of /proc that is a number, or 0. */
static uint32_t next_number(DIR *directory)
{
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			return (uint32_t)strtoul(entry->d_name, NULL, 10);
	return 0;
}

static DIR *open_tasks(uint32_t process)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/task", process);
	return opendir(path);
}

/* The line of a thread of the process that could have passed its setting to the child, or NULL. */
static const void *find_giver(const struct search *search, uint32_t process)
{
	_cleanup_closedir_ DIR *tasks = NULL;
	const void *line = find_giver_at(search, process);
	uint32_t pid;

	if (line)
		return line;
	tasks = open_tasks(process);
	while (!line && (pid = next_number(tasks)))
		line = find_giver_at(search, pid);
	return line;
}

/* Restores a task without a line if a logged task could have passed its setting on to it. */
static void restore_heir(struct search *search, uint32_t process, uint32_t pid)
{
	const struct task_log *log = search->log;
	const struct logged_task *task = task_log_find(log, pid);
	const void *line = NULL;
	char parent[16];

	if ((task && task->kept) || !log->kind->read(pid, search->child))
		return;
	task = NULL;
	while (!line && (task = task_log_next(log, task)))
		line = find_giver_at(search, task->pid);
	if (!line)
		return;
	for (int i = 0; i < GENERATIONS && process > 1; i++) {
		line = find_giver(search, process);
		if (line) {
			log->kind->restore(search->run, pid, line);
			return;
		}
		sysfs_read_tagged(parent, sizeof(parent), "PPid:\t", "/proc/%u/status", process);
		process = (uint32_t)strtoul(parent, NULL, 10);
	}
}

static void restore_heirs(struct search *search)
{
	_cleanup_closedir_ DIR *processes = opendir("/proc");
	uint32_t process, pid;

	while ((process = next_number(processes))) {
		_cleanup_closedir_ DIR *tasks = open_tasks(process);

		while ((pid = next_number(tasks)))
			restore_heir(search, process, pid);
	}
}

static void restore_task(struct task_restore *run, const struct task_log_kind *kind,
			 const struct logged_task *task)
{
	_cleanup_close_ int fd = -1;
	uint64_t start;

	fd = task_open(task->pid, &start);
	if (fd >= 0 && start == task->start)
		kind->restore(run, task->pid, task);
	else if (fd < 0 && fd != -ESRCH)
		task_restore_report(run, task->pid, RESTORE_FAILED, "what it was", NULL, fd);
}

int task_log_release(struct task_log *log, restore_report_t report, void *userdata)
{
	struct task_restore run = { report, userdata, log->kind->what };
	_cleanup_free_ void *child = calloc(1, log->kind->size);
	struct search search = { &run, log, child };
	const struct logged_task *task = NULL;
	bool any = false;

	if (!child)
		return -ENOMEM;
	while ((task = task_log_next(log, task))) {
		any |= task->kept;
		if (task->kept)
			restore_task(&run, log->kind, task);
	}
	/* Children last: until its parent is restored, a new child can inherit from it. */
	if (any)
		restore_heirs(&search);
	while ((task = task_log_next(log, NULL)))
		task_log_drop(log, task);
	close_fdp(&log->fd);
	log->fd = -1;
	return finish(&run, log->directory, log->kind);
}

int task_log_restore(const struct task_log_kind *kind, const char *directory,
		     restore_report_t report, void *userdata)
{
	struct task_log log;
	int r = task_log_load(&log, kind, directory);

	if (r == 0)
		r = task_log_release(&log, report, userdata);
	task_log_deinit(&log);
	return r;
}
