/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What is thought of tasks' boosts, as it was when somebody was last told: finds out what is new.
 * Made while monitors listen, and only then.
 */

#include "core/task_table.h"

struct boost_news;

/* For that table and others of its size; what is in it now is no news. NULL without memory. */
struct boost_news *boost_news_new(const struct task_table *tasks);
struct boost_news *boost_news_free(struct boost_news *news);

/* before: NULL for a task that nothing was told of yet. */
typedef void (*boost_news_t)(void *userdata, const struct io_task *task,
			     const enum io_boost_state *before);

/*
 * To be called for a place where something may have changed: tells of its task if the state is
 * another than at the last call. A task that has ended its boost is told of, one that has exited
 * is not there any more.
 */
void boost_news_look(struct boost_news *news, const struct task_table *tasks, uint32_t place,
		     boost_news_t tell, void *userdata);
