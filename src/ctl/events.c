// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording as the events that Monitor would have sent: an engine plays it, and each decision
 * that changed something, each change of a boost and each domain that was left is a line of JSON.
 */
#include <errno.h>
#include <stdlib.h>

#include "ctl/command.h"
#include "record/record.h"
#include "shared/time.h"
#include "varlink/engine_line.h"

#define EVENT_MAX (32 * 1024)

struct playing {
	struct record_reader *reader;
	struct engine *engine;
	FILE *out;
	event_put_t *put;
	bool is_brief;
	struct decision *last; /* of each domain; target_khz 0: none holds */
	uint32_t *pids;	       /* of the tasks that were reported, by their places */
};

static const struct explanation no_explanation;

json_t *events_decision(const struct topology *topology, const struct decision *decision)
{
	const struct line_facts facts = { .topology = topology, .rests_on = &no_explanation };
	struct buffer line = { .max = EVENT_MAX };
	struct json_out out;
	json_t *json = NULL;

	json_out_init(&out, &line);
	engine_line_put_decision(&out, decision, &facts);
	if (json_out_flush(&out) == 0)
		json = json_loadb(buffer_bytes(&line), line.length, 0, NULL);
	buffer_deinit(&line);
	return json;
}

/* A decision; or a task whose boost changed, NULL where only its pid is left; or else a yield. */
static void put_event(const struct playing *playing, uint64_t now_ns, uint32_t domain,
		      const struct decision *decision, uint32_t pid, const struct io_task *task)
{
	const struct topology *topology = playing->reader->topology;
	const struct line_facts facts = {
		.topology = topology,
		.rests_on = playing->is_brief || !decision
				    ? &no_explanation
				    : engine_explanation(playing->engine, domain),
	};
	struct buffer line = { .max = EVENT_MAX };
	struct json_out out;

	json_out_init(&out, &line);
	json_out_open(&out, '{');
	field_count(&out, "monotonic_us", now_ns / NS_PER_US);
	field_text(&out, "kind", decision ? "decision" : pid ? "boost" : "yield");
	field_text(&out, "domain",
		   domain == TOPOLOGY_NO_DOMAIN ? NULL : topology->domains[domain].name);
	field_nonzero(&out, "pid", pid);
	json_out_key(&out, "decision");
	if (decision)
		engine_line_put_decision(&out, decision, &facts);
	else
		field_null(&out, NULL);
	json_out_key(&out, "task");
	if (task)
		engine_line_put_task(&out, playing->engine, task, NULL, now_ns);
	else
		field_null(&out, NULL);
	json_out_close(&out, '}');
	if (json_out_flush(&out) == 0 && buffer_append(&line, "", 1) == 0)
		playing->put(playing->out, buffer_bytes(&line));
	buffer_deinit(&line);
}

static void decide(struct playing *playing, const struct decision *decision)
{
	struct decision *last = &playing->last[decision->domain];

	if (!decision->target_khz ||
	    (last->target_khz == decision->target_khz && last->reason == decision->reason &&
	     last->limiter == decision->limiter && last->pid == decision->pid))
		return;
	*last = *decision;
	put_event(playing, decision->now_ns, decision->domain, decision, 0, NULL);
}

static void report_task(struct playing *playing, uint32_t place, uint64_t now_ns)
{
	const struct topology *topology = playing->reader->topology;
	const struct io_task *task = io_task_at(engine_tasks(playing->engine), place);
	uint32_t *pid = &playing->pids[place];

	if (*pid && (!task || task->pid != *pid))
		put_event(playing, now_ns, TOPOLOGY_NO_DOMAIN, NULL, *pid, NULL);
	*pid = task ? task->pid : 0;
	if (task)
		put_event(playing, now_ns, topology_domain_of(topology, task->cpu), NULL, *pid,
			  task);
}

/* What held before the recording holds from its beginning on. */
static void begin(struct playing *playing)
{
	const struct task_table *tasks = engine_tasks(playing->engine);
	uint64_t begin_ns = playing->reader->begin_ns;
	const struct io_task *task = NULL;

	for (uint32_t i = 0; i < playing->reader->topology->n_domains; i++) {
		struct decision decision = *engine_last(playing->engine, i);

		decision.now_ns = begin_ns;
		if (engine_is_active(playing->engine, i))
			decide(playing, &decision);
	}
	while ((task = io_task_next(tasks, task)))
		report_task(playing, io_task_place(tasks, task), begin_ns);
}

static int play(struct playing *playing, const struct engine_call *call)
{
	struct replay replay = { 0 };
	int r = player_play(playing->engine, playing->reader, call, &replay), before;
	uint32_t place, domain;

	if (r < 0)
		return r;
	if (call->type == ENGINE_COMMIT && call->outcome == ENGINE_SET)
		decide(playing, call->decision);
	if (call->type == ENGINE_COMMIT || call->type == ENGINE_ADVANCE)
		while ((place = engine_pop_changed(playing->engine, &before)) != UINT32_MAX)
			report_task(playing, place, call->now_ns);
	if (call->type != ENGINE_APPLY || call->input->type != INPUT_DOMAIN ||
	    call->input->domain.active)
		return 0;
	domain = call->input->domain.domain;
	if (playing->last[domain].target_khz)
		put_event(playing, call->now_ns, domain, NULL, 0, NULL);
	playing->last[domain].target_khz = 0;
	return 0;
}

int events_put(struct record_reader *reader, bool is_brief, event_put_t *put, FILE *out)
{
	struct playing playing = {
		.reader = reader,
		.out = out,
		.put = put,
		.is_brief = is_brief,
		.last = calloc(reader->topology->n_domains + 1, sizeof(*playing.last)),
		.pids = calloc(reader->policy.max_tasks, sizeof(*playing.pids)),
	};
	int r = playing.last && playing.pids
			? player_begin(reader, &reader->policy, NULL, &playing.engine)
			: -ENOMEM;
	struct engine_call call;

	if (r == 0)
		begin(&playing);
	while (r >= 0 && (r = record_reader_next(reader, &call)) == RECORD_READ)
		r = play(&playing, &call);
	engine_free(playing.engine);
	free(playing.last);
	free(playing.pids);
	return r;
}
