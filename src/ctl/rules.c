// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl rules: lists rules with their tasks, one rule, or the rules of one task. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "ctl/quantity.h"
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
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	uint64_t n = field_number(rule, "tasks"), shown = json_array_size(threads);
	size_t i;

	if (!shown)
		return;
	printf("%s:", name);
	json_array_foreach(threads, i, thread) {
		_cleanup_free_ char *comm = format_clean(field_text(thread, "comm"));

		printf("%s %s (%" PRIu64 ")", i ? "," : "", comm, field_number(thread, "pid"));
	}
	if (n > shown)
		printf(" and %" PRIu64 " more, see: wakegovctl rules %s", n - shown, name);
	putchar('\n');
}

/* Shows one rule and a table of its threads. */
static void show_rule(const json_t *rule)
{
	static const struct table_column columns[] = {
		{ "PID", TABLE_RIGHT, cell_number, "pid" },
		{ "PROCESS", TABLE_RIGHT, cell_number, "tgid" },
		{ "TASK", TABLE_LEFT, cell_text, "comm" },
	};
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	_cleanup_free_ char *file = format_clean(field_text(rule, "file"));
	_cleanup_free_ char *match = format_clean(field_text(rule, "match"));

	printf("%s (%s:%" PRIu64 "), for %s: %" PRIu64 " now, %" PRIu64 " came to match\n", name,
	       file, field_number(rule, "line"), match, field_number(rule, "tasks"),
	       field_number(rule, "matches"));
	table_print(TABLE(columns), json_object_get(rule, "threads"), stdout);
}

static char *cell_place(const json_t *rule, const char *key)
{
	_cleanup_free_ char *file = cell_text(rule, key);

	return format_print("%s:%" PRIu64, file, field_number(rule, "line"));
}

static void show_where_set(const json_t *rule)
{
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	_cleanup_free_ char *why = format_clean(field_text(rule, "by_task_why"));
	bool by_cgroup = json_is_true(json_object_get(rule, "by_cgroup"));

	if (by_cgroup)
		printf("%s: set on its cgroups\n", name);
	if (field_text(rule, "by_task_why"))
		printf("%s: %sset on each task: %s\n", name, by_cgroup ? "in other cgroups " : "",
		       why);
}

/* "web: bursts of 1.07 M cycles, 90 % within 700 us at 1800 MHz" */
static void show_bursts(FILE *file, const char *before, const json_t *rule)
{
	const json_t *bursts = json_object_get(rule, "bursts");
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	_cleanup_free_ char *floor = format_level(field_text(rule, "floor"));
	_cleanup_free_ char *khz = format_frequency(field_number(bursts, "khz"));
	_cleanup_free_ char *needs = format_frequency(field_number(bursts, "needs_khz"));
	_cleanup_free_ char *highest = format_frequency(field_number(bursts, "highest_khz"));

	if (!json_is_object(bursts))
		return;
	fprintf(file, "%s%s: bursts of %.2f M cycles, 90 %% within %s ", before, name,
		(double)field_number(bursts, "cycles") / 1e6, floor);
	if (field_is_known(bursts, "khz"))
		fprintf(file, "at %s\n", khz);
	else
		fprintf(file, "would need %s, and the highest frequency is %s\n", needs, highest);
}

/* "; compared in 12 pairs: 8.0 % more done without, plus or minus 3.0 %" */
static void show_comparison(FILE *file, const json_t *group)
{
	int64_t more = (int64_t)field_number(group, "without_permille") - 1000;

	if (!field_number(group, "pairs"))
		return;
	fprintf(file,
		"; compared in %" PRIu64 " pairs: %.1f %% %s done without, plus or minus %.1f %%",
		field_number(group, "pairs"), (double)labs(more) / 10, more < 0 ? "less" : "more",
		(double)field_number(group, "without_error_permille") / 10);
}

/*
 * "web: 8 tasks kept to CPUs 0-3; 97.0 % of their wake-ups inside a cache; p99 of their waits 40
 * us; without 45 us"
 */
