// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl rules: lists rules with their tasks, one rule, or the rules of one task. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define THREADS_SHOWN 4	   /* for each rule in the list of all */
#define PAGE	      100u /* the most that the daemon gives at once */

/* Adds "threads" to a rule of a Rules reply: at most max tasks from RuleTasks. */
static enum ctl_exit add_threads(const struct ctl *ctl, json_t *rule, size_t max)
{
	json_t *threads = json_array();
	json_t *parameters = json_pack("{ss sI}", "rule", field_text(rule, "name"), "limit",
				       (json_int_t)(max < PAGE ? max : PAGE));

	json_object_set_new(rule, "threads", threads);
	return ctl_call_pages(ctl, "io.wakegov.RuleTasks", parameters, "tasks", max, threads);
}

/* "backup: tar (812), fio (813) and 17 more" */
static void print_threads_line(const json_t *rule)
{
	const json_t *threads = json_object_get(rule, "threads"), *thread;
	uint64_t n = field_number(rule, "tasks"), shown = json_array_size(threads);
	const char *name = field_shown(rule, "name");
	size_t i;

	if (!shown)
		return;
	print_part(stdout, "%s:", name);
	json_array_foreach(threads, i, thread)
		print_part(stdout, "%s %s (%" PRIu64 ")", i ? "," : "", field_shown(thread, "comm"),
			   field_number(thread, "pid"));
	if (n > shown)
		print_part(stdout, " and %" PRIu64 " more, see: wakegovctl rules %s", n - shown,
			   name);
	putchar('\n');
}

/* Shows one rule and a table of its threads. */
static void show_rule(const json_t *rule)
{
	static const struct table_column columns[] = {
		{ "PID", "pid" },
		{ "PROCESS", "tgid" },
		{ "TASK", "comm" },
	};
	_cleanup_free_ char *place = cell_place(rule, "file");

	print_line(stdout, "%s (%s), for %s: %" PRIu64 " now, %" PRIu64 " came to match",
		   field_shown(rule, "name"), place, field_shown(rule, "match"),
		   field_number(rule, "tasks"), field_number(rule, "matches"));
	table_print(TABLE(columns), json_object_get(rule, "threads"), stdout);
}

/* "web: bursts of 1.07 M cycles, 90 % within 700 us at 1800 MHz" */
static void show_bursts(FILE *file, const char *before, const json_t *rule)
{
	const json_t *bursts = json_object_get(rule, "bursts");
	_cleanup_free_ char *floor = format_level(field_text(rule, "floor"));
	_cleanup_free_ char *khz = format_frequency(field_number(bursts, "khz"));
	_cleanup_free_ char *needs = format_frequency(field_number(bursts, "needs_khz"));
	_cleanup_free_ char *highest = format_frequency(field_number(bursts, "highest_khz"));

	if (!json_is_object(bursts))
		return;
	print_part(file, "%s%s: bursts of %.2f M cycles, 90 %% within %s ", before,
		   field_shown(rule, "name"), (double)field_number(bursts, "cycles") / 1e6, floor);
	if (field_is_known(bursts, "khz"))
		fprintf(file, "at %s\n", khz);
	else
		fprintf(file, "would need %s, and the highest frequency is %s\n", needs, highest);
}

/* "web: 8 tasks spread over the caches" */
static void show_groups(FILE *file, const char *before, const json_t *rule)
{
	const json_t *group;
	size_t i;

	json_array_foreach(json_object_get(rule, "groups"), i, group) {
		uint64_t n = field_number(group, "tasks");

		print_part(file, "%s%s: %" PRIu64 " task%s ", before, field_shown(rule, "name"), n,
			   n == 1 ? "" : "s");
		if (field_flag(group, "placed"))
			fputs("spread over the caches", file);
		else
			print_part(file, "placed nowhere, %s", field_shown(group, "why"));
		fputc('\n', file);
	}
}

