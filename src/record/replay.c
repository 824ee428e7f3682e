// SPDX-License-Identifier: GPL-2.0-only
#include "record/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "record/fields.h"
#include "shared/cleanup.h"

struct run {
	struct record_reader *reader;
	const struct policy *policy; /* NULL: the recording's */
	struct recorder *again;
	struct engine *engine;
	bool *active; /* per domain */
	struct replay *ret;
};

/* The engine asserts that it decides for active domains only; a file may say anything. */
static int decide(struct run *run, const struct record *record)
{
	uint32_t domain = record->decision.domain;
	const struct decision *decision;

	if (!run->active[domain])
		return -EBADMSG;
	decision = record_engine_decide(run->again, run->engine, domain, record->now_ns);
	run->ret->n_decisions++;
	run->ret->recorded = record->decision;
	run->ret->replayed = *decision;
	return record_same_decision(decision, &record->decision) ? REPLAY_SAME : REPLAY_DIFFERS;
}

static int take_ended(struct run *run, const struct record *record)
{
	uint32_t handle = 0;
	bool taken = record_engine_take_ended(run->again, run->engine, &handle);

	/* Under another policy other boosts end, and none of them is a decision yet. */
	if (run->policy || (taken && handle == record->handle))
		return REPLAY_SAME;
	run->ret->other_end = true;
	run->ret->recorded_handle = record->handle;
	run->ret->replayed_handle = taken ? handle : UINT32_MAX;
	return REPLAY_DIFFERS;
}

static int apply(struct run *run, const struct record *record)
{
	if (record->type == RECORD_DOMAIN)
		run->active[record->input.domain.domain] = record->input.domain.active;
	run->ret->n_inputs++;
	record_engine_apply(run->again, run->engine, &record->input);
	return REPLAY_SAME;
}

/* What tasks carry decides nothing, but those that wait to be told take room. */
static void advance(struct run *run, uint64_t now_ns)
{
	struct task_clamp clamp;
	struct task_set set;

	record_engine_advance(run->again, run->engine, now_ns);
	while (engine_take_set(run->engine, &set))
		;
	while (engine_take_clamp(run->engine, &clamp))
		;
}

static int take(struct run *run, const struct record *record)
{
	switch (record->type) {
	case RECORD_DECIDE:
		return decide(run, record);
	case RECORD_TAKE_ENDED:
		return take_ended(run, record);
	case RECORD_POLICY:
		if (!run->policy)
			record_engine_set_policy(run->again, run->engine, record->policy);
		return REPLAY_SAME;
	case RECORD_ADVANCE:
		advance(run, record->now_ns);
		return REPLAY_SAME;
	case RECORD_FORGET_TARGET:
		record_engine_forget_target(run->again, run->engine, record->domain);
		return REPLAY_SAME;
	case RECORD_TAKE_BACK:
		record_engine_take_back(run->again, run->engine, record->domain);
		return REPLAY_SAME;
	default:
		return apply(run, record);
	}
}

static int take_all(struct run *run)
{
	struct record record;
	int r;

	for (;;) {
		r = record_reader_next(run->reader, &record);
		if (r < 0)
			return r;
		if (r == RECORD_ENDED)
			return REPLAY_SAME;
		if (r == RECORD_CUT)
			return REPLAY_CUT;
		r = take(run, &record);
		if (r == -EBADMSG)
			return record_reader_refuse(run->reader, "a decision for a domain that is "
								 "not active");
		if (r != REPLAY_SAME)
			return r;
	}
}

int replay_run(struct record_reader *reader, const struct policy *policy, struct recorder *again,
	       struct replay *ret)
{
	const struct topology *topology = record_reader_topology(reader);
	_cleanup_free_ bool *active = calloc(topology->n_domains + 1, sizeof(*active));
	struct run run = {
		.reader = reader,
		.policy = policy,
		.again = again,
		.active = active,
		.ret = ret,
	};
	int r;

	*ret = (struct replay){};
	if (!active)
		return -ENOMEM;
	run.engine = record_engine_new(again, topology, policy ?: record_reader_policy(reader));
	if (!run.engine)
		return -ENOMEM;
	r = take_all(&run);
	engine_free(run.engine);
	return r;
}

void replay_print_decision(FILE *out, const struct topology *topology,
			   const struct decision *decision)
{
	fprintf(out, "%.6f s %s: %u -> %u kHz, wanted %u kHz for %u of 1024 by CPU %u; %s, %s, %s",
		decision->now_ns / 1e9, topology->domains[decision->domain].name,
		decision->previous_khz, decision->target_khz, decision->wanted_khz,
		decision->want_cap, decision->cpu, reason_name(decision->reason),
		limiter_name(decision->limiter), timing_name(decision->timing));
	if (decision->pid)
		fprintf(out, ", pid %u (%s)", decision->pid, decision->comm);
}