static void show_group(FILE *file, const char *before, const char *name, const json_t *group)
{
	_cleanup_free_ char *why = format_clean(field_text(group, "why"));
	_cleanup_free_ char *cpus = format_clean(field_text(group, "cpus"));
	_cleanup_free_ char *with = format_duration(field_number(group, "p99_us"));
	_cleanup_free_ char *without = format_duration(field_number(group, "p99_without_us"));
	uint64_t n = field_number(group, "tasks");

	fprintf(file, "%s%s: %" PRIu64 " task%s ", before, name, n, n == 1 ? "" : "s");
	if (field_text(group, "cpus"))
		fprintf(file, "kept to CPUs %s", cpus);
	else if (json_is_true(json_object_get(group, "placed")))
		fprintf(file, "kept to their caches");
	else
		fprintf(file, "placed nowhere, %s", why);
	if (field_is_known(group, "inside_permille"))
		fprintf(file, "; %.1f %% of their wake-ups inside a cache",
			(double)field_number(group, "inside_permille") / 10);
	if (field_is_known(group, "p99_us"))
		fprintf(file, "; p99 of their waits %s", with);
	if (field_is_known(group, "p99_without_us"))
		fprintf(file, "; without %s", without);
	show_comparison(file, group);
	fputc('\n', file);
}

static void show_groups(FILE *file, const char *before, const json_t *rule)
{
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	const json_t *group;
	size_t i;

	json_array_foreach(json_object_get(rule, "groups"), i, group)
		show_group(file, before, name, group);
}

/* "database: CPUs 0,2-3 take no longer than 50 us to wake up from idle" */
static void show_idle_cpus(FILE *file, const char *before, const json_t *rule)
{
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	_cleanup_free_ char *cpus = format_clean(field_text(rule, "idle_cpus"));
	_cleanup_free_ char *latency = format_level(field_text(rule, "idle_latency"));

	if (field_text(rule, "idle_cpus"))
		fprintf(file, "%s%s: CPUs %s may take %s to wake up from idle\n", before, name,
			cpus, latency);
}

static void show_rules(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "RULE", TABLE_LEFT, cell_text, "name" },
		{ "PLACE", TABLE_LEFT, cell_place, "file" },
		{ "TASKS", TABLE_RIGHT, cell_number, "tasks" },
		{ "MATCHES", TABLE_RIGHT, cell_number, "matches" },
		{ "CAP", TABLE_RIGHT, cell_level, "cap" },
		{ "FLOOR", TABLE_RIGHT, cell_level, "floor" },
		{ "I/O", TABLE_RIGHT, cell_text, "io_boost" },
		{ "DOMAIN", TABLE_LEFT, cell_text, "domain" },
		{ "FOR", TABLE_LEFT, cell_text, "match" },
	};
	const json_t *rules = json_object_get(reply, "rules"), *rule;
	uint64_t refused = field_number(reply, "refused");
	size_t i;

	if (!table_print(TABLE(columns), rules, stdout))
		puts("the policy has no rules; wakegov.conf(5) says how to write one");
	json_array_foreach(rules, i, rule)
		print_threads_line(rule);
	json_array_foreach(rules, i, rule)
		show_where_set(rule);
	json_array_foreach(rules, i, rule)
		show_bursts(stdout, "", rule);
	json_array_foreach(rules, i, rule)
		show_groups(stdout, "", rule);
	json_array_foreach(rules, i, rule)
		show_idle_cpus(stdout, "", rule);
	if (refused)
		printf("%" PRIu64 " tasks found no place: raise max-ruled-tasks (%" PRIu64 ")\n",
		       refused, field_number(reply, "max_tasks"));
}

static void show_given(FILE *file, const json_t *explained, const char *flag, const char *key,
		       const char *title)
{
	const json_t *rule = json_object_get(explained, "rule");
	_cleanup_free_ char *value = format_level(field_text(rule, key));

	if (json_is_true(json_object_get(explained, flag)))
		fprintf(file, ", %s %s", title, value);
}

