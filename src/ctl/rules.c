// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl rules: lists rules with their tasks, one rule, or the rules of one task. */
#include "ctl/command.h"
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

/* How many threads of each rule are not shown. */
static void add_more(json_t *reply)
{
	json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(reply, "rules"), i, rule) {
		uint64_t n = field_number(rule, "tasks");
		size_t shown = json_array_size(json_object_get(rule, "threads"));

		json_object_set_new(rule, "n_more",
				    json_integer(n > shown ? (json_int_t)(n - shown) : 0));
	}
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
		return code == CTL_OK ? ctl_print(ctl, rule, "rule", NULL) : code;
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
			       json_pack("{sI}", "pid", (json_int_t)pid), "rules_of_task", NULL);
	code = ctl_call(ctl, "io.wakegov.Rules", NULL, &reply);
	if (code == CTL_OK && name)
		return show_named(ctl, reply, name);
	json_array_foreach(json_object_get(reply, "rules"), i, rule) {
		code = add_threads(ctl, rule, most);
		if (code != CTL_OK)
			break;
	}
	return code == CTL_OK ? ctl_print(ctl, reply, "rules", add_more) : code;
}
