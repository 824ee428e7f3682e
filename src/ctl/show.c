// SPDX-License-Identifier: GPL-2.0-only
/* Prints the daemon's status, its domains and its disks. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"

char *show_reason(const json_t *object, const char *key)
{
	const char *limiter = field_text(object, "limiter");
	uint64_t pid = field_number(object, "capped_pid");
	_cleanup_free_ char *cap = NULL;

	if (field_is_word(object, "limiter", "own-cap"))
		limiter = cap = format_print("the cap that pid %" PRIu64 " asks for itself", pid);
	else if (field_is_word(object, "limiter", "cap"))
		limiter = cap = format_print("the cap of pid %" PRIu64 " by rule %s", pid,
					     field_shown(object, "rule"));
	return format_reason(field_text(object, "reason"), field_text(object, "comm"),
			     field_number(object, "pid"), limiter, field_text(object, "timing"));
}

bool show_is_expected(const json_t *domain)
{
	uint64_t target_khz = field_number(domain, "target_khz");

	/* A daemon that does not know the method is older than this client. */
	return field_is_word(domain, "state", "driven") && target_khz &&
	       json_object_get(domain, "asked_min_khz") &&
	       (field_number(domain, "asked_min_khz") != target_khz ||
		field_number(domain, "asked_max_khz") != target_khz);
}

bool show_is_left_idle(const json_t *domain)
{
	return show_is_expected(domain) && !field_number(domain, "utilisation_cap") &&
	       field_number(domain, "current_khz") != field_number(domain, "target_khz");
}

/* "~600 MHz" where the frequency is only expected, as the domain's own governor sets it. */
static char *cell_target(const json_t *domain, const char *key)
{
	_cleanup_free_ char *target = format_frequency(field_number(domain, key));

	if (show_is_left_idle(domain))
		return format_print("idle");
	return format_print("%s%s", show_is_expected(domain) ? "~" : "", target);
}

static char *cell_limits(const json_t *domain, const char *key)
{
	return format_frequency_range(field_number(domain, "min_khz"),
				      field_number(domain, "max_khz"));
}

/* Why a domain is not driven, or else the reason of its decision. */
static char *cell_why(const json_t *domain, const char *key)
{
	return field_text(domain, "state_why") ? cell_value(domain, "state_why")
					       : show_reason(domain, key);
}

void show_domains(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "DOMAIN", "name" },
		{ "CPUS", "cpus" },
		{ "STATE", "state" },
		{ "CURRENT", "current_khz" },
		{ "TARGET", "target_khz", cell_target },
		{ "LIMITS", "max_khz", cell_limits },
		{ "USED", "utilisation_cap" },
		{ "REASON", NULL, cell_why },
	};
	const json_t *domains = json_object_get(reply, "domains");
	const json_t *domain;
	size_t i;

	if (!table_print(TABLE(columns), domains, stdout))
		puts("no cpufreq domain is known: does the kernel have a cpufreq driver here?");
	/* Writes that failed or had no effect are rare, and get a line of their own. */
	json_array_foreach(domains, i, domain) {
		uint64_t errors = field_number(domain, "write_errors");
		uint64_t mismatches = field_number(domain, "read_back_mismatches");

		if (errors || mismatches)
			print_line(stdout,
				   "%s: of %" PRIu64 " writes %" PRIu64 " failed and %" PRIu64
				   " read back differently",
				   field_shown(domain, "name"), field_number(domain, "writes"),
				   errors, mismatches);
	}
}

void show_devices(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "DEVICE", "name" },
		{ "TASKS", "tasks" },
		{ "I/O/S", "completions_per_s" },
		{ "DEPTH", "depth_milli" },
		{ "CPU", "completion_cpu" },
		{ "DOMAIN", "completion_domain" },
		{ "BOOSTED", "boosted" },
		{ "TRYING", "trying" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns), TABLE_LINE, 0 };

	if (!table_print(&table, json_object_get(reply, "devices"), stdout))
		puts("no block device was used since wakegovd started");
}

