// SPDX-License-Identifier: GPL-2.0-only
#include "core/clamped_tasks.h"

#include <stdlib.h>

#include "core/pid_index.h"

struct queue {
	uint32_t first; /* place + 1; 0: empty */
	uint32_t last;
};

struct clamped_tasks {
	struct pid_index *index;
	struct queue classes;
	struct queue clamps;
	struct clamped_task tasks[];
};

struct clamped_tasks *clamped_tasks_new(uint32_t size)
{
	struct clamped_tasks *tasks = calloc(1, sizeof(*tasks) + size * sizeof(tasks->tasks[0]));

	if (!tasks)
		return NULL;
	tasks->index = pid_index_new(size);
	return tasks->index ? tasks : clamped_tasks_free(tasks);
}

struct clamped_tasks *clamped_tasks_free(struct clamped_tasks *tasks)
{
	if (tasks)
		pid_index_free(tasks->index);
	free(tasks);
	return NULL;
}

static struct clamped_task *task_at(const struct clamped_tasks *tasks, uint32_t place)
{
	return place == PID_INDEX_NONE ? NULL : (struct clamped_task *)&tasks->tasks[place];
}

struct clamped_task *clamped_tasks_find(const struct clamped_tasks *tasks, uint32_t pid)
{
	return task_at(tasks, pid_index_find(tasks->index, pid));
}

struct clamped_task *clamped_tasks_take(struct clamped_tasks *tasks, uint32_t pid)
{
	struct clamped_task *task = clamped_tasks_find(tasks, pid);

	if (task)
		return task;
	task = task_at(tasks, pid_index_add(tasks->index, pid));
	if (task)
		*task = (struct clamped_task){
			.pid = pid,
			.given_min_cap = CLAMP_MIN_NONE,
			.given_max_cap = CLAMP_MAX_NONE,
		};
	return task;
}

struct clamped_task *clamped_tasks_next(const struct clamped_tasks *tasks,
					const struct clamped_task *after)
{
	uint32_t from = after ? after - tasks->tasks + 1 : 0;

	return task_at(tasks, pid_index_next(tasks->index, from));
}

uint32_t clamped_tasks_count(const struct clamped_tasks *tasks)
{
	return pid_index_count(tasks->index);
}

uint64_t clamped_tasks_refused(const struct clamped_tasks *tasks)
{
	return pid_index_refused(tasks->index);
}

/* Appends place: link is the next of the queue's last task, or the queue's first if it is empty. */
static void append(struct queue *queue, uint32_t *link, uint32_t place)
{
	*link = place + 1;
	queue->last = place + 1;
}

void clamped_tasks_queue_class(struct clamped_tasks *tasks, struct clamped_task *task)
{
	struct queue *queue = &tasks->classes;

	if (task->waits_for_class)
		return;
	task->waits_for_class = true;
	task->next_class = 0;
	append(queue, queue->first ? &tasks->tasks[queue->last - 1].next_class : &queue->first,
	       task - tasks->tasks);
}

void clamped_tasks_queue_clamp(struct clamped_tasks *tasks, struct clamped_task *task)
{
	struct queue *queue = &tasks->clamps;

	if (task->waits_for_clamp)
		return;
	task->waits_for_clamp = true;
	task->next_clamp = 0;
	append(queue, queue->first ? &tasks->tasks[queue->last - 1].next_clamp : &queue->first,
	       task - tasks->tasks);
}

struct clamped_task *clamped_tasks_pop_class(struct clamped_tasks *tasks)
{
	struct clamped_task *task;

	if (!tasks->classes.first)
		return NULL;
	task = &tasks->tasks[tasks->classes.first - 1];
	tasks->classes.first = task->next_class;
	task->waits_for_class = false;
	return task;
}

struct clamped_task *clamped_tasks_pop_clamp(struct clamped_tasks *tasks)
{
	struct clamped_task *task;

	if (!tasks->clamps.first)
		return NULL;
	task = &tasks->tasks[tasks->clamps.first - 1];
	tasks->clamps.first = task->next_clamp;
	task->waits_for_clamp = false;
	return task;
}

void clamped_tasks_settle(struct clamped_tasks *tasks, struct clamped_task *task)
{
	if (task->class || task->told_class || task->own || task->co_runner_class ||
	    task->boost_cap || task->given_min_cap != CLAMP_MIN_NONE ||
	    task->given_max_cap != CLAMP_MAX_NONE || task->waits_for_class || task->waits_for_clamp)
		return;
	pid_index_remove(tasks->index, task - tasks->tasks);
}

bool clamped_tasks_has_class(const struct clamped_tasks *tasks)
{
	return tasks->classes.first;
}

bool clamped_tasks_has_clamp(const struct clamped_tasks *tasks)
{
	return tasks->clamps.first;
}

uint32_t clamped_tasks_place(const struct clamped_tasks *tasks, const struct clamped_task *task)
{
	return task - tasks->tasks;
}

bool clamped_tasks_restore(struct clamped_tasks *tasks, uint32_t place,
			   const struct clamped_task *task)
{
	struct clamped_task *restored;

	if (!pid_index_restore(tasks->index, place, task->pid))
		return false;
	restored = &tasks->tasks[place];
	*restored = *task;
	restored->waits_for_class = restored->waits_for_clamp = false;
	restored->next_class = restored->next_clamp = 0;
	if (task->waits_for_class)
		clamped_tasks_queue_class(tasks, restored);
	if (task->waits_for_clamp)
		clamped_tasks_queue_clamp(tasks, restored);
	return true;
}

void clamped_tasks_restore_refused(struct clamped_tasks *tasks, uint64_t refused)
{
	pid_index_restore_refused(tasks->index, refused);
}
