// SPDX-License-Identifier: GPL-2.0-only
/* The result of a replay: the same decisions, or the first one that differs. */
#include "ctl/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/format.h"
#include "ctl/show.h"
#include "shared/cleanup.h"
#include "shared/time.h"

json_t *replay_decision_json(const struct topology *topology, const struct decision *decision,
			     uint64_t begin_ns)
{
	uint64_t at_ns = decision->now_ns > begin_ns ? decision->now_ns - begin_ns : 0;
	json_t *json = json_pack(
		"{sI so sI sI sI sI sI ss ss ss}", "at_us", (json_int_t)(at_ns / NS_PER_US),
		"domain", format_json(topology->domains[decision->domain].name), "previous_khz",
		(json_int_t)decision->previous_khz, "target_khz", (json_int_t)decision->target_khz,
		"wanted_khz", (json_int_t)decision->wanted_khz, "demand_cap",
		(json_int_t)decision->want_cap, "cpu", (json_int_t)decision->cpu, "reason",
		reason_name(decision->reason), "limiter", limiter_name(decision->limiter), "timing",
		timing_name(decision->timing));

	json_object_set_new(json, "pid", decision->pid ? json_integer(decision->pid) : json_null());
	json_object_set_new(json, "comm",
			    decision->pid ? format_json(decision->comm) : json_null());
	return json;
}

void replay_show_decision(const json_t *decision)
{
	_cleanup_free_ char *before = format_frequency(field_number(decision, "previous_khz"));
	_cleanup_free_ char *target = format_frequency(field_number(decision, "target_khz"));
	_cleanup_free_ char *reason =
		format_reason(field_text(decision, "reason"), field_text(decision, "comm"),
			      field_number(decision, "pid"), field_text(decision, "limiter"),
			      field_text(decision, "timing"));

	printf("%s -> %s  %s, demand %" PRIu64 " of 1024 on CPU %" PRIu64 "\n", before, target,
	       reason, field_number(decision, "demand_cap"), field_number(decision, "cpu"));
}

static json_t *task_json(uint32_t task)
{
	return task == REPLAY_NO_TASK ? json_null() : json_integer(task);
}

static const char *kind_of(const struct replay *replay)
{
	switch (replay->type) {
	case RECORD_TAKE_ENDED:
		return "boost-end";
	case RECORD_TAKE_CLASS:
		return "clamp-set";
	case RECORD_TAKE_CLAMP:
		return "clamp";
	default:
		return "decision";
	}
}

static json_t *difference_json(const struct topology *topology, const struct replay *replay,
			       uint64_t offset)
{
	json_t *json = json_pack("{sI ss}", "offset", (json_int_t)offset, "kind", kind_of(replay));

	if (replay->type != RECORD_DECIDE) {
		json_object_set_new(json, "recorded", task_json(replay->recorded_task));
		json_object_set_new(json, "replayed", task_json(replay->replayed_task));
		return json;
	}
	json_object_set_new(
		json, "recorded",
		replay_decision_json(topology, &replay->recorded, replay->time.begin_ns));
	json_object_set_new(
		json, "replayed",
		replay_decision_json(topology, &replay->replayed, replay->time.begin_ns));
	return json;
}

json_t *replay_json(const struct topology *topology, int outcome, const struct replay *replay,
		    uint64_t offset)
{
	static const char *const outcomes[] = {
		[REPLAY_SAME] = "same",
		[REPLAY_CUT] = "cut",
		[REPLAY_DIFFERS] = "differs",
	};
	json_t *json = json_pack(
		"{ss sI sI sI}", "outcome", outcomes[outcome], "length_us",
		(json_int_t)((replay->time.end_ns - replay->time.begin_ns) / NS_PER_US), "inputs",
		(json_int_t)replay->n_inputs, "decisions", (json_int_t)replay->n_decisions);

	json_object_set_new(json, "difference",
			    outcome == REPLAY_DIFFERS ? difference_json(topology, replay, offset)
						      : json_null());
	return json;
}

static void show_task(const char *side, const char *kind, const json_t *task)
{
	if (json_is_integer(task))
		printf("%s  %s of task %" JSON_INTEGER_FORMAT "\n", side, kind,
		       json_integer_value(task));
	else
		printf("%s  no %s\n", side, kind);
}

static void show_difference(const json_t *difference)
{
	const json_t *recorded = json_object_get(difference, "recorded");
	const json_t *replayed = json_object_get(difference, "replayed");

	const char *kind = field_text(difference, "kind");

	if (!json_is_object(recorded)) {
		printf("the first difference, at byte %" PRIu64 ":\n",
		       field_number(difference, "offset"));
		show_task("recorded", kind, recorded);
		show_task("replayed", kind, replayed);
		return;
	}
	printf("the first difference, %.3f s from the start, %s, at byte %" PRIu64 ":\n",
	       (double)field_number(recorded, "at_us") / 1e6, field_text(recorded, "domain"),
	       field_number(difference, "offset"));
	fputs("recorded  ", stdout);
	replay_show_decision(recorded);
	fputs("replayed  ", stdout);
	replay_show_decision(replayed);
}

void replay_show(const json_t *reply)
{
	_cleanup_free_ char *length = format_duration(field_number(reply, "length_us"));
	const json_t *difference = json_object_get(reply, "difference");

	printf("%s: %" PRIu64 " inputs, %" PRIu64 " decisions, %s\n", length,
	       field_number(reply, "inputs"), field_number(reply, "decisions"),
	       json_is_object(difference) ? "the last of them not as recorded"
					  : "every one as recorded");
	if (json_is_object(difference))
		show_difference(difference);
}