static void show_head(const json_t *reply)
{
	const json_t *hand_back = json_object_get(reply, "hand_back");
	_cleanup_free_ char *uptime = format_duration(field_number(reply, "uptime_us"));
	_cleanup_free_ char *left = format_duration(field_number(hand_back, "left_us"));
	_cleanup_free_ char *watched = format_duration(field_number(reply, "watched_us"));

	print_line(stdout, "wakegovd %s, up %s, %s, backend %s", field_shown(reply, "version"),
		   uptime, field_shown(reply, "mode"), field_shown(reply, "backend"));
	if (json_is_object(hand_back))
		print_line(stdout, "handed back to %s for %s more",
			   field_text(hand_back, "governor") ?: "the former governors", left);
	if (field_is_known(reply, "watched_us"))
		print_line(stdout, "traced while a client asks, as nothing is governed: for %s",
			   watched);
}

static void show_policy(const json_t *policy)
{
	const char *last_error = field_text(policy, "last_error");
	uint64_t reloads = field_number(policy, "reloads");
	const char *path = field_text(policy, "path");
	bool missing = path && access(path, F_OK) < 0 && errno == ENOENT;

	print_line(stdout, "policy     %s%s%s, reloaded %" PRIu64 " time%s",
		   missing ? "built in, there is no " : "", field_shown(policy, "path"),
		   missing ? " yet" : "", reloads, reloads == 1 ? "" : "s");
	if (field_text(policy, "profile"))
		print_line(stdout, "profile    %s: %s", field_text(policy, "profile"),
			   field_shown(policy, "profile_why"));
	if (last_error)
		puts("           the last reload failed, the old policy stays in force:");
	for (; last_error && *last_error; last_error += *last_error == '\n') {
		size_t length = strcspn(last_error, "\n");

		paragraph_printf(stdout, "", "%.*s", (int)length, last_error);
		last_error += length;
	}
}

/* The start's share is no rate: within seconds of it, it would be most of a CPU. */
static void show_own_cost(const json_t *self, uint64_t uptime_us)
{
	uint64_t cpu_us = field_number(self, "cpu_us"),
		 start_us = field_number(self, "start_cpu_us");
	uint64_t since_us = cpu_us > start_us ? cpu_us - start_us : 0;
	_cleanup_free_ char *start = format_duration(start_us), *since = format_duration(since_us);
	_cleanup_free_ char *size = format_size(field_number(self, "pss_kib"));

	paragraph_printf(stdout, "own cost",
			 "%s of CPU time at the start, %s since (%.2f %% of one CPU), %s, %" PRIu64
			 " wake-ups, %" PRIu64 " events",
			 start, since,
			 uptime_us ? 100.0 * (double)since_us / (double)uptime_us : 0.0, size,
			 field_number(self, "wakeups"), field_number(self, "events"));
}

/* What is known, what was lost, and what the daemon itself costs. */
static void show_counts(const json_t *reply)
{
	const json_t *tasks = json_object_get(reply, "tasks");
	char line[256] = "";
	const char *where;
	json_t *drop;

	printf("tasks      %" PRIu64 " known, room for %" PRIu64 "\n", field_number(tasks, "count"),
	       field_number(tasks, "max"));
	printf("decisions  %" PRIu64 "\n", field_number(reply, "decisions"));
	json_object_foreach(json_object_get(reply, "drops"), where, drop)
		text_append(line, sizeof(line), "%s%s %" PRId64, line[0] ? ", " : "", where,
			    (int64_t)json_integer_value(drop));
	paragraph_print(stdout, "drops", line);
	show_own_cost(json_object_get(reply, "self"), field_number(reply, "uptime_us"));
}

