// SPDX-License-Identifier: GPL-2.0-only
#include "core/ruled_tasks.h"

#include <stdlib.h>

#include "core/pid_index.h"

struct ruled_tasks {
	struct pid_index *index;
	struct ruled_task tasks[];
};

struct ruled_tasks *ruled_tasks_new(uint32_t size)
{
	struct ruled_tasks *tasks = calloc(1, sizeof(*tasks) + size * sizeof(tasks->tasks[0]));

	if (!tasks)
		return NULL;
	tasks->index = pid_index_new(size);
	return tasks->index ? tasks : ruled_tasks_free(tasks);
}

struct ruled_tasks *ruled_tasks_free(struct ruled_tasks *tasks)
{
	if (tasks)
		pid_index_free(tasks->index);
	free(tasks);
	return NULL;
}

static struct ruled_task *task_at(const struct ruled_tasks *tasks, uint32_t place)
{
	return place == PID_INDEX_NONE ? NULL : (struct ruled_task *)&tasks->tasks[place];
}

struct ruled_task *ruled_tasks_find(const struct ruled_tasks *tasks, uint32_t pid)
{
	return task_at(tasks, pid_index_find(tasks->index, pid));
}

struct ruled_task *ruled_tasks_add(struct ruled_tasks *tasks, uint32_t pid)
{
	struct ruled_task *task = task_at(tasks, pid_index_add(tasks->index, pid));

	if (task)
		*task = (struct ruled_task){ .pid = pid };
	return task;
}

void ruled_tasks_remove(struct ruled_tasks *tasks, struct ruled_task *task)
{
	pid_index_remove(tasks->index, task - tasks->tasks);
}

struct ruled_task *ruled_tasks_next(const struct ruled_tasks *tasks, const struct ruled_task *after)
{
	uint32_t from = after ? after - tasks->tasks + 1 : 0;

	return task_at(tasks, pid_index_next(tasks->index, from));
}

uint32_t ruled_tasks_count(const struct ruled_tasks *tasks)
{
	return pid_index_count(tasks->index);
}

uint64_t ruled_tasks_refused(const struct ruled_tasks *tasks)
{
	return pid_index_refused(tasks->index);
}

uint32_t ruled_tasks_size(const struct ruled_tasks *tasks)
{
	return pid_index_size(tasks->index);
}

uint32_t ruled_tasks_place(const struct ruled_tasks *tasks, const struct ruled_task *task)
{
	return task - tasks->tasks;
}

bool ruled_tasks_restore(struct ruled_tasks *tasks, uint32_t place, const struct ruled_task *task)
{
	if (!pid_index_restore(tasks->index, place, task->pid))
		return false;
	tasks->tasks[place] = *task;
	return true;
}

void ruled_tasks_restore_refused(struct ruled_tasks *tasks, uint64_t refused)
{
	pid_index_restore_refused(tasks->index, refused);
}
