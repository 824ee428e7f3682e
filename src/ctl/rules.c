// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl rules: each with the tasks that it is for; one rule; what they say of one task. */
#include <inttypes.h>
#include <stdio.h>

#include <string.h>

#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/format.h"
#include "ctl/quantity.h"
#include "ctl/rule_tasks.h"
#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"

#define THREADS_SHOWN 4 /* of each rule, in the list of all */

static char *cell_place(const json_t *rule, const char *key)
{
	_cleanup_free_ char *file = cell_text(rule, "file");
	char *place = NULL;

	return asprintf(&place, "%s:%" PRIu64, file, field_number(rule, "line")) < 0 ? NULL : place;
}

static void show_carrier(const json_t *rule)
{
	_cleanup_free_ char *name = format_clean(field_text(rule, "name"));
	_cleanup_free_ char *why = format_clean(field_text(rule, "by_task_why"));
	bool by_cgroup = json_is_true(json_object_get(rule, "by_cgroup"));

	if (by_cgroup)
		printf("%s: carried by its cgroups as a whole\n", name);
	if (field_text(rule, "by_task_why"))
		printf("%s: %scarried by each task: %s\n", name,
		       by_cgroup ? "in other cgroups " : "", why);
}

static void show_rules(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "RULE", TABLE_LEFT, cell_text, "name" },
		{ "PLACE", TABLE_LEFT, cell_place },
		{ "TASKS", TABLE_RIGHT, cell_number, "tasks" },
		{ "MATCHES", TABLE_RIGHT, cell_number, "matches" },
		{ "CAP", TABLE_RIGHT, cell_level, "cap" },
		{ "FLOOR", TABLE_RIGHT, cell_level, "floor" },
		{ "I/O", TABLE_RIGHT, cell_text, "io_boost" },
		{ "DOMAIN", TABLE_LEFT, cell_text, "domain" },
		{ "FOR", TABLE_LEFT, cell_text, "match" },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns) };
	const json_t *rules = json_object_get(reply, "rules"), *rule;
	uint64_t refused = field_number(reply, "refused");
	size_t i;

	if (!table_print(&table, rules, stdout))
		puts("the policy has no rules; wakegov.conf(5) says how to write one");
	json_array_foreach(rules, i, rule)
		rule_tasks_print_line(rule);
	json_array_foreach(rules, i, rule)
		show_carrier(rule);
	if (refused)
		printf("no room for %" PRIu64 " times a task: raise max-ruled-tasks (%" PRIu64
		       ")\n",
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

static enum ctl_exit explain_task(const struct ctl *ctl, uint64_t pid)
{
	json_t *reply;
	enum ctl_exit code = rules_ask_task(ctl, pid, &reply);

	if (code != CTL_OK)
		return code;
	code = ctl_print(ctl, reply, show_task);
	json_decref(reply);
	return code;
}

static json_t *find_rule(const json_t *reply, const char *name)
{
	json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(reply, "rules"), i, rule) {
		const char *found = field_text(rule, "name");

		if (found && !strcmp(found, name))
			return rule;
	}
	return NULL;
}

static enum ctl_exit show_named(const struct ctl *ctl, const json_t *reply, const char *name)
{
	json_t *rule = find_rule(reply, name);
	enum ctl_exit code;

	if (!rule) {
		complain("the policy has no rule '%s'. See: wakegovctl rules", name);
		return CTL_REFUSED;
	}
	code = rule_tasks_add(ctl, rule, SIZE_MAX);
	return code == CTL_OK ? ctl_print(ctl, rule, rule_tasks_show) : code;
}

static enum ctl_exit show_all(const struct ctl *ctl, const json_t *reply)
{
	size_t i, max = ctl->json ? SIZE_MAX : THREADS_SHOWN;
	enum ctl_exit code = CTL_OK;
	json_t *rule;

	json_array_foreach(json_object_get(reply, "rules"), i, rule) {
		if (code == CTL_OK)
			code = rule_tasks_add(ctl, rule, max);
	}
	return code == CTL_OK ? ctl_print(ctl, reply, show_rules) : code;
}

enum ctl_exit command_rules(struct ctl *ctl)
{
	const char *name = ctl->n_arguments ? ctl->arguments[0] : NULL;
	uint64_t pid = 0;
	enum ctl_exit code;
	json_t *reply;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl, "expected nothing, one rule, or one thread id (812)");
	if (name && quantity_number(name, &pid))
		return pid ? explain_task(ctl, pid) : ctl_misuse(ctl, "0 is no thread id");
	code = ctl_call(ctl, "io.wakegov.Rules", NULL, &reply);
	if (code != CTL_OK)
		return code;
	code = name ? show_named(ctl, reply, name) : show_all(ctl, reply);
	json_decref(reply);
	return code;
}
