// SPDX-License-Identifier: GPL-2.0-only
/*
 * A new engine loads the state of the recording's beginning and gets the recorded calls; each of
 * its answers is compared with the recorded one.
 */
#include "record/record.h"

#include <errno.h>

int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret)
{
	struct engine *engine = engine_new(reader->topology, policy);

	if (!engine)
		return -ENOMEM;
	if (engine_load(engine, reader->state, engine_state_size(reader->topology, policy)) < 0) {
		engine_free(engine);
		return record_reader_refuse(reader,
					    "begins with a state in which no engine can have been");
	}
	if (again)
		recorder_begin(again, engine, reader->begin_ns);
	*ret = engine;
	return 0;
}

/* Without padding, so that decisions can be compared as bytes. */
_Static_assert(sizeof(struct decision) ==
			       offsetof(struct decision, capped_pid) + sizeof(uint32_t) &&
		       offsetof(struct decision, comm) + TASK_COMM_SIZE ==
			       offsetof(struct decision, reason),
	       "struct decision has no padding");

static int play_decision(struct engine *engine, struct record_reader *reader,
			 const struct engine_call *call, struct replay *ret)
{
	const struct decision *recorded = call->decision;

	if (!engine_is_active(engine, recorded->domain))
		return record_reader_refuse(reader, "a decision for a domain that is not active");
	ret->n_decisions++;
	ret->recorded = *recorded;
	ret->replayed = *engine_decide(engine, recorded->domain, call->now_ns);
	engine_commit(engine, recorded->domain, call->outcome);
	return memcmp(recorded, &ret->replayed, sizeof(*recorded)) ? REPLAY_DIFFERS : REPLAY_SAME;
}

/* Keeps the task of both answers, of which no task is pid 0. */
static int compare_tasks(struct replay *ret, uint32_t recorded, uint32_t replayed, bool is_same)
{
	ret->recorded_task = recorded ?: REPLAY_NO_TASK;
	ret->replayed_task = replayed ?: REPLAY_NO_TASK;
	return is_same && recorded == replayed ? REPLAY_SAME : REPLAY_DIFFERS;
}

int player_play(struct engine *engine, struct record_reader *reader, const struct engine_call *call,
		struct replay *ret)
{
	struct task_class class = { 0 };
	struct task_clamp clamp = { 0 };

	ret->type = call->type;
	switch (call->type) {
	case ENGINE_APPLY:
		ret->n_inputs++;
		engine_apply(engine, call->input);
		break;
	case ENGINE_ADVANCE:
		engine_advance(engine, call->now_ns);
		break;
	case ENGINE_COMMIT:
		return play_decision(engine, reader, call, ret);
	case ENGINE_SET_POLICY:
		engine_set_policy(engine, call->policy, call->now_ns);
		break;
	case ENGINE_FORGET_TARGET:
		engine_forget_target(engine, call->domain);
		break;
	case ENGINE_POP_ENDED:
		ret->recorded_task = call->handle;
		if (!engine_pop_ended(engine, &ret->replayed_task))
			ret->replayed_task = REPLAY_NO_TASK;
		return ret->replayed_task == call->handle ? REPLAY_SAME : REPLAY_DIFFERS;
	case ENGINE_POP_CLASS:
		if (!engine_pop_class(engine, &class))
			class = (struct task_class){ 0 };
		return compare_tasks(ret, call->class->pid, class.pid,
				     class.class == call->class->class);
	case ENGINE_POP_CLAMP:
		if (!engine_pop_clamp(engine, &clamp))
			clamp = (struct task_clamp){ 0 };
		return compare_tasks(ret, call->clamp->pid, clamp.pid,
				     clamp.min_cap == call->clamp->min_cap &&
					     clamp.max_cap == call->clamp->max_cap);
	}
	return REPLAY_SAME;
}

int replay_run(struct record_reader *reader, struct recorder *again, struct replay *ret)
{
	struct engine *engine = NULL;
	struct engine_call call;
	int r = player_begin(reader, &reader->policy, again, &engine), next = RECORD_READ;

	*ret = (struct replay){ 0 };
	while (r == REPLAY_SAME && (next = record_reader_next(reader, &call)) == RECORD_READ)
		r = player_play(engine, reader, &call, ret);
	engine_free(engine);
	if (next < 0)
		return next;
	return r == REPLAY_SAME && next == RECORD_CUT ? REPLAY_CUT : r;
}
