// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl explain: a domain, a CPU, a task, or every domain. Shows how a decision came about:
 * who won and what was known of it, who lost, what limited it, what was written.
 */
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

static void set_flag(json_t *object, const char *key, bool flag)
{
	json_object_set_new(object, key, json_boolean(flag));
}

/* The demands that lost, without the winner; and how many more there were. */
static void add_others(json_t *reply, const json_t *decision)
{
	json_t *others = json_copy(json_object_get(decision, "contenders"));
	size_t shown = json_array_size(others), n = field_number(decision, "n_contenders");

	if (!field_is_word(decision, "reason", "idle"))
		json_array_remove(others, 0);
	json_object_set_new(reply, "others", others);
	json_object_set_new(reply, "n_more", json_integer(n > shown ? (json_int_t)(n - shown) : 0));
}

void explain_add(json_t *reply)
{
	const json_t *decision = json_object_get(reply, "decision"), *task;
	json_t *domain = json_object_get(reply, "domain"), *limiter;
	json_t *skipped = json_object_get(decision, "skipped");
	size_t i;

	status_add_domain(domain);
	add_others(reply, decision);
	json_object_set_new(
		skipped, "more_permille",
		json_integer((json_int_t)field_number(skipped, "energy_permille") - 1000));
	/* A task without such a maximum has schedutil's own boost. */
	json_array_foreach(json_object_get(reply, "kernel_boosts"), i, task)
		if (!field_is_known(task, "need_khz"))
			set_flag(reply, "is_boosted_by_kernel", true);
	/* Their sentences have fields of the domain as well. */
	json_array_foreach(json_object_get(reply, "limiters"), i, limiter)
		json_object_update_missing(limiter, domain);
}

static void add_all(json_t *reply)
{
	json_t *explanation;
	size_t i;

	json_array_foreach(json_object_get(reply, "explanations"), i, explanation)
		explain_add(explanation);
}

enum ctl_exit explain_domains(const struct ctl *ctl, const json_t *domains, const json_t *at,
			      json_t *ret)
{
	enum ctl_exit code = CTL_OK;
	const json_t *domain;
	size_t i;

	json_array_foreach(domains, i, domain) {
		json_t *one = json_pack("{ss}", "domain", field_text(domain, "name")), *reply;

		json_object_update(one, (json_t *)at);
		code = ctl_call(ctl, "io.wakegov.Explain", one, &reply);
		if (code != CTL_OK)
			break;
		json_array_append_new(ret, reply);
	}
	return code;
}

static enum ctl_exit explain_all(struct ctl *ctl, const json_t *at)
{
	json_auto_t *domains = NULL, *explanations = json_array();
	json_auto_t *all = json_pack("{sO}", "explanations", explanations);
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Domains", NULL, &domains);

	if (code == CTL_OK)
		code = explain_domains(ctl, json_object_get(domains, "domains"), at, explanations);
	return code == CTL_OK ? ctl_print(ctl, all, "explanations", add_all) : code;
}

/* The demand that the task has a part in, its own or its chain's, or else that of its CPU. */
static void add_task(json_t *reply)
{
	uint64_t pid = field_number(json_object_get(reply, "rules"), "pid");
	uint64_t cpu = field_number(reply, "cpu");
	json_t *demand;
	size_t i;

	explain_add(reply);
	json_array_foreach(json_object_get(json_object_get(reply, "decision"), "contenders"), i,
			   demand) {
		bool is_own = field_number(demand, "pid") == pid ||
			      field_number(json_object_get(demand, "chain"), "pid") == pid;

		if (is_own && !json_object_get(reply, "demand")) {
			json_object_set(reply, "demand", demand);
			set_flag(reply, "is_highest", !i);
		} else if (field_is_word(demand, "reason", "utilisation") &&
			   field_number(demand, "cpu") == cpu) {
			json_object_set(reply, "of_cpu", demand);
		}
	}
}

/* The domain of the task's CPU, with its rules, its I/O and its chains. */
static enum ctl_exit explain_task(struct ctl *ctl, uint64_t pid, const json_t *moment)
{
	json_auto_t *task = json_pack("{sI}", "pid", (json_int_t)pid), *target = json_copy(task);
	json_auto_t *reply = NULL, *rules = NULL, *tasks = NULL;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.ExplainRules", json_incref(task), &rules);

	json_object_update(target, (json_t *)moment);
	if (code == CTL_OK)
		code = ctl_call(ctl, "io.wakegov.Explain", json_incref(target), &reply);
	if (code == CTL_OK)
		code = ctl_call(ctl, "io.wakegov.Tasks", json_incref(task), &tasks);
	if (code != CTL_OK)
		return code;
	json_object_set(reply, "rules", rules);
	json_object_set(reply, "tasks", json_object_get(tasks, "tasks"));
	json_object_set(reply, "chains", json_object_get(tasks, "chains"));
	json_object_set(reply, "piece", json_object_get(tasks, "piece"));
	return ctl_print(ctl, reply, "task", add_task);
}

enum ctl_exit command_explain(struct ctl *ctl)
{
	const char *text = ctl->n_arguments ? ctl->arguments[0] : "", *at = ctl_value(ctl, "at");
	json_auto_t *moment = NULL, *target = NULL;
	struct moment then = { 0 };
	uint64_t number = 0;

	if (at && !ctl_moment(ctl, "at", &then))
		return CTL_USAGE;
	moment = json_pack("{so* so*}", "at_us", ctl_nonzero(then.monotonic_us), "at_realtime_us",
			   ctl_nonzero(then.realtime_us));
	if (!ctl->n_arguments)
		return explain_all(ctl, moment);
	if (ctl->n_arguments == 1 && quantity_number(text, &number) && number)
		return explain_task(ctl, number, moment);
	if (!strncmp(text, "cpu", 3) && quantity_number(text + 3, &number))
		target = json_pack("{sI}", "cpu", (json_int_t)number);
	else if (!strncmp(text, "policy", 6))
		target = json_pack("{ss}", "domain", text);
	if (!target || ctl->n_arguments > 1)
		return ctl_misuse(ctl,
				  "expected one domain (policy0), CPU (cpu3) or thread id (812); "
				  "'wakegovctl domains' and 'ps -eL' show them");
	json_object_update(target, moment);
	return ctl_ask(ctl, "io.wakegov.Explain", json_incref(target), "explain", explain_add);
}
