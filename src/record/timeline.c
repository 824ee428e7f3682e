// SPDX-License-Identifier: GPL-2.0-only
#include "record/export.h"

#include <errno.h>
#include <stdlib.h>

/* The last reported state of the task in one place of the table. */
struct told {
	uint32_t pid; /* 0: no task */
	enum io_boost_state state;
	bool held;
	uint32_t wanted_khz;
};

struct run {
	struct record_reader *reader;
	const struct timeline_sink *sink;
	struct engine *engine;
	struct decision *decisions; /* per domain: the last one reported */
	struct told *told;	    /* per place of the task table */
	struct timeline *ret;
};

int timeline_measure(struct record_reader *reader, struct timeline *ret)
{
	struct record record;
	int r;

	*ret = (struct timeline){ 0 };
	while ((r = record_reader_next(reader, &record)) == RECORD_READ)
		played_time_take(&ret->time, &record);
	ret->cut = r == RECORD_CUT;
	return r < 0 ? r : 0;
}

/* Reports a decision with another frequency, reason, task, limiter or timing than the one before.
 */
static void tell_decision(struct run *run, const struct decision *now)
{
	struct decision *before = &run->decisions[now->domain];
	bool is_news = before->target_khz != now->target_khz ||
		       before->wanted_khz != now->wanted_khz || before->reason != now->reason ||
		       before->limiter != now->limiter || before->timing != now->timing ||
		       before->pid != now->pid;

	if (now->target_khz && is_news)
		run->sink->decision(run->sink->userdata, now, !before->target_khz);
	*before = *now;
}

static void tell_pause(struct run *run, uint32_t domain, uint64_t now_ns)
{
	if (run->decisions[domain].target_khz)
		run->sink->pause(run->sink->userdata, domain, now_ns);
	run->decisions[domain] = (struct decision){ .domain = domain };
}

static void tell_end(struct run *run, struct told *told, uint64_t now_ns)
{
	if (told->pid)
		run->sink->task_end(run->sink->userdata, told->pid, now_ns);
	*told = (struct told){ 0 };
}

static void tell_task(struct run *run, const struct io_task *task, struct told *told,
		      uint64_t now_ns)
{
	const struct io_boost *boost = &task->io_boost;
	struct told now = {
		.pid = task->pid,
		.state = boost->state,
		.held = io_boost_is_held(boost),
		.wanted_khz = boost->wanted_khz,
	};
	bool is_first;

	if (told->pid != task->pid)
		tell_end(run, told, now_ns);
	is_first = !told->pid;
	if (!is_first && told->state == now.state && told->held == now.held &&
	    told->wanted_khz == now.wanted_khz)
		return;
	run->sink->task(run->sink->userdata, task, is_first, now_ns);
	*told = now;
}

static void tell_tasks(struct run *run, uint64_t now_ns)
{
	const struct task_table *tasks = engine_tasks(run->engine);
	const struct io_task *task = NULL;
	uint32_t place, next_place = 0;

	while ((task = io_task_next(tasks, task))) {
		place = io_task_place(tasks, task);
		for (; next_place < place; next_place++)
			tell_end(run, &run->told[next_place], now_ns);
		tell_task(run, task, &run->told[place], now_ns);
		next_place = place + 1;
	}
	for (; next_place < io_task_size(tasks) && run->told[next_place].pid; next_place++)
		tell_end(run, &run->told[next_place], now_ns);
}

/* Plays the record, and tells what comes of it. */
static int take(struct run *run, const struct record *record)
{
	struct played played;
	struct decision decision;
	int r = player_play(run->engine, run->reader, record, &played);

	if (r < 0)
		return r;
	if (record->type == RECORD_DECIDE) {
		decision = record->decision;
		tell_decision(run, &decision);
		decision.target_khz = decision.previous_khz;
		if (record->outcome == ENGINE_NOT_SET)
			tell_decision(run, &decision);
	}
	if (record->type == RECORD_DECIDE || record->type == RECORD_ADVANCE)
		tell_tasks(run, record->now_ns);
	if (record->type == RECORD_DOMAIN && !record->input.domain.active)
		tell_pause(run, record->input.domain.domain, record->now_ns);
	return 0;
}

static int take_all(struct run *run)
{
	uint32_t n_domains = record_reader_topology(run->reader)->n_domains;
	struct played_time *time = &run->ret->time;
	struct record record;
	int r;

	while ((r = record_reader_next(run->reader, &record)) == RECORD_READ) {
		bool is_first = record_is_timed(record.type) && !time->begun;

		/* Decisions from before the recording hold from its beginning on. */
		for (uint32_t i = 0; is_first && i < n_domains; i++) {
			struct decision decision = *engine_last(run->engine, i);

			decision.now_ns = record.now_ns;
			if (engine_is_active(run->engine, i))
				tell_decision(run, &decision);
		}
		if (is_first)
			tell_tasks(run, record.now_ns);
		played_time_take(time, &record);
		r = take(run, &record);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	run->ret->cut = r == RECORD_CUT;
	for (uint32_t i = 0; i < n_domains; i++)
		tell_pause(run, i, time->end_ns);
	for (uint32_t i = 0; i < io_task_size(engine_tasks(run->engine)); i++)
		tell_end(run, &run->told[i], time->end_ns);
	return 0;
}

int timeline_run(struct record_reader *reader, const struct timeline_sink *sink,
		 struct timeline *ret)
{
	const struct policy *policy = record_reader_policy(reader);
	struct run run = {
		.reader = reader,
		.sink = sink,
		.decisions = calloc(record_reader_topology(reader)->n_domains + 1,
				    sizeof(*run.decisions)),
		.told = calloc(policy->max_tasks, sizeof(*run.told)),
		.ret = ret,
	};
	int r = player_begin(reader, policy, NULL, &run.engine);

	*ret = (struct timeline){ 0 };
	if (!run.decisions || !run.told)
		r = -ENOMEM;
	if (r == 0)
		r = take_all(&run);
	engine_free(run.engine);
	free(run.decisions);
	free(run.told);
	return r;
}
