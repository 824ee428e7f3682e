// SPDX-License-Identifier: GPL-2.0-only
/* The tasks that the core knows, by thread id, and the queue of those that wait for a sample. */
#include "core/task_table.h"

#include <assert.h>

#include "core/clamp_class.h"
#include "core/pid_index.h"

/* In memory these follow: both indexes, of records and of I/O entries; then records and entries. */
struct task_table {
	uint32_t n_waiting[TASK_WAITS];
	uint32_t first_waiting[TASK_WAITS]; /* first place where a task may wait */
	uint32_t max_ruled;
	uint32_t max_ios;
};

static struct pid_index *index_of(const struct task_table *table)
{
	return (struct pid_index *)(table + 1);
}

static struct pid_index *io_index_of(const struct task_table *table)
{
	return (void *)((char *)index_of(table) + pid_index_bytes(table->max_ruled));
}

static struct task *records_of(const struct task_table *table)
{
	return (void *)((char *)io_index_of(table) + pid_index_bytes(table->max_ios));
}

static struct io_task *ios_of(const struct task_table *table)
{
	return (struct io_task *)(records_of(table) + table->max_ruled);
}

size_t task_table_bytes(uint32_t max_ios, uint32_t max_ruled)
{
	return sizeof(struct task_table) + pid_index_bytes(max_ruled) + pid_index_bytes(max_ios) +
	       max_ruled * sizeof(struct task) + max_ios * sizeof(struct io_task);
}

void task_table_init(struct task_table *table, uint32_t max_ios, uint32_t max_ruled)
{
	assert(max_ios && max_ruled);
	table->max_ios = max_ios;
	table->max_ruled = max_ruled;
	pid_index_init(index_of(table), max_ruled);
	pid_index_init(io_index_of(table), max_ios);
}

static struct task *record_at(const struct task_table *table, uint32_t place)
{
	return place == PID_INDEX_NONE ? NULL : &records_of(table)[place];
}

struct task *task_find(const struct task_table *table, uint32_t pid)
{
	return record_at(table, pid_index_find(index_of(table), pid));
}

uint32_t task_place(const struct task_table *table, const struct task *task)
{
	return task - records_of(table);
}

struct task *task_next(const struct task_table *table, const struct task *after)
{
	uint32_t from = after ? task_place(table, after) + 1 : 0;

	return record_at(table, pid_index_next(index_of(table), from));
}

/* The record of a task that will have rules or clamps; NULL when too many have. */
static struct task *find_or_add(struct task_table *table, uint32_t pid)
{
	struct task *task = task_find(table, pid);

	if (task)
		return task;
	task = record_at(table, pid_index_add(index_of(table), pid));
	if (task)
		*task = (struct task){
			.pid = pid,
			.given_min_cap = CLAMP_MIN_NONE,
			.given_max_cap = CLAMP_MAX_NONE,
		};
	return task;
}

struct task *task_rule(struct task_table *table, uint32_t pid, uint64_t matched)
{
	struct task *task = matched ? find_or_add(table, pid) : task_find(table, pid);

	if (task)
		task->matched = matched;
	return task;
}

struct task *task_clamp(struct task_table *table, uint32_t pid)
{
	struct task *task = find_or_add(table, pid);

	if (task)
		task->clamped = true;
	return task;
}

void task_settle(struct task_table *table, struct task *task)
{
	if (task->clamped && !task->class && !task->sent_class && !task->own &&
	    !task->co_runner_class && !task->boost_cap && !task->chain_cap && !task->need_cap &&
	    !task->waited && task->given_min_cap == CLAMP_MIN_NONE &&
	    task->given_max_cap == CLAMP_MAX_NONE && !task->waits) {
		task->clamped = false;
		task->does_io = false;
	}
	if (task->matched || task->clamped)
		return;
	pid_index_remove(index_of(table), task_place(table, task));
	*task = (struct task){ 0 };
}

uint32_t task_count(const struct task_table *table)
{
	return pid_index_count(index_of(table));
}

uint32_t task_count_max(const struct task_table *table)
{
	return table->max_ruled;
}

void task_queue(struct task_table *table, struct task *task, enum task_wait wait)
{
	uint32_t place = task_place(table, task);

	if (task->waits & 1u << wait)
		return;
	task->waits |= 1u << wait;
	if (!table->n_waiting[wait]++ || place < table->first_waiting[wait])
		table->first_waiting[wait] = place;
}

bool task_any_waits(const struct task_table *table, enum task_wait wait)
{
	return table->n_waiting[wait];
}

struct task *task_pop_waiting(struct task_table *table, enum task_wait wait)
{
	struct task *task = records_of(table) + table->first_waiting[wait];

	if (!table->n_waiting[wait])
		return NULL;
	while (!(task->waits & 1u << wait))
		task++;
	task->waits &= ~(1u << wait);
	table->n_waiting[wait]--;
	table->first_waiting[wait] = task_place(table, task) + 1;
	return task;
}

struct io_task *io_task_at(const struct task_table *table, uint32_t place)
{
	return pid_index_has(io_index_of(table), place) ? &ios_of(table)[place] : NULL;
}

uint32_t io_task_place(const struct task_table *table, const struct io_task *task)
{
	return task - ios_of(table);
}

struct io_task *io_task_find(const struct task_table *table, uint32_t pid)
{
	return io_task_at(table, pid_index_find(io_index_of(table), pid));
}

struct io_task *io_task_add(struct task_table *table, uint32_t pid)
{
	struct io_task *io = io_task_at(table, pid_index_add(io_index_of(table), pid));

	if (io)
		*io = (struct io_task){ .pid = pid };
	return io;
}

void io_task_remove(struct task_table *table, struct io_task *io)
{
	pid_index_remove(io_index_of(table), io_task_place(table, io));
	*io = (struct io_task){ 0 };
}

struct io_task *io_task_next(const struct task_table *table, const struct io_task *after)
{
	uint32_t from = after ? io_task_place(table, after) + 1 : 0;

	return io_task_at(table, pid_index_next(io_index_of(table), from));
}

uint32_t io_task_count(const struct task_table *table)
{
	return pid_index_count(io_index_of(table));
}

uint32_t io_task_size(const struct task_table *table)
{
	return table->max_ios;
}

uint64_t io_task_refused(const struct task_table *table)
{
	return pid_index_refused(io_index_of(table));
}

bool task_table_recount(struct task_table *table, uint32_t max_ios, uint32_t max_ruled)
{
	*table = (struct task_table){ .max_ios = max_ios, .max_ruled = max_ruled };
	return pid_index_relink(index_of(table), max_ruled) &&
	       pid_index_relink(io_index_of(table), max_ios);
}

bool task_table_relink(struct task_table *table)
{
	struct io_task *io = NULL;
	struct task *task = NULL;

	while ((task = task_next(table, task)))
		for (uint32_t wait = 0; wait < TASK_WAITS; wait++)
			table->n_waiting[wait] += task->waits >> wait & 1;
	while ((io = io_task_next(table, io)))
		if (io_task_find(table, io->pid) != io)
			return false;
	return true;
}
