// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/format.h"
#include "ctl/paragraph.h"
#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"

static void show_head(const json_t *reply)
{
	_cleanup_free_ char *uptime = format_duration(field_number(reply, "uptime_us"));
	_cleanup_free_ char *version = format_clean(field_text(reply, "version"));
	_cleanup_free_ char *mode = format_clean(field_text(reply, "mode"));
	_cleanup_free_ char *backend = format_clean(field_text(reply, "backend"));

	printf("wakegovd %s, up %s, %s, backend %s\n", version, uptime, mode, backend);
}

static void show_hand_back(const json_t *hand_back)
{
	_cleanup_free_ char *left = format_duration(field_number(hand_back, "left_us"));
	const char *governor = field_text(hand_back, "governor");
	_cleanup_free_ char *shown = format_clean(governor);

	if (json_is_object(hand_back))
		printf("handed back to %s for %s more\n",
		       governor ? shown : "the governors of before", left);
}

static void show_policy(const json_t *policy)
{
	_cleanup_free_ char *path = format_clean(field_text(policy, "path"));
	const char *last_error = field_text(policy, "last_error");
	uint64_t reloads = field_number(policy, "reloads");

	printf("policy     %s, reloaded %" PRIu64 " time%s\n", path, reloads,
	       reloads == 1 ? "" : "s");
	if (field_text(policy, "profile")) {
		_cleanup_free_ char *profile = format_clean(field_text(policy, "profile"));
		_cleanup_free_ char *why = format_clean(field_text(policy, "profile_why"));

		printf("profile    %s: %s\n", profile, why);
	}
	if (last_error)
		printf("           the last reload failed, the policy before it holds:\n");
	for (; last_error && *last_error; last_error += *last_error == '\n') {
		size_t length = strcspn(last_error, "\n");

		paragraph_printf(stdout, "", "%.*s", (int)length, last_error);
		last_error += length;
	}
}

static void show_counts(const json_t *reply)
{
	const json_t *tasks = json_object_get(reply, "tasks");
	const json_t *drops = json_object_get(reply, "drops");

	printf("tasks      %" PRIu64 " known, room for %" PRIu64 "\n", field_number(tasks, "count"),
	       field_number(tasks, "max"));
	printf("decisions  %" PRIu64 "\n", field_number(reply, "decisions"));
	printf("drops      ring %" PRIu64 ", slots %" PRIu64 ", tasks %" PRIu64 ", devices %" PRIu64
	       ", anomalies %" PRIu64 ", missed %" PRIu64 "\n",
	       field_number(drops, "ring"), field_number(drops, "slots"),
	       field_number(drops, "tasks"), field_number(drops, "devices"),
	       field_number(drops, "anomalies"), field_number(drops, "missed"));
}

static void show_frequency(const json_t *frequency)
{
	const char *source = field_text(frequency, "source"), *why = field_text(frequency, "why");
	const json_t *age = json_object_get(frequency, "age_us");
	_cleanup_free_ char *shown = format_clean(source);
	char *text = NULL;

	if (!source)
		return; /* a daemon that is older than this client */
	if (json_is_integer(age)) {
		_cleanup_free_ char *passed = format_duration(json_integer_value(age));

		printf("frequency  measured by %s, %s ago\n", shown, passed);
	} else if (strcmp(source, "kernel") == 0) {
		printf("frequency  as the kernel sets it\n");
	} else {
		printf("frequency  measured by %s, no CPU yet\n", shown);
	}
	if (why && asprintf(&text, "not measured by %s", why) >= 0)
		paragraph_print(stdout, "", text);
	free(text);
}

static void show_idle_cpus(const json_t *reply)
{
	_cleanup_free_ char *cpus = format_clean(field_text(reply, "idle_cpus"));

	if (field_text(reply, "idle_cpus"))
		printf("idle       CPUs %s may not sleep deeply now, see: wakegovctl rules\n",
		       cpus);
}

static void show_sentences(const char *title, const json_t *sentences)
{
	const json_t *sentence;
	size_t i;

	json_array_foreach(sentences, i, sentence)
		paragraph_print(stdout, title, json_string_value(sentence));
}

static void show_cost(const json_t *reply)
{
	const json_t *self = json_object_get(reply, "self");
	uint64_t cpu_us = field_number(self, "cpu_us");
	uint64_t uptime_us = field_number(reply, "uptime_us");
	_cleanup_free_ char *cpu = format_duration(cpu_us);
	_cleanup_free_ char *size = format_size(field_number(self, "pss_kib"));

	printf("own cost   %s of CPU time (%.2f %% of one CPU), %s, %" PRIu64 " wake-ups, %" PRIu64
	       " events\n",
	       cpu, uptime_us ? 100.0 * (double)cpu_us / (double)uptime_us : 0.0, size,
	       field_number(self, "wakeups"), field_number(self, "events"));
}

static char *cell_purpose(const json_t *program, const char *key)
{
	_cleanup_free_ char *purpose = cell_text(program, key);
	const char *error = field_text(program, "error");
	char *text = NULL;

	return asprintf(&text, "%s%s%s", purpose, error ? ": " : "", error ?: "") < 0 ? NULL : text;
}

static void show_programs(const json_t *programs)
{
	static const struct table_column columns[] = {
		{ "PROGRAM", TABLE_LEFT, cell_text, "name" },
		{ "STATE", TABLE_LEFT, cell_text, "state" },
		{ "EVENTS", TABLE_RIGHT, cell_number, "events" },
		{ "FOR", TABLE_LEFT, cell_purpose, "purpose" },
	};

	if (!json_array_size(programs))
		return;
	putchar('\n');
	table_print(TABLE(columns), programs, stdout);
}

void show_status(const json_t *reply)
{
	show_head(reply);
	show_hand_back(json_object_get(reply, "hand_back"));
	show_policy(json_object_get(reply, "policy"));
	show_counts(reply);
	show_cost(reply);
	show_frequency(json_object_get(reply, "frequency"));
	show_idle_cpus(reply);
	show_sentences("unable", json_object_get(reply, "unable"));
	show_sentences("advice", json_object_get(reply, "advice"));
	putchar('\n');
	show_domains(reply);
	show_programs(json_object_get(reply, "programs"));
}

void show_reload(const json_t *reply)
{
	const json_t *policy = json_object_get(reply, "policy"), *warning;
	_cleanup_free_ char *path = format_clean(field_text(policy, "path"));
	size_t i;

	printf("loaded %s, reload number %" PRIu64 "\n", path, field_number(policy, "reloads"));
	json_array_foreach(json_object_get(reply, "warnings"), i, warning)
		paragraph_print(stdout, "warning", json_string_value(warning));
}
