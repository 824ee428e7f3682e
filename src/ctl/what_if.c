// SPDX-License-Identifier: GPL-2.0-only
/* The result of another policy on a recording. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/format.h"
#include "ctl/replay.h"
#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define OPPS_SHOWN 4

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

static json_t *domains_json(const struct what_if *what_if, const struct topology *topology)
{
	json_t *domains = json_array();

	for (uint32_t i = 0; i < what_if->n_domains; i++)
		json_array_append_new(domains,
				      json_pack("{so so so}", "name",
						format_json(topology->domains[i].name), "recorded",
						times_json(&what_if->recorded[i]), "other",
						times_json(&what_if->other[i])));
	return domains;
}

static json_t *differences_json(const struct what_if *what_if, const struct topology *topology)
{
	json_t *differences = json_array();

	for (uint32_t i = 0; i < what_if->n_differences && i < WHAT_IF_DIFFERENCES; i++) {
		const struct what_if_difference *difference = &what_if->differences[i];

		json_array_append_new(
			differences,
			json_pack("{sI so so}", "at_us",
				  (json_int_t)(difference->at_ns / NS_PER_US), "recorded",
				  replay_decision_json(topology, &difference->recorded,
						       what_if->begin_ns),
				  "other",
				  replay_decision_json(topology, &difference->other,
						       what_if->begin_ns)));
	}
	return differences;
}

json_t *what_if_json(const struct what_if *what_if, const struct topology *topology,
		     const char *policy_path)
{
	return json_pack("{so sb sI sI sI so sI so}", "policy", format_json(policy_path), "cut",
			 what_if->cut, "length_us",
			 (json_int_t)((what_if->end_ns - what_if->begin_ns) / NS_PER_US),
			 "recorded_decisions", (json_int_t)what_if->n_recorded, "other_decisions",
			 (json_int_t)what_if->n_other, "domains", domains_json(what_if, topology),
			 "n_differences", (json_int_t)what_if->n_differences, "differences",
			 differences_json(what_if, topology));
}

static uint64_t total_us(const json_t *opps)
{
	uint64_t total = 0;
	const json_t *opp;
	size_t i;

	json_array_foreach(opps, i, opp)
		total += field_number(opp, "us");
	return total;
}

/* "400 MHz 12 %, 1800 MHz 88 %": the frequencies with the most time, ascending. */
static char *format_opps(const json_t *opps)
{
	uint64_t total = total_us(opps), left = total;
	char text[256] = "";
	size_t n = json_array_size(opps), used = 0, shown = 0;

	for (size_t i = 0; i < n && total; i++) {
		const json_t *opp = json_array_get(opps, i);
		uint64_t us = field_number(opp, "us");
		size_t more = 0;

		for (size_t j = 0; j < n; j++)
			more += field_number(json_array_get(opps, j), "us") > us;
		if (us * 200 < total || more >= OPPS_SHOWN)
			continue;
		used += snprintf(text + used, sizeof(text) - used,
				 "%s%" PRIu64 " MHz %" PRIu64 " %%", shown++ ? ", " : "",
				 field_number(opp, "khz") / 1000, (us * 100 + total / 2) / total);
		left -= us;
	}
	if (left * 200 >= total && total)
		snprintf(text + used, sizeof(text) - used, ", others %" PRIu64 " %%",
			 (left * 100 + total / 2) / total);
	return strdup(total ? text : "-");
}

static char *cell_rate(const json_t *times, const char *key)
{
	char *text;

	return asprintf(&text, "%.1f", json_number_value(json_object_get(times, key))) < 0 ? NULL
											   : text;
}

static char *cell_opps(const json_t *times, const char *key)
{
	return format_opps(json_object_get(times, key));
}

/* A row is one of the times, with the domain and the policy. */
static void add_row(json_t *rows, const char *domain, const char *policy, const json_t *times)
{
	json_t *row = json_copy((json_t *)times);

	json_object_set_new(row, "domain", json_string(domain));
	json_object_set_new(row, "policy", json_string(policy));
	json_array_append_new(rows, row);
}

static void show_domains_table(const json_t *domains, const char *policy)
{
	static const struct table_column columns[] = {
		{ "DOMAIN", TABLE_LEFT, cell_text, "domain" },
		{ "POLICY", TABLE_LEFT, cell_text, "policy" },
		{ "MEAN", TABLE_RIGHT, cell_frequency, "mean_khz" },
		{ "CHANGES/S", TABLE_RIGHT, cell_rate, "changes_per_s" },
		{ "TIME SPENT", TABLE_LEFT, cell_opps, "opps" },
	};
	json_auto_t *rows = json_array();
	const json_t *domain;
	size_t i;

	json_array_foreach(domains, i, domain) {
		add_row(rows, field_text(domain, "name"), "as recorded",
			json_object_get(domain, "recorded"));
		add_row(rows, "", policy, json_object_get(domain, "other"));
	}
	table_print(TABLE(columns), rows, stdout);
}

static void show_differences(const json_t *reply, const char *policy)
{
	const json_t *differences = json_object_get(reply, "differences"), *difference;
	uint64_t n = field_number(reply, "n_differences");
	size_t i;

	if (!n) {
		puts("\nThe frequencies are the same at all times.");
		return;
	}
	printf("\nThey part %" PRIu64 " time%s; ", n, n == 1 ? "" : "s");
	puts(n > json_array_size(differences) ? "the first:" : "all of them:");
	json_array_foreach(differences, i, difference) {
		const json_t *recorded = json_object_get(difference, "recorded");

		printf("%9.3f s  %s\n", (double)field_number(difference, "at_us") / 1e6,
		       field_text(recorded, "domain"));
		fputs("  as recorded: ", stdout);
		replay_show_decision(recorded);
		printf("  %s: ", policy);
		replay_show_decision(json_object_get(difference, "other"));
	}
}

void what_if_show(const json_t *reply)
{
	_cleanup_free_ char *length = format_duration(field_number(reply, "length_us"));
	const char *path = field_text(reply, "policy"), *slash = strrchr(path, '/');
	_cleanup_free_ char *policy = format_clean(slash ? slash + 1 : path);

	printf("%s; %" PRIu64 " decisions recorded, %" PRIu64 " under %s\n\n", length,
	       field_number(reply, "recorded_decisions"), field_number(reply, "other_decisions"),
	       policy);
	show_domains_table(json_object_get(reply, "domains"), policy);
	show_differences(reply, policy);
}
