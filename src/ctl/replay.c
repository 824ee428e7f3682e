// SPDX-License-Identifier: GPL-2.0-only
/*
 * The result of a replay: the same decisions, or the first one that differs; and under another
 * policy, what that changed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "record/record.h"
#include "shared/cleanup.h"
#include "shared/text.h"
#include "shared/time.h"

#define OPPS_SHOWN 4

/* Since the beginning; a forged recording may have any time. */
static json_int_t at_us(const struct record_reader *reader, const struct decision *decision)
{
	return decision->now_ns > reader->begin_ns
		       ? (json_int_t)((decision->now_ns - reader->begin_ns) / NS_PER_US)
		       : 0;
}

static json_t *difference_json(const struct record_reader *reader, const struct replay *replay)
{
	static const char *const kinds[] = {
		[ENGINE_COMMIT] = "decision",
		[ENGINE_POP_ENDED] = "boost-end",
		[ENGINE_POP_CLASS] = "clamp-set",
		[ENGINE_POP_CLAMP] = "clamp",
	};
	const struct topology *topology = reader->topology;
	uint32_t recorded = replay->recorded_task, replayed = replay->replayed_task;
	uint64_t offset = reader->offset;

	if (replay->type == ENGINE_COMMIT)
		return json_pack("{sI ss sI so so}", "offset", (json_int_t)offset, "kind",
				 kinds[replay->type], "at_us", at_us(reader, &replay->recorded),
				 "recorded", events_decision(topology, &replay->recorded),
				 "replayed", events_decision(topology, &replay->replayed));
	return json_pack(
		"{sI ss so so}", "offset", (json_int_t)offset, "kind", kinds[replay->type],
		"recorded", recorded == REPLAY_NO_TASK ? json_null() : json_integer(recorded),
		"replayed", replayed == REPLAY_NO_TASK ? json_null() : json_integer(replayed));
}

static json_int_t length_us(const struct record_reader *reader)
{
	return (json_int_t)((reader->end_ns - reader->begin_ns) / NS_PER_US);
}

json_t *replay_json(const struct record_reader *reader, int outcome, const struct replay *replay)
{
	static const char *const outcomes[] = {
		[REPLAY_SAME] = "same",
		[REPLAY_CUT] = "cut",
		[REPLAY_DIFFERS] = "differs",
	};

	return json_pack("{ss sI sI sI so}", "outcome", outcomes[outcome], "length_us",
			 length_us(reader), "inputs", (json_int_t)replay->n_inputs, "decisions",
			 (json_int_t)replay->n_decisions, "difference",
			 outcome == REPLAY_DIFFERS ? difference_json(reader, replay) : json_null());
}

static json_t *times_json(const struct opp_times *times)
{
	double total_s = (double)opp_times_total_ns(times) / 1e9;
	json_t *opps = json_array();

	for (uint32_t i = 0; i < times->info->n_opps; i++)
		json_array_append_new(opps, json_pack("{sI sI}", "khz",
						      (json_int_t)times->info->opp_khz[i], "us",
						      (json_int_t)(times->at_ns[i] / NS_PER_US)));
	return json_pack("{sI sI sf so}", "mean_khz", (json_int_t)opp_times_mean_khz(times),
			 "changes", (json_int_t)times->changes, "changes_per_s",
			 total_s > 0 ? (double)times->changes / total_s : 0.0, "opps", opps);
}

json_t *what_if_json(const struct what_if *what_if, const struct record_reader *reader,
		     const char *policy_path)
{
	const struct topology *topology = reader->topology;
	json_t *domains = json_array(), *differences = json_array();

	for (uint32_t i = 0; i < what_if->n_domains; i++)
		json_array_append_new(domains,
				      json_pack("{so so so}", "name",
						format_json(topology->domains[i].name), "recorded",
						times_json(&what_if->recorded[i]), "other",
						times_json(&what_if->other[i])));
	for (uint32_t i = 0; i < what_if->n_differences && i < WHAT_IF_DIFFERENCES; i++) {
		const struct what_if_difference *difference = &what_if->differences[i];

		json_array_append_new(
			differences,
			json_pack("{sI so so}", "at_us",
				  (json_int_t)(difference->at_ns / NS_PER_US), "recorded",
				  events_decision(topology, &difference->recorded), "other",
				  events_decision(topology, &difference->other)));
	}
	return json_pack("{so sb sI sI sI so sI so}", "policy", format_json(policy_path), "cut",
			 what_if->cut, "length_us", length_us(reader), "recorded_decisions",
			 (json_int_t)what_if->n_recorded, "other_decisions",
			 (json_int_t)what_if->n_other, "domains", domains, "n_differences",
			 (json_int_t)what_if->n_differences, "differences", differences);
}

/* "400 MHz 12 %, 1800 MHz 88 %": the frequencies with the most time, ascending. */
static json_t *spent_at(const json_t *opps)
{
	size_t n = json_array_size(opps), shown = 0;
	uint64_t total = 0, left;
	char text[256] = "";

	for (size_t i = 0; i < n; i++)
		total += field_number(json_array_get(opps, i), "us");
	left = total;
	for (size_t i = 0; i < n && total; i++) {
		const json_t *opp = json_array_get(opps, i);
		uint64_t us = field_number(opp, "us");
		size_t more = 0;

		for (size_t j = 0; j < n; j++)
			more += field_number(json_array_get(opps, j), "us") > us;
		if (us * 200 < total || more >= OPPS_SHOWN)
			continue;
		text_append(text, sizeof(text), "%s%" PRIu64 " MHz %" PRIu64 " %%",
			    shown++ ? ", " : "", field_number(opp, "khz") / 1000,
			    (us * 100 + total / 2) / total);
		left -= us;
	}
	if (left * 200 >= total && total)
		text_append(text, sizeof(text), ", others %" PRIu64 " %%",
			    (left * 100 + total / 2) / total);
	return json_string(total ? text : "-");
}

/* A row is one of the times, with the domain and the policy. */
static void add_row(json_t *rows, const char *domain, const char *policy, const json_t *times)
{
	json_t *row = json_copy((json_t *)times);

	json_object_set_new(row, "domain", json_string(domain));
	json_object_set_new(row, "policy", json_string(policy));
	json_object_set_new(row, "spent", spent_at(json_object_get(times, "opps")));
	json_array_append_new(rows, row);
}

void what_if_add(json_t *reply)
{
	const char *path = field_text(reply, "policy"), *slash = strrchr(path, '/');
	_cleanup_free_ char *policy = format_clean(slash ? slash + 1 : path);
	json_t *rows = json_array();
	const json_t *domain;
	size_t i;

	json_object_set_new(reply, "rows", rows);
	json_object_set_new(reply, "policy_name", json_string(policy));
	json_object_set_new(reply, "has_more",
			    json_boolean(field_number(reply, "n_differences") >
					 json_array_size(json_object_get(reply, "differences"))));
	json_array_foreach(json_object_get(reply, "domains"), i, domain) {
		add_row(rows, field_text(domain, "name"), "as recorded",
			json_object_get(domain, "recorded"));
		add_row(rows, "", policy, json_object_get(domain, "other"));
	}
}