static void show_rules(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "RULE", "name" },	      { "PLACE", "file", cell_place },
		{ "TASKS", "tasks" },	      { "MATCHES", "matches" },
		{ "CAP", "cap", cell_level }, { "FLOOR", "floor", cell_level },
		{ "I/O", "io_boost" },	      { "DOMAIN", "domain" },
		{ "FOR", "match" },
	};
	const json_t *rules = json_object_get(reply, "rules"), *rule;
	uint64_t refused = field_number(reply, "refused");
	size_t i;

	if (!table_print(TABLE(columns), rules, stdout))
		puts("the policy has no rules; wakegov.conf(5) says how to write one");
	json_array_foreach(rules, i, rule)
		print_threads_line(rule);
	json_array_foreach(rules, i, rule)
		show_bursts(stdout, "", rule);
	json_array_foreach(rules, i, rule)
		show_groups(stdout, "", rule);
	if (refused)
		printf("%" PRIu64 " tasks found no place: raise max-ruled-tasks (%" PRIu64 ")\n",
		       refused, field_number(reply, "max_tasks"));
}

static void show_explained(FILE *file, const json_t *explained)
{
	static const struct {
		const char *flag, *key, *title;
	} given[] = {
		{ "gives_cap", "cap", "cap" },
		{ "gives_floor", "floor", "floor" },
		{ "gives_io_boost", "io_boost", "io-boost" },
		{ "gives_placement", "placement", "placement" },
		{ "gives_idle_latency", "idle_latency", "idle-latency" },
	};
	const json_t *rule = json_object_get(explained, "rule");
	_cleanup_free_ char *place = cell_place(rule, "file");

	print_part(file, "  %-4s %s", field_flag(explained, "matches") ? "yes" : "no",
		   field_shown(rule, "name"));
	if (field_shown(rule, "file")[0])
		print_part(file, " (%s)", place);
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		_cleanup_free_ char *value = format_level(field_text(rule, given[i].key));

		if (field_flag(explained, given[i].flag))
			print_part(file, ", %s %s", given[i].title, value);
	}
	print_line(file, ": %s",
		   field_text(explained, "why")
			   ?: "by a program or a command line that is not yours");
}

void rules_print_task(FILE *file, const json_t *reply)
{
	const json_t *rules = json_object_get(reply, "rules"), *explained;
	size_t i;

	print_line(file,
		   "rules for %s (thread %" PRIu64 " of process %" PRIu64 "), the first that gives "
		   "something wins:",
		   field_shown(reply, "comm"), field_number(reply, "pid"),
		   field_number(reply, "tgid"));
	json_array_foreach(rules, i, explained)
		show_explained(file, explained);
	if (!json_array_size(rules))
		fputs("  the policy has none\n", file);
	json_array_foreach(rules, i, explained)
		if (field_flag(explained, "gives_floor"))
			show_bursts(file, "  ", json_object_get(explained, "rule"));
	json_array_foreach(rules, i, explained)
		if (field_flag(explained, "gives_placement"))
			show_groups(file, "  ", json_object_get(explained, "rule"));
}

static void show_task(const json_t *reply)
{
	rules_print_task(stdout, reply);
}

static enum ctl_exit show_named(const struct ctl *ctl, const json_t *reply, const char *name)
{
	enum ctl_exit code;
	json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(reply, "rules"), i, rule) {
		if (!field_is_word(rule, "name", name))
			continue;
		code = add_threads(ctl, rule, SIZE_MAX);
		return code == CTL_OK ? ctl_print(ctl, rule, show_rule) : code;
	}
	complain("the policy has no rule '%s'. See: wakegovctl rules", name);
	return CTL_REFUSED;
}

enum ctl_exit command_rules(struct ctl *ctl)
{
	const char *name = ctl->n_arguments ? ctl->arguments[0] : NULL;
	size_t i, most = ctl->json ? SIZE_MAX : THREADS_SHOWN;
	json_auto_t *reply = NULL;
	enum ctl_exit code;
	uint64_t pid = 0;
	json_t *rule;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl, "expected nothing, one rule, or one thread id (812)");
	if (name && quantity_number(name, &pid) && !pid)
		return ctl_misuse(ctl, "0 is no thread id");
	if (pid)
		return ctl_ask(ctl, "io.wakegov.ExplainRules",
			       json_pack("{sI}", "pid", (json_int_t)pid), show_task);
	code = ctl_call(ctl, "io.wakegov.Rules", NULL, &reply);
	if (code == CTL_OK && name)
		return show_named(ctl, reply, name);
	json_array_foreach(json_object_get(reply, "rules"), i, rule) {
		code = add_threads(ctl, rule, most);
		if (code != CTL_OK)
			break;
	}
	return code == CTL_OK ? ctl_print(ctl, reply, show_rules) : code;
}