static void show_frequency(const json_t *frequency)
{
	const char *source = field_text(frequency, "source"), *why = field_text(frequency, "why");
	_cleanup_free_ char *age = format_duration(field_number(frequency, "age_us"));

	if (!source)
		return; /* a daemon that is older than this client */
	if (field_is_known(frequency, "age_us"))
		print_line(stdout, "frequency  measured by %s, %s ago", source, age);
	else if (!strcmp(source, "kernel"))
		puts("frequency  as the kernel sets it");
	else
		print_line(stdout, "frequency  measured by %s, no CPU yet", source);
	if (why)
		paragraph_printf(stdout, "", "not measured by %s", why);
}

/* Of what the machine itself has to limit frequencies. */
/* "turbo yes, temperature 61.4 °C, power 9.4 W": names without their units. */
static void show_machine(const json_t *machine)
{
	char text[512] = "";
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)machine, key, value) {
		_cleanup_free_ char *shown = cell_value(machine, key), *name = cell_title(key);

		text_append(text, sizeof(text), "%s%s %s", text[0] ? ", " : "", name, shown);
	}
	if (text[0])
		paragraph_print(stdout, "machine", text);
}

/* Those that the daemon has words for. */
static void show_notices(const char *group, const json_t *notices)
{
	const json_t *notice;
	size_t i;

	json_array_foreach(notices, i, notice) {
		const char *what = field_shown(notice, "what");
		_cleanup_free_ char *sentence = words_fill(group, what, notice, NULL);

		paragraph_print(stdout, group, sentence ?: what);
	}
}

static void show_sentences(const char *title, const json_t *sentences)
{
	const json_t *sentence;
	size_t i;

	json_array_foreach(sentences, i, sentence)
		paragraph_print(stdout, title, json_string_value(sentence));
}

static char *cell_purpose(const json_t *program, const char *key)
{
	const char *error = field_text(program, "error");

	return format_print("%s%s%s", field_shown(program, key), error ? ": " : "", error ?: "");
}

static void show_programs(const json_t *programs)
{
	static const struct table_column columns[] = {
		{ "PROGRAM", "name" },
		{ "STATE", "state" },
		{ "EVENTS", "events" },
		{ "FOR", "purpose", cell_purpose },
	};

	if (!json_array_size(programs))
		return;
	putchar('\n');
	table_print(TABLE(columns), programs, stdout);
}

/* Those that could not be attached: something is not seen, or not as well. */
static void show_unable_programs(const json_t *programs)
{
	json_auto_t *unable = json_array();
	json_t *program;
	size_t i;

	json_array_foreach(programs, i, program)
		if (field_is_word(program, "state", "failed") ||
		    field_is_word(program, "state", "missing"))
			json_array_append(unable, program);
	show_programs(unable);
}

static void show_all_but_programs(const json_t *reply)
{
	show_head(reply);
	show_policy(json_object_get(reply, "policy"));
	show_counts(reply);
	show_frequency(json_object_get(reply, "frequency"));
	show_machine(json_object_get(reply, "machine"));
	if (field_is_known(reply, "idle_latency_us"))
		print_line(stdout,
			   "idle       no CPU may take longer than %" PRIu64
			   " us to wake up now, for tasks with an idle-latency",
			   field_number(reply, "idle_latency_us"));
	show_notices("unable", json_object_get(reply, "unable"));
	show_notices("advice", json_object_get(reply, "advice"));
	putchar('\n');
	show_domains(reply);
}

void show_status(const json_t *reply)
{
	show_all_but_programs(reply);
	show_unable_programs(json_object_get(reply, "programs"));
}

void show_status_and_programs(const json_t *reply)
{
	show_all_but_programs(reply);
	show_programs(json_object_get(reply, "programs"));
}

void show_reload(const json_t *reply)
{
	const json_t *policy = json_object_get(reply, "policy");

	print_line(stdout, "loaded %s, reload number %" PRIu64, field_shown(policy, "path"),
		   field_number(policy, "reloads"));
	show_sentences("warning", json_object_get(reply, "warnings"));
}
