// SPDX-License-Identifier: GPL-2.0-only
#include "record/replay.h"

#include <assert.h>
#include <errno.h>

#include "record/body.h"

int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret)
{
	const struct topology *topology = record_reader_topology(reader);
	const void *state = record_reader_state(reader);
	struct engine *engine;
	int r;

	if (!state) {
		*ret = record_engine_new(again, topology, policy);
		return *ret ? 0 : -ENOMEM;
	}
	engine = engine_new(topology, policy);
	if (!engine)
		return -ENOMEM;
	r = engine_load(engine, state, engine_state_size(topology, policy));
	if (r < 0) {
		engine_free(engine);
		return record_reader_refuse_state(reader, r);
	}
	if (again)
		recorder_begin(again, engine);
	*ret = engine;
	return 0;
}

int player_play(struct engine *engine, struct record_reader *reader, const struct record *record,
		struct played *ret)
{
	*ret = (struct played){ .handle = REPLAY_NO_TASK };
	switch (record->type) {
	case RECORD_DECIDE:
		if (!engine_is_active(engine, record->decision.domain))
			return record_reader_refuse_decision(reader);
		ret->decision = engine_decide(engine, record->decision.domain, record->now_ns);
		engine_commit(engine, record->decision.domain, record->outcome);
		break;
	case RECORD_POP_ENDED:
		engine_pop_ended(engine, &ret->handle);
		break;
	case RECORD_POP_CLASS:
		if (!engine_pop_class(engine, &ret->class))
			ret->class = (struct task_class){ 0 };
		break;
	case RECORD_POP_CLAMP:
		if (!engine_pop_clamp(engine, &ret->clamp))
			ret->clamp = (struct task_clamp){ 0 };
		break;
	case RECORD_POLICY:
		engine_set_policy(engine, record->policy);
		break;
	case RECORD_ADVANCE:
		engine_advance(engine, record->now_ns);
		break;
	case RECORD_FORGET_TARGET:
		engine_forget_target(engine, record->domain);
		break;
	default:
		engine_apply(engine, &record->input);
	}
	return 0;
}

void played_time_add(struct played_time *time, const struct record *record)
{
	if (!record_is_timed(record->type))
		return;
	if (!time->begun)
		time->begin_ns = time->end_ns = record->now_ns;
	time->begun = true;
	if (record->now_ns > time->end_ns)
		time->end_ns = record->now_ns;
}

/* Whether the engine answered as recorded. Notes both answers. */
static bool is_same(const struct record *record, const struct played *played, struct replay *ret)
{
	bool same = true;

	ret->type = record->type;
	switch (record->type) {
	case RECORD_DECIDE:
		assert(played->decision);
		ret->n_decisions++;
		ret->recorded = record->decision;
		ret->replayed = *played->decision;
		return record_same_decision(played->decision, &record->decision);
	case RECORD_POP_ENDED:
		ret->recorded_task = record->handle;
		ret->replayed_task = played->handle;
		same = played->handle != REPLAY_NO_TASK;
		break;
	case RECORD_POP_CLASS:
		ret->recorded_task = record->class.pid ?: REPLAY_NO_TASK;
		ret->replayed_task = played->class.pid ?: REPLAY_NO_TASK;
		same = played->class.class == record->class.class;
		break;
	case RECORD_POP_CLAMP:
		ret->recorded_task = record->clamp.pid ?: REPLAY_NO_TASK;
		ret->replayed_task = played->clamp.pid ?: REPLAY_NO_TASK;
		same = played->clamp.min_cap == record->clamp.min_cap &&
		       played->clamp.max_cap == record->clamp.max_cap;
		break;
	default:
		return true;
	}
	return same && ret->recorded_task == ret->replayed_task;
}

int replay_run(struct record_reader *reader, struct recorder *again, struct replay *ret)
{
	struct engine *engine = NULL;
	struct played played;
	struct record record;
	bool same = true;
	int r = player_begin(reader, record_reader_policy(reader), again, &engine);

	*ret = (struct replay){ 0 };
	while (r >= 0 && same && (r = record_reader_next(reader, &record)) == RECORD_READ) {
		ret->n_inputs += record_is_input(record.type);
		played_time_add(&ret->time, &record);
		r = player_play(engine, reader, &record, &played);
		if (r == 0)
			same = is_same(&record, &played, ret);
	}
	engine_free(engine);
	if (r < 0)
		return r;
	return !same ? REPLAY_DIFFERS : r == RECORD_CUT ? REPLAY_CUT : REPLAY_SAME;
}
