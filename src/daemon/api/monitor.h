/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Monitor: what is reported, decisions, and changes of boosts, for clients that listen.
 */

#include "core/task_table.h"
#include "daemon/module.h"
#include "varlink/call.h"

struct monitor {
	struct core *core;
	struct channel channel;
	struct boost_news *boost_news; /* NULL while no client listens */
};

extern const struct module monitor_module;

/* The method. */
int monitor_subscribe(const struct call *call, struct reply *reply);

/*
 * boost_news.c: the states of tasks' boosts that were last reported, to find changes. Exists only
 * while monitors listen.
 */

struct boost_news;

/*
 * For that table and others of its size; starts with its present states. Returns NULL without
 * memory.
 */
struct boost_news *boost_news_new(const struct task_table *tasks);
struct boost_news *boost_news_free(struct boost_news *news);

/* before: the state last reported; NULL for a new task. */
typedef void (*boost_news_t)(void *userdata, const struct io_task *task,
			     const enum io_boost_state *before);

/*
 * Call this for a place where something may have changed: reports the task if its state differs
 * from the last call. A task whose boost has ended is reported; one that has exited is no longer
 * there.
 */
void boost_news_look(struct boost_news *news, const struct task_table *tasks, uint32_t place,
		     boost_news_t report, void *userdata);
