// SPDX-License-Identifier: GPL-2.0-only
/*
 * A new engine loads the state of the recording's beginning and gets the recorded calls; each of
 * its answers is compared with the recorded one.
 */
#include "record/replay.h"

#include <assert.h>
#include <errno.h>

int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret)
{
	const struct topology *topology = record_reader_topology(reader);
	struct engine *engine = engine_new(topology, policy);

	if (!engine)
		return -ENOMEM;
	if (engine_load(engine, record_reader_state(reader), engine_state_size(topology, policy)) <
	    0) {
		engine_free(engine);
		return record_reader_refuse_state(reader);
	}
	if (again)
		recorder_begin(again, engine, record_reader_time(reader).begin_ns);
	*ret = engine;
	return 0;
}

int player_play(struct engine *engine, struct record_reader *reader, const struct engine_call *call,
		struct played *ret)
{
	*ret = (struct played){ .handle = REPLAY_NO_TASK };
	switch (call->type) {
	case ENGINE_APPLY:
		engine_apply(engine, call->input);
		break;
	case ENGINE_ADVANCE:
		engine_advance(engine, call->now_ns);
		break;
	case ENGINE_COMMIT:
		if (!engine_is_active(engine, call->decision->domain))
			return record_reader_refuse_decision(reader);
		ret->decision = engine_decide(engine, call->decision->domain, call->now_ns);
		engine_commit(engine, call->decision->domain, call->outcome);
		break;
	case ENGINE_SET_POLICY:
		engine_set_policy(engine, call->policy);
		break;
	case ENGINE_FORGET_TARGET:
		engine_forget_target(engine, call->domain);
		break;
	case ENGINE_POP_ENDED:
		engine_pop_ended(engine, &ret->handle);
		break;
	case ENGINE_POP_CLASS:
		if (!engine_pop_class(engine, &ret->class))
			ret->class = (struct task_class){ 0 };
		break;
	case ENGINE_POP_CLAMP:
		if (!engine_pop_clamp(engine, &ret->clamp))
			ret->clamp = (struct task_clamp){ 0 };
		break;
	}
	return 0;
}

/* Whether the engine answered as recorded. Keeps both answers. */
static bool is_same(const struct engine_call *call, const struct played *played, struct replay *ret)
{
	bool same = true;

	ret->type = call->type;
	switch (call->type) {
	case ENGINE_COMMIT:
		assert(played->decision);
		ret->n_decisions++;
		ret->recorded = *call->decision;
		ret->replayed = *played->decision;
		return !memcmp(&ret->recorded, &ret->replayed, sizeof(ret->replayed));
	case ENGINE_POP_ENDED:
		ret->recorded_task = call->handle;
		ret->replayed_task = played->handle;
		same = played->handle != REPLAY_NO_TASK;
		break;
	case ENGINE_POP_CLASS:
		ret->recorded_task = call->class->pid ?: REPLAY_NO_TASK;
		ret->replayed_task = played->class.pid ?: REPLAY_NO_TASK;
		same = played->class.class == call->class->class;
		break;
	case ENGINE_POP_CLAMP:
		ret->recorded_task = call->clamp->pid ?: REPLAY_NO_TASK;
		ret->replayed_task = played->clamp.pid ?: REPLAY_NO_TASK;
		same = played->clamp.min_cap == call->clamp->min_cap &&
		       played->clamp.max_cap == call->clamp->max_cap;
		break;
	default:
		return true;
	}
	return same && ret->recorded_task == ret->replayed_task;
}

/* Without padding, so that decisions can be compared as bytes. */
_Static_assert(sizeof(struct decision) ==
			       offsetof(struct decision, capped_pid) + sizeof(uint32_t) &&
		       offsetof(struct decision, comm) + TASK_COMM_SIZE ==
			       offsetof(struct decision, reason),
	       "struct decision has no padding");

int replay_run(struct record_reader *reader, struct recorder *again, struct replay *ret)
{
	struct engine *engine = NULL;
	struct played played;
	struct engine_call call;
	bool same = true;
	int r = player_begin(reader, record_reader_policy(reader), again, &engine);

	*ret = (struct replay){ 0 };
	while (r >= 0 && same && (r = record_reader_next(reader, &call)) == RECORD_READ) {
		ret->n_inputs += call.type == ENGINE_APPLY;
		r = player_play(engine, reader, &call, &played);
		if (r == 0)
			same = is_same(&call, &played, ret);
	}
	engine_free(engine);
	if (r < 0)
		return r;
	return !same ? REPLAY_DIFFERS : r == RECORD_CUT ? REPLAY_CUT : REPLAY_SAME;
}
