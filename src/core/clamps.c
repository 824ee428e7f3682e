// SPDX-License-Identifier: GPL-2.0-only
#include "core/clamps.h"

#include <stdlib.h>

#include "core/pid_index.h"

struct queue {
	uint32_t first; /* place + 1; 0: empty */
	uint32_t last;
};

struct clamps {
	struct pid_index *index;
	struct queue sets;
	struct queue clamps;
	struct clamped tasks[];
};

struct clamps *clamps_new(uint32_t size)
{
	struct clamps *clamps = calloc(1, sizeof(*clamps) + size * sizeof(clamps->tasks[0]));

	if (!clamps)
		return NULL;
	clamps->index = pid_index_new(size);
	return clamps->index ? clamps : clamps_free(clamps);
}

struct clamps *clamps_free(struct clamps *clamps)
{
	if (clamps)
		pid_index_free(clamps->index);
	free(clamps);
	return NULL;
}

static struct clamped *task_at(const struct clamps *clamps, uint32_t place)
{
	return place == PID_INDEX_NONE ? NULL : (struct clamped *)&clamps->tasks[place];
}

struct clamped *clamps_find(const struct clamps *clamps, uint32_t pid)
{
	return task_at(clamps, pid_index_find(clamps->index, pid));
}

struct clamped *clamps_take(struct clamps *clamps, uint32_t pid)
{
	struct clamped *task = clamps_find(clamps, pid);

	if (task)
		return task;
	task = task_at(clamps, pid_index_add(clamps->index, pid));
	if (task)
		*task = (struct clamped){
			.pid = pid,
			.need_cap = CLAMP_MAX_NONE,
			.given_min_cap = CLAMP_MIN_NONE,
			.given_max_cap = CLAMP_MAX_NONE,
		};
	return task;
}

struct clamped *clamps_next(const struct clamps *clamps, const struct clamped *after)
{
	uint32_t from = after ? after - clamps->tasks + 1 : 0;

	return task_at(clamps, pid_index_next(clamps->index, from));
}

uint32_t clamps_count(const struct clamps *clamps)
{
	return pid_index_count(clamps->index);
}

uint64_t clamps_refused(const struct clamps *clamps)
{
	return pid_index_refused(clamps->index);
}

/* Appends place to the queue, whose links are the nexts that link_of() gives. */
static void append(struct queue *queue, uint32_t *last_link, uint32_t place)
{
	if (queue->first)
		*last_link = place + 1;
	else
		queue->first = place + 1;
	queue->last = place + 1;
}

void clamps_queue_set(struct clamps *clamps, struct clamped *task)
{
	struct queue *queue = &clamps->sets;

	if (task->waits_for_set)
		return;
	task->waits_for_set = true;
	task->next_set = 0;
	append(queue, queue->last ? &clamps->tasks[queue->last - 1].next_set : NULL,
	       task - clamps->tasks);
}

void clamps_queue_clamp(struct clamps *clamps, struct clamped *task)
{
	struct queue *queue = &clamps->clamps;

	if (task->waits_for_clamp)
		return;
	task->waits_for_clamp = true;
	task->next_clamp = 0;
	append(queue, queue->last ? &clamps->tasks[queue->last - 1].next_clamp : NULL,
	       task - clamps->tasks);
}

struct clamped *clamps_pop_set(struct clamps *clamps)
{
	struct clamped *task;

	if (!clamps->sets.first)
		return NULL;
	task = &clamps->tasks[clamps->sets.first - 1];
	clamps->sets.first = task->next_set;
	task->waits_for_set = false;
	return task;
}

struct clamped *clamps_pop_clamp(struct clamps *clamps)
{
	struct clamped *task;

	if (!clamps->clamps.first)
		return NULL;
	task = &clamps->tasks[clamps->clamps.first - 1];
	clamps->clamps.first = task->next_clamp;
	task->waits_for_clamp = false;
	return task;
}

void clamps_settle(struct clamps *clamps, struct clamped *task)
{
	if (task->set || task->told_set || task->beside_set || task->boost_cap ||
	    task->need_cap != CLAMP_MAX_NONE || task->given_min_cap != CLAMP_MIN_NONE ||
	    task->given_max_cap != CLAMP_MAX_NONE || task->waits_for_set || task->waits_for_clamp)
		return;
	pid_index_remove(clamps->index, task - clamps->tasks);
}
