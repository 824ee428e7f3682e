// SPDX-License-Identifier: GPL-2.0-only
#include "core/task_table.h"

#include <stdlib.h>

#include "core/pid_index.h"

struct task_table {
	struct pid_index *index;
	struct task tasks[];
};

struct task_table *task_table_new(uint32_t size)
{
	struct task_table *table = calloc(1, sizeof(*table) + size * sizeof(struct task));

	if (!table)
		return NULL;
	table->index = pid_index_new(size);
	return table->index ? table : task_table_free(table);
}

struct task_table *task_table_free(struct task_table *table)
{
	if (table)
		pid_index_free(table->index);
	free(table);
	return NULL;
}

struct task *task_table_at(const struct task_table *table, uint32_t place)
{
	return pid_index_has(table->index, place) ? (struct task *)&table->tasks[place] : NULL;
}

struct task *task_table_find(const struct task_table *table, uint32_t pid)
{
	return task_table_at(table, pid_index_find(table->index, pid));
}

struct task *task_table_add(struct task_table *table, uint32_t pid)
{
	struct task *task = task_table_at(table, pid_index_add(table->index, pid));

	if (task)
		*task = (struct task){ .pid = pid };
	return task;
}

void task_table_remove(struct task_table *table, struct task *task)
{
	pid_index_remove(table->index, task - table->tasks);
}

struct task *task_table_next(const struct task_table *table, const struct task *after)
{
	uint32_t from = after ? after - table->tasks + 1 : 0;

	return task_table_at(table, pid_index_next(table->index, from));
}

uint32_t task_table_count(const struct task_table *table)
{
	return pid_index_count(table->index);
}

uint32_t task_table_size(const struct task_table *table)
{
	return pid_index_size(table->index);
}

uint64_t task_table_refused(const struct task_table *table)
{
	return pid_index_refused(table->index);
}

uint32_t task_table_place(const struct task_table *table, const struct task *task)
{
	return task - table->tasks;
}

bool task_table_restore(struct task_table *table, uint32_t place, const struct task *task)
{
	if (!pid_index_restore(table->index, place, task->pid))
		return false;
	table->tasks[place] = *task;
	return true;
}

void task_table_restore_refused(struct task_table *table, uint64_t refused)
{
	pid_index_restore_refused(table->index, refused);
}
