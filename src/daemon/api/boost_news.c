// SPDX-License-Identifier: GPL-2.0-only
/* Finds what changed in the boosts since the last round, for monitors. */
#include "daemon/api/monitor.h"

#include <assert.h>
#include <stdlib.h>

struct reported {
	uint32_t pid; /* 0: no task */
	enum io_boost_state state;
};

struct boost_news {
	uint32_t size;
	struct reported last[];
};

static struct reported now(const struct io_task *task)
{
	if (!task)
		return (struct reported){ 0 };
	return (struct reported){ .pid = task->pid, .state = task->io_boost.state };
}

struct boost_news *boost_news_new(const struct task_table *tasks)
{
	uint32_t size = io_task_size(tasks);
	struct boost_news *news = calloc(1, sizeof(*news) + size * sizeof(news->last[0]));
	const struct io_task *task = NULL;

	if (!news)
		return NULL;
	news->size = size;
	while ((task = io_task_next(tasks, task)))
		news->last[io_task_place(tasks, task)] = now(task);
	return news;
}

struct boost_news *boost_news_free(struct boost_news *news)
{
	free(news);
	return NULL;
}

void boost_news_look(struct boost_news *news, const struct task_table *tasks, uint32_t place,
		     boost_news_t report, void *userdata)
{
	const struct io_task *task = io_task_at(tasks, place);
	struct reported *last = &news->last[place], before = *last;

	assert(place < news->size);
	*last = now(task);
	if (before.pid != last->pid)
		before.pid = 0;
	if (task && (!before.pid || before.state != last->state))
		report(userdata, task, before.pid ? &before.state : NULL);
}