static void show_one(FILE *file, const json_t *explained)
{
	const json_t *rule = json_object_get(explained, "rule");
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	_cleanup_free_ char *place = format_clean(field_text(rule, "file"));
	_cleanup_free_ char *why = format_clean(field_text(explained, "why"));
	bool matches = json_is_true(json_object_get(explained, "matches"));

	fprintf(file, "  %-4s %s", matches ? "yes" : "no", name);
	if (place && place[0])
		fprintf(file, " (%s:%" PRIu64 ")", place, field_number(rule, "line"));
	show_given(file, explained, "gives_cap", "cap", "cap");
	show_given(file, explained, "gives_floor", "floor", "floor");
	show_given(file, explained, "gives_io_boost", "io_boost", "io-boost");
	show_given(file, explained, "gives_placement", "placement", "placement");
	show_given(file, explained, "gives_idle_latency", "idle_latency", "idle-latency");
	fprintf(file, ": %s\n",
		field_text(explained, "why") ? why
					     : "by a program or a command line that is not yours");
}

void rules_print_task(FILE *file, const json_t *reply)
{
	const json_t *rules = json_object_get(reply, "rules"), *explained;
	_cleanup_free_ char *comm = format_clean(field_text(reply, "comm"));
	size_t i;

	fprintf(file,
		"rules for %s (thread %" PRIu64 " of process %" PRIu64 "), the first that gives "
		"something wins:\n",
		comm, field_number(reply, "pid"), field_number(reply, "tgid"));
	json_array_foreach(rules, i, explained)
		show_one(file, explained);
	if (!json_array_size(rules))
		fputs("  the policy has none\n", file);
	json_array_foreach(rules, i, explained)
		if (json_is_true(json_object_get(explained, "gives_floor")))
			show_bursts(file, "  ", json_object_get(explained, "rule"));
	json_array_foreach(rules, i, explained)
		if (json_is_true(json_object_get(explained, "gives_placement")))
			show_groups(file, "  ", json_object_get(explained, "rule"));
	json_array_foreach(rules, i, explained)
		if (json_is_true(json_object_get(explained, "gives_idle_latency")))
			show_idle_cpus(file, "  ", json_object_get(explained, "rule"));
}

static void show_task(const json_t *reply)
{
	rules_print_task(stdout, reply);
}

enum ctl_exit rules_ask_task(const struct ctl *ctl, uint64_t pid, json_t **ret)
{
	return ctl_call(ctl, "io.wakegov.ExplainRules", json_pack("{sI}", "pid", (json_int_t)pid),
			ret);
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

static enum ctl_exit show_all(const struct ctl *ctl, const json_t *reply)
{
	size_t i, max = ctl->json ? SIZE_MAX : THREADS_SHOWN;
	enum ctl_exit code;
	json_t *rule;

	json_array_foreach(json_object_get(reply, "rules"), i, rule) {
		code = add_threads(ctl, rule, max);
		if (code != CTL_OK)
			return code;
	}
	return ctl_print(ctl, reply, show_rules);
}

enum ctl_exit command_rules(struct ctl *ctl)
{
	const char *name = ctl->n_arguments ? ctl->arguments[0] : NULL;
	uint64_t pid = 0;
	enum ctl_exit code;
	json_t *reply;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl, "expected nothing, one rule, or one thread id (812)");
	if (name && quantity_number(name, &pid) && !pid)
		return ctl_misuse(ctl, "0 is no thread id");
	code = pid ? rules_ask_task(ctl, pid, &reply)
		   : ctl_call(ctl, "io.wakegov.Rules", NULL, &reply);
	if (code != CTL_OK)
		return code;
	code = pid    ? ctl_print(ctl, reply, show_task)
	       : name ? show_named(ctl, reply, name)
		      : show_all(ctl, reply);
	json_decref(reply);
	return code;
}
