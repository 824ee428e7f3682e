// SPDX-License-Identifier: GPL-2.0-only
/* Plays a recording to one who listens to its decisions, pauses and tasks. */
#include "record/export.h"

#include <errno.h>
#include <stdlib.h>

/* The last reported state of the task in one place of the table. */
struct reported {
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
	struct reported *reported;  /* per place of the task table */
	struct timeline *ret;
};

int timeline_measure(struct record_reader *reader, struct timeline *ret)
{
	struct engine_call call;
	int r;

	while ((r = record_reader_next(reader, &call)) == RECORD_READ)
		;
	*ret = (struct timeline){ reader->begin_ns, reader->end_ns, r == RECORD_CUT };
	return r < 0 ? r : 0;
}

/* Reports a decision with another frequency, reason, task, limiter or timing than the one before.
 */
static void report_decision(struct run *run, const struct decision *now)
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

static void report_pause(struct run *run, uint32_t domain, uint64_t now_ns)
{
	if (run->decisions[domain].target_khz)
		run->sink->pause(run->sink->userdata, domain, now_ns);
	run->decisions[domain] = (struct decision){ .domain = domain };
}

static void report_end(struct run *run, struct reported *reported, uint64_t now_ns)
{
	if (reported->pid)
		run->sink->task_end(run->sink->userdata, reported->pid, now_ns);
	*reported = (struct reported){ 0 };
}

static void report_task(struct run *run, const struct io_task *task, struct reported *reported,
			uint64_t now_ns)
{
	const struct io_boost *boost = &task->io_boost;
	struct reported now = {
		.pid = task->pid,
		.state = boost->state,
		.held = io_boost_is_held(boost),
		.wanted_khz = boost->wanted_khz,
	};
	bool is_first;

	if (reported->pid != task->pid)
		report_end(run, reported, now_ns);
	is_first = !reported->pid;
	if (!is_first && reported->state == now.state && reported->held == now.held &&
	    reported->wanted_khz == now.wanted_khz)
		return;
	run->sink->task(run->sink->userdata, task, is_first, now_ns);
	*reported = now;
}

static void report_tasks(struct run *run, uint64_t now_ns)
{
	const struct task_table *tasks = engine_tasks(run->engine);
	const struct io_task *task = NULL;
	uint32_t place, next_place = 0;

	while ((task = io_task_next(tasks, task))) {
		place = io_task_place(tasks, task);
		for (; next_place < place; next_place++)
			report_end(run, &run->reported[next_place], now_ns);
		report_task(run, task, &run->reported[place], now_ns);
		next_place = place + 1;
	}
	for (; next_place < io_task_size(tasks) && run->reported[next_place].pid; next_place++)
		report_end(run, &run->reported[next_place], now_ns);
}

/* Plays the call, and reports what comes of it. */
static int play(struct run *run, const struct engine_call *call)
{
	struct replay replay = { 0 };
	struct decision decision;
	int r = player_play(run->engine, run->reader, call, &replay);

	if (r < 0)
		return r;
	if (call->type == ENGINE_COMMIT) {
		decision = *call->decision;
		report_decision(run, &decision);
		decision.target_khz = decision.previous_khz;
		if (call->outcome == ENGINE_NOT_SET)
			report_decision(run, &decision);
	}
	if (call->type == ENGINE_COMMIT || call->type == ENGINE_ADVANCE)
		report_tasks(run, call->now_ns);
	if (call->type == ENGINE_APPLY && call->input->type == INPUT_DOMAIN &&
	    !call->input->domain.active)
		report_pause(run, call->input->domain.domain, call->now_ns);
	return 0;
}

static int replay_all(struct run *run)
{
	const struct record_reader *reader = run->reader;
	uint32_t n_domains = reader->topology->n_domains;
	struct engine_call call;
	int r;

	/* Decisions from before the recording hold from its beginning on. */
	for (uint32_t i = 0; i < n_domains; i++) {
		struct decision decision = *engine_last(run->engine, i);

		decision.now_ns = reader->begin_ns;
		if (engine_is_active(run->engine, i))
			report_decision(run, &decision);
	}
	report_tasks(run, reader->begin_ns);
	while ((r = record_reader_next(run->reader, &call)) == RECORD_READ) {
		r = play(run, &call);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	*run->ret = (struct timeline){ reader->begin_ns, reader->end_ns, r == RECORD_CUT };
	for (uint32_t i = 0; i < n_domains; i++)
		report_pause(run, i, reader->end_ns);
	for (uint32_t i = 0; i < io_task_size(engine_tasks(run->engine)); i++)
		report_end(run, &run->reported[i], reader->end_ns);
	return 0;
}

int timeline_run(struct record_reader *reader, const struct timeline_sink *sink,
		 struct timeline *ret)
{
	const struct policy *policy = &reader->policy;
	struct run run = {
		.reader = reader,
		.sink = sink,
		.decisions = calloc(reader->topology->n_domains + 1, sizeof(*run.decisions)),
		.reported = calloc(policy->max_tasks, sizeof(*run.reported)),
		.ret = ret,
	};
	int r = player_begin(reader, policy, NULL, &run.engine);

	*ret = (struct timeline){ 0 };
	if (!run.decisions || !run.reported)
		r = -ENOMEM;
	if (r == 0)
		r = replay_all(&run);
	engine_free(run.engine);
	free(run.decisions);
	free(run.reported);
	return r;
}
