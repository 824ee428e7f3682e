// SPDX-License-Identifier: GPL-2.0-only
#include "core/task_table.h"

#include <assert.h>
#include <stdlib.h>

struct task_table {
	uint32_t size;
	uint32_t count;
	uint32_t used; /* places ever taken: a walk ends there */
	uint32_t free;
	uint64_t refused;
	uint32_t *buckets; /* size of them */
	struct task tasks[];
};

struct task_table *task_table_new(uint32_t size)
{
	struct task_table *table = calloc(1, sizeof(*table) + size * sizeof(struct task));

	assert(size > 0);
	if (!table)
		return NULL;
	table->size = size;
	table->buckets = calloc(size, sizeof(*table->buckets));
	if (!table->buckets) {
		free(table);
		return NULL;
	}
	return table;
}

struct task_table *task_table_free(struct task_table *table)
{
	if (table)
		free(table->buckets);
	free(table);
	return NULL;
}

static uint32_t *bucket_of(const struct task_table *table, uint32_t pid)
{
	return &table->buckets[pid % table->size];
}

struct task *task_table_find(const struct task_table *table, uint32_t pid)
{
	const struct task *tasks = table->tasks;

	for (uint32_t i = *bucket_of(table, pid); i; i = tasks[i - 1].next)
		if (tasks[i - 1].pid == pid)
			return (struct task *)&tasks[i - 1];
	return NULL;
}

static struct task *take_place(struct task_table *table)
{
	struct task *task;

	if (table->free) {
		task = &table->tasks[table->free - 1];
		table->free = task->next;
		return task;
	}
	if (table->used == table->size)
		return NULL;
	return &table->tasks[table->used++];
}

struct task *task_table_add(struct task_table *table, uint32_t pid)
{
	uint32_t *bucket = bucket_of(table, pid);
	struct task *task = take_place(table);

	assert(pid && !task_table_find(table, pid));
	if (!task) {
		table->refused++;
		return NULL;
	}
	*task = (struct task){ .pid = pid, .next = *bucket };
	*bucket = task - table->tasks + 1;
	table->count++;
	return task;
}

void task_table_remove(struct task_table *table, struct task *task)
{
	uint32_t index = task - table->tasks + 1;
	uint32_t *link = bucket_of(table, task->pid);

	while (*link != index)
		link = &table->tasks[*link - 1].next;
	*link = task->next;
	*task = (struct task){ .next = table->free };
	table->free = index;
	table->count--;
}

struct task *task_table_next(const struct task_table *table, const struct task *after)
{
	uint32_t i = after ? after - table->tasks + 1 : 0;

	for (; i < table->used; i++)
		if (table->tasks[i].pid)
			return (struct task *)&table->tasks[i];
	return NULL;
}

uint32_t task_table_count(const struct task_table *table)
{
	return table->count;
}

uint32_t task_table_size(const struct task_table *table)
{
	return table->size;
}

uint64_t task_table_refused(const struct task_table *table)
{
	return table->refused;
}
