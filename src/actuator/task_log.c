// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/task_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pid_index.h"
#include "shared/cleanup.h"
#include "shared/cpu_mask.h"

#define LINE_SIZE (64 + 2 * CPU_MASK_TEXT_SIZE)
/* The log is begun anew when it has so many lines more than twice the tasks. */
#define SPARE_LINES 4096

bool task_log_init(struct task_log *log, const struct task_log_kind *kind, const char *directory)
{
	*log = (struct task_log){
		.kind = kind,
		.directory = directory,
		.fd = -1,
		.index = pid_index_new(kind->max_tasks),
		.entries = calloc(kind->max_tasks, kind->size),
	};
	return log->index && log->entries;
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

void *task_log_put(struct task_log *log, const void *entry)
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

/* Accepts only lines that are, to the letter, what task_log_add_line() writes. */
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

/* The array holds the lines in their order, so that this is the order of equal ones as well. */
static int compare(const void *one, const void *other)
{
	const struct logged_task *a = *(const struct logged_task *const *)one;
	const struct logged_task *b = *(const struct logged_task *const *)other;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a < b ? -1 : a > b;
}

int task_log_read(const char *directory, const struct task_log_kind *kind, void **ret,
		  size_t *ret_n)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	_cleanup_free_ char *lines = NULL, *sorted = NULL;
	_cleanup_free_ const void **order = NULL;
	char *line;
	int r = statefile_open(directory, &kind->file, &reader);

	*ret = NULL;
	*ret_n = 0;
	if (r <= 0)
		return r;
	lines = calloc(reader.n_max + 1, kind->size);
	sorted = calloc(reader.n_max + 1, kind->size);
	order = calloc(reader.n_max + 1, sizeof(*order));
	if (!lines || !sorted || !order)
		return -ENOMEM;
	for (size_t n = 0; (r = statefile_next(&reader, &line)) > 0; n++) {
		order[n] = lines + n * kind->size;
		if (!parse_line(kind, line, lines + n * kind->size))
			return -EBADMSG;
	}
	if (r < 0)
		return r;
	qsort(order, reader.n, sizeof(*order), compare);
	for (size_t i = 0; i < reader.n; i++)
		memcpy(sorted + i * kind->size, order[i], kind->size);
	*ret_n = reader.n;
	*ret = take_ptr(sorted);
	return 0;
}
