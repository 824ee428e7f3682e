// SPDX-License-Identifier: GPL-2.0-only
#include "boost_news.h"

#include <stdlib.h>

#include "core/pid_index.h"

struct told {
	uint32_t pid;
	enum io_boost_state state;
};

struct boost_news {
	struct pid_index *index;
	struct told told[];
};

struct boost_news *boost_news_new(uint32_t size)
{
	struct boost_news *news = calloc(1, sizeof(*news) + size * sizeof(news->told[0]));

	if (!news)
		return NULL;
	news->index = pid_index_new(size);
	return news->index ? news : boost_news_free(news);
}

struct boost_news *boost_news_free(struct boost_news *news)
{
	if (news)
		pid_index_free(news->index);
	free(news);
	return NULL;
}

static void look_at(struct boost_news *news, const struct task *task, boost_news_t tell,
		    void *userdata)
{
	uint32_t place = pid_index_find(news->index, task->pid);
	const enum io_boost_state *before = NULL;
	enum io_boost_state state;

	if (place != PID_INDEX_NONE) {
		state = news->told[place].state;
		before = &state;
	} else {
		place = pid_index_add(news->index, task->pid);
	}
	if (tell && (!before || state != task->io_boost.state))
		tell(userdata, task, before);
	if (place != PID_INDEX_NONE)
		news->told[place] = (struct told){
			.pid = task->pid,
			.state = task->io_boost.state,
		};
}

void boost_news_look(struct boost_news *news, const struct task_table *tasks, boost_news_t tell,
		     void *userdata)
{
	const struct task *task = NULL;
	uint32_t place;

	/* Those that are gone make room first: there is a place for every task of the table. */
	for (place = pid_index_next(news->index, 0); place != PID_INDEX_NONE;
	     place = pid_index_next(news->index, place + 1))
		if (!task_table_find(tasks, news->told[place].pid))
			pid_index_remove(news->index, place);
	while ((task = task_table_next(tasks, task)))
		look_at(news, task, tell, userdata);
}
