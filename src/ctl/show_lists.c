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

#define LINE_WIDTH 80

void show_tasks(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "PID", TABLE_RIGHT, cell_number, "pid" },
		{ "TASK", TABLE_LEFT, cell_text, "comm" },
		{ "DOMAIN", TABLE_LEFT, cell_text, "domain" },
		{ "STATE", TABLE_LEFT, cell_text, "state" },
		{ "DEVICE", TABLE_LEFT, cell_text, "device" },
		{ "I/O/S", TABLE_RIGHT, cell_number, "io_rate_per_s" },
		{ "HOST", TABLE_RIGHT, cell_permille, "host_share_permille" },
		{ "GAIN", TABLE_RIGHT, cell_permille, "predicted_gain_permille" },
		{ "FOUND", TABLE_RIGHT, cell_gain, "measured_gain_permille" },
		{ "MHZ", TABLE_RIGHT, cell_mhz, "wanted_khz" },
		{ "HOLD", TABLE_RIGHT, cell_duration, "hold_left_us" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns), LINE_WIDTH, 1 };

	table_print(&table, json_object_get(reply, "tasks"), stdout);
}

void show_devices(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "DEVICE", TABLE_LEFT, cell_text, "name" },
		{ "TASKS", TABLE_RIGHT, cell_number, "tasks" },
		{ "DEPTH", TABLE_RIGHT, cell_number, "depth" },
		{ "I/O/S", TABLE_RIGHT, cell_number, "completions_per_s" },
		{ "IDLE", TABLE_RIGHT, cell_permille, "idle_permille" },
		{ "CPU", TABLE_RIGHT, cell_number, "completion_cpu" },
		{ "DOMAIN", TABLE_LEFT, cell_text, "completion_domain" },
		{ "BOOSTED", TABLE_RIGHT, cell_number, "boosted" },
		{ "TRYING", TABLE_RIGHT, cell_number, "trying" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns), LINE_WIDTH, 0 };

	if (!table_print(&table, json_object_get(reply, "devices"), stdout))
		puts("no block device was used since wakegovd started");
}

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

static char *cell_reason(const json_t *object, const char *key)
{
	char limiter[128];

	return format_reason(field_text(object, "reason"), field_text(object, "comm"),
			     field_number(object, "pid"),
			     limiter_of(object, limiter, sizeof(limiter)),
			     field_text(object, "timing"));
}

bool show_is_expected(const json_t *domain)
{
	const char *state = field_text(domain, "state");
	uint64_t target_khz = field_number(domain, "target_khz");

	/* A daemon that does not know the method is older than this client. */
	return state && !strcmp(state, "driven") && target_khz &&
	       json_object_get(domain, "asked_min_khz") &&
	       (field_number(domain, "asked_min_khz") != target_khz ||
		field_number(domain, "asked_max_khz") != target_khz);
}

/* "~600 MHz" where the frequency is only expected, as the domain's own governor sets it. */
static char *cell_target(const json_t *domain, const char *key)
{
	_cleanup_free_ char *target = format_frequency(field_number(domain, key));
	char *text = NULL;

	return asprintf(&text, "%s%s", show_is_expected(domain) ? "~" : "", target) < 0 ? NULL
											: text;
}

static char *cell_limits(const json_t *domain, const char *key)
{
	return format_frequency_range(field_number(domain, "min_khz"),
				      field_number(domain, "max_khz"));
}

static char *cell_share(const json_t *domain, const char *key)
{
	return format_share(field_number(domain, key));
}

/* Why a domain is not driven, or else the reason of its decision. */
static char *cell_why(const json_t *domain, const char *key)
{
	return field_text(domain, "state_why") ? cell_text(domain, "state_why")
					       : cell_reason(domain, key);
}

/* Writes that failed or had no effect are rare, and get a line of their own. */
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
		{ "DOMAIN", TABLE_LEFT, cell_text, "name" },
		{ "CPUS", TABLE_LEFT, cell_text, "cpus" },
		{ "STATE", TABLE_LEFT, cell_text, "state" },
		{ "CURRENT", TABLE_RIGHT, cell_frequency, "current_khz" },
		{ "TARGET", TABLE_RIGHT, cell_target, "target_khz" },
		{ "LIMITS", TABLE_RIGHT, cell_limits },
		{ "USED", TABLE_RIGHT, cell_share, "utilisation_cap" },
		{ "REASON", TABLE_LEFT, cell_why },
	};
	const json_t *domains = json_object_get(reply, "domains");
	const json_t *domain;
	size_t i;

	if (!table_print(TABLE(columns), domains, stdout))
		puts("no cpufreq domain is known: does the kernel have a cpufreq driver here?");
	json_array_foreach(domains, i, domain)
		show_trouble(domain);
}

static char *cell_time(const json_t *row, const char *key)
{
	if (field_is_known(row, "realtime_us"))
		return format_wall_time(field_number(row, "realtime_us"));
	return format_time(field_number(row, key), moment_monotonic_us(), moment_realtime_us());
}

void show_decision_line(const json_t *decision)
{
	_cleanup_free_ char *time = cell_time(decision, "monotonic_us");
	_cleanup_free_ char *domain = cell_text(decision, "domain");
	_cleanup_free_ char *from = cell_frequency(decision, "previous_khz");
	_cleanup_free_ char *to = cell_frequency(decision, "target_khz");
	_cleanup_free_ char *found = cell_frequency(decision, "read_back_khz");
	_cleanup_free_ char *reason = cell_reason(decision, NULL);

	if (!reason)
		return;
	text_clean(reason);
	printf("%s  %-9s  %9s -> %9s, read back %9s  %s\n", time, domain, from, to, found, reason);
}

void show_decisions(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "TIME", TABLE_LEFT, cell_time, "monotonic_us" },
		{ "DOMAIN", TABLE_LEFT, cell_text, "domain" },
		{ "FROM", TABLE_RIGHT, cell_frequency, "previous_khz" },
		{ "TO", TABLE_RIGHT, cell_frequency, "target_khz" },
		{ "READ BACK", TABLE_RIGHT, cell_frequency, "read_back_khz" },
		{ "REASON", TABLE_LEFT, cell_reason },
	};

	if (!table_print(TABLE(columns), json_object_get(reply, "decisions"), stdout))
		puts("no such decision is remembered");
}
