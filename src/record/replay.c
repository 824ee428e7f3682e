// SPDX-License-Identifier: GPL-2.0-only
#include "record/replay.h"

#include <errno.h>

#include "record/fields.h"
#include "record/player.h"

static int decide(struct engine *engine, const struct record *record, struct replay *ret)
{
	uint32_t domain = record->decision.domain;
	const struct decision *decision;

	if (!engine_is_active(engine, domain))
		return -EBADMSG;
	decision = engine_decide(engine, domain, record->now_ns);
	engine_commit(engine, domain, record->outcome);
	ret->n_decisions++;
	ret->recorded = record->decision;
	ret->replayed = *decision;
	return record_same_decision(decision, &record->decision) ? REPLAY_SAME : REPLAY_DIFFERS;
}

/* The replayed call must be about the same task as the recorded one. */
static int compare_task(struct replay *ret, uint32_t recorded, uint32_t replayed, bool same)
{
	ret->recorded_task = recorded;
	ret->replayed_task = replayed;
	return recorded == replayed && same ? REPLAY_SAME : REPLAY_DIFFERS;
}

static int take_ended(struct engine *engine, const struct record *record, struct replay *ret)
{
	uint32_t handle = 0;
	bool taken = engine_take_ended(engine, &handle);

	return compare_task(ret, record->handle, taken ? handle : REPLAY_NO_TASK, taken);
}

static int take_class(struct engine *engine, const struct record *record, struct replay *ret)
{
	struct task_class class;

	if (!engine_take_class(engine, &class))
		class = (struct task_class){ 0 };
	return compare_task(ret, record->class.pid ?: REPLAY_NO_TASK, class.pid ?: REPLAY_NO_TASK,
			    class.class == record->class.class);
}

static int take_clamp(struct engine *engine, const struct record *record, struct replay *ret)
{
	struct task_clamp clamp;

	if (!engine_take_clamp(engine, &clamp))
		clamp = (struct task_clamp){ 0 };
	return compare_task(ret, record->clamp.pid ?: REPLAY_NO_TASK, clamp.pid ?: REPLAY_NO_TASK,
			    clamp.min_cap == record->clamp.min_cap &&
				    clamp.max_cap == record->clamp.max_cap);
}

static void take_time(struct replay *ret, uint64_t now_ns)
{
	if (!ret->begun)
		ret->begin_ns = ret->end_ns = now_ns;
	ret->begun = true;
	if (now_ns > ret->end_ns)
		ret->end_ns = now_ns;
}

static int take(struct engine *engine, const struct record *record, struct replay *ret)
{
	ret->n_inputs += record_is_input(record->type);
	if (record_is_timed(record->type))
		take_time(ret, record->now_ns);
	ret->type = record->type;
	switch (record->type) {
	case RECORD_DECIDE:
		return decide(engine, record, ret);
	case RECORD_TAKE_ENDED:
		return take_ended(engine, record, ret);
	case RECORD_TAKE_CLASS:
		return take_class(engine, record, ret);
	case RECORD_TAKE_CLAMP:
		return take_clamp(engine, record, ret);
	case RECORD_POLICY:
		engine_set_policy(engine, record->policy);
		return REPLAY_SAME;
	default:
		player_tell(engine, record);
		return REPLAY_SAME;
	}
}

static int take_all(struct record_reader *reader, struct engine *engine, struct replay *ret)
{
	struct record record;
	int r;

	for (;;) {
		r = record_reader_next(reader, &record);
		if (r < 0)
			return r;
		if (r == RECORD_ENDED)
			return REPLAY_SAME;
		if (r == RECORD_CUT)
			return REPLAY_CUT;
		r = take(engine, &record, ret);
		if (r == -EBADMSG)
			return record_reader_refuse_decision(reader);
		if (r != REPLAY_SAME)
			return r;
	}
}

int replay_run(struct record_reader *reader, struct recorder *again, struct replay *ret)
{
	struct engine *engine = NULL;
	int r = player_begin(reader, record_reader_policy(reader), again, &engine);

	*ret = (struct replay){ 0 };
	if (r == 0)
		r = take_all(reader, engine, ret);
	engine_free(engine);
	return r;
}
