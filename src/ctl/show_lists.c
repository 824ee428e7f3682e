// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/format.h"
#include "ctl/moment.h"
#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"
#include "shared/text.h"

/* "the cap of pid 812 by rule batch" */
static const char *limiter_of(const json_t *object, char *text, size_t size)
{
	const char *limiter = field_text(object, "limiter"), *rule = field_text(object, "rule");
	_cleanup_free_ char *name = rule ? format_clean(rule) : NULL;

	if (limiter && !strcmp(limiter, "own-cap")) {
		snprintf(text, size, "the cap that pid %" PRIu64 " asks for itself",
			 field_number(object, "capped_pid"));
		return text;
	}
	if (!limiter || strcmp(limiter, "cap") != 0)
		return limiter;
	snprintf(text, size, "the cap of pid %" PRIu64 " by rule %s",
		 field_number(object, "capped_pid"), name ? name : "-");
	return text;
}

static char *reason_of(const json_t *object)
{
	char limiter[128];

	return format_reason(field_text(object, "reason"), field_text(object, "comm"),
			     field_number(object, "pid"),
			     limiter_of(object, limiter, sizeof(limiter)),
			     field_text(object, "timing"));
}

static void add_frequency(struct table *table, const json_t *object, const char *key)
{
	table_add(table, format_frequency(field_number(object, key)));
}

bool show_is_expected(const json_t *domain)
{
	const char *state = field_text(domain, "state");
	uint64_t target_khz = field_number(domain, "target_khz");

	/* A daemon that does not know what it asked for is older than this client. */
	return state && !strcmp(state, "driven") && target_khz &&
	       json_object_get(domain, "asked_min_khz") &&
	       (field_number(domain, "asked_min_khz") != target_khz ||
		field_number(domain, "asked_max_khz") != target_khz);
}

/* "~600 MHz" where the domain's own governor sets the frequency, and it is only expected. */
static void add_target(struct table *table, const json_t *domain)
{
	_cleanup_free_ char *target = format_frequency(field_number(domain, "target_khz"));
	char expected[32];

	snprintf(expected, sizeof(expected), "%s%s", show_is_expected(domain) ? "~" : "", target);
	table_add_text(table, expected);
}

static void add_domain(struct table *table, const json_t *domain)
{
	const char *why = field_text(domain, "state_why");

	table_add_text(table, field_text(domain, "name"));
	table_add_text(table, field_text(domain, "cpus"));
	table_add_text(table, field_text(domain, "state"));
	add_frequency(table, domain, "current_khz");
	add_target(table, domain);
	table_add(table, format_frequency_range(field_number(domain, "min_khz"),
						field_number(domain, "max_khz")));
	table_add(table, format_share(field_number(domain, "utilisation_cap")));
	table_add(table, why ? format_clean(why) : reason_of(domain));
}

/* Writes that failed or did not take are rare, and worth a line of their own. */
static void show_trouble(const json_t *domain)
{
	_cleanup_free_ char *name = format_clean(field_text(domain, "name"));
	uint64_t errors = field_number(domain, "write_errors");
	uint64_t mismatches = field_number(domain, "read_back_mismatches");

	if (errors || mismatches)
		printf("%s: of %" PRIu64 " writes %" PRIu64 " failed and %" PRIu64
		       " read back as something else\n",
		       name, field_number(domain, "writes"), errors, mismatches);
}

void show_domains(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "DOMAIN", TABLE_LEFT },   { "CPUS", TABLE_LEFT },    { "STATE", TABLE_LEFT },
		{ "CURRENT", TABLE_RIGHT }, { "TARGET", TABLE_RIGHT }, { "LIMITS", TABLE_RIGHT },
		{ "USED", TABLE_RIGHT },    { "REASON", TABLE_LEFT },
	};
	const json_t *domains = json_object_get(reply, "domains");
	_cleanup_(table_deinit) struct table table;
	const json_t *domain;
	size_t i;

	table_init(&table, columns, ARRAY_SIZE(columns));
	json_array_foreach(domains, i, domain)
		add_domain(&table, domain);

	if (table.n_cells)
		table_print(&table, stdout);
	json_array_foreach(domains, i, domain)
		show_trouble(domain);
	if (!table.n_cells)
		puts("no cpufreq domain is known: does the kernel have a cpufreq driver here?");
}

static void add_decision(struct table *table, const json_t *decision, uint64_t monotonic_us,
			 uint64_t realtime_us)
{
	table_add(table,
		  format_time(field_number(decision, "monotonic_us"), monotonic_us, realtime_us));
	table_add_text(table, field_text(decision, "domain"));
	add_frequency(table, decision, "previous_khz");
	add_frequency(table, decision, "target_khz");
	add_frequency(table, decision, "read_back_khz");
	table_add(table, reason_of(decision));
}

void show_decision_line(const json_t *decision)
{
	_cleanup_free_ char *time = format_time(field_number(decision, "monotonic_us"),
						moment_monotonic_us(), moment_realtime_us());
	_cleanup_free_ char *domain = format_clean(field_text(decision, "domain"));
	_cleanup_free_ char *from = format_frequency(field_number(decision, "previous_khz"));
	_cleanup_free_ char *to = format_frequency(field_number(decision, "target_khz"));
	_cleanup_free_ char *found = format_frequency(field_number(decision, "read_back_khz"));
	_cleanup_free_ char *reason = reason_of(decision);

	if (reason)
		text_clean(reason);
	printf("%s  %-9s  %9s -> %9s, read back %9s  %s\n", time, domain, from, to, found, reason);
}

void show_decisions(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "TIME", TABLE_LEFT }, { "DOMAIN", TABLE_LEFT },     { "FROM", TABLE_RIGHT },
		{ "TO", TABLE_RIGHT },	{ "READ BACK", TABLE_RIGHT }, { "REASON", TABLE_LEFT },
	};
	const json_t *decisions = json_object_get(reply, "decisions");
	uint64_t monotonic_us = moment_monotonic_us(), realtime_us = moment_realtime_us();
	_cleanup_(table_deinit) struct table table;
	const json_t *decision;
	size_t i;

	table_init(&table, columns, ARRAY_SIZE(columns));
	json_array_foreach(decisions, i, decision)
		add_decision(&table, decision, monotonic_us, realtime_us);

	if (table.n_cells)
		table_print(&table, stdout);
	else
		puts("no such decision is remembered");
}
