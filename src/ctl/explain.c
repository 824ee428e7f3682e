// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl explain: a domain, a CPU, a task, or every domain. */

#include <stdio.h>
#include <string.h>

#include "ctl/commands.h"
#include "ctl/moment.h"
#include "ctl/quantity.h"
#include "ctl/show.h"
#include "shared/cleanup.h"

/* Parses the target into a parameter of the method; NULL: it is none. */
static json_t *target_of(const char *text)
{
	uint64_t number;

	if (!strncmp(text, "cpu", 3) && quantity_number(text + 3, &number))
		return json_pack("{sI}", "cpu", (json_int_t)number);
	if (!strncmp(text, "policy", 6))
		return json_pack("{ss}", "domain", text);
	if (quantity_number(text, &number) && number)
		return json_pack("{sI}", "pid", (json_int_t)number);
	return NULL;
}

/* Adds the moment, if one was given. */
static json_t *at_moment(json_t *parameters, const struct moment *at)
{
	if (at->monotonic_us)
		json_object_set_new(parameters, "at_us",
				    json_integer((json_int_t)at->monotonic_us));
	if (at->realtime_us)
		json_object_set_new(parameters, "at_realtime_us",
				    json_integer((json_int_t)at->realtime_us));
	return parameters;
}

static void show_one(const json_t *reply)
{
	explain_print(stdout, reply);
}

static enum ctl_exit explain_one(struct ctl *ctl, json_t *parameters, const struct moment *at)
{
	return ctl_ask(ctl, "io.wakegov.Explain", at_moment(parameters, at), show_one);
}

static void show_all(const json_t *reply)
{
	const json_t *explanations = json_object_get(reply, "explanations"), *explanation;
	size_t i;

	json_array_foreach(explanations, i, explanation) {
		if (i)
			putchar('\n');
		explain_print(stdout, explanation);
	}
	if (!json_array_size(explanations))
		puts("no cpufreq domain is known: does the kernel have a cpufreq driver here?");
}

static enum ctl_exit collect(struct ctl *ctl, const json_t *domains, const struct moment *at,
			     json_t *explanations)
{
	const json_t *domain;
	size_t i;

	json_array_foreach(domains, i, domain) {
		json_t *one = json_pack("{ss}", "domain", field_text(domain, "name")), *reply;
		enum ctl_exit code = ctl_call(ctl, "io.wakegov.Explain", at_moment(one, at),
					      &reply);

		if (code != CTL_OK)
			return code;
		json_array_append_new(explanations, reply);
	}
	return CTL_OK;
}

static enum ctl_exit explain_all(struct ctl *ctl, const struct moment *at)
{
	json_t *explanations = json_array(), *domains, *all;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Domains", NULL, &domains);

	if (code == CTL_OK) {
		code = collect(ctl, json_object_get(domains, "domains"), at, explanations);
		json_decref(domains);
	}
	all = json_pack("{so}", "explanations", explanations);
	if (code == CTL_OK)
		code = ctl_print(ctl, all, show_all);
	json_decref(all);
	return code;
}

/*
 * Asks for the task's rules first: their error says that the task is gone, and only once. Consumes
 * target.
 */
static enum ctl_exit explain_task(struct ctl *ctl, json_t *target, uint64_t pid)
{
	json_t *rules;
	enum ctl_exit code = rules_ask_task(ctl, pid, &rules);

	if (code != CTL_OK) {
		json_decref(target);
		return code;
	}
	code = explain_one(ctl, target, &(struct moment){ 0 });
	if (code == CTL_OK || code == CTL_REFUSED) {
		rules_print_task(stdout, rules);
		code = ctl_flush();
	}
	json_decref(rules);
	return code;
}

enum ctl_exit command_explain(struct ctl *ctl)
{
	const char *at = ctl_value(ctl, "at");
	struct moment then = { 0 };
	uint64_t pid;
	json_t *target;

	if (at && !ctl_moment(ctl, "at", &then))
		return CTL_USAGE;
	if (!ctl->n_arguments)
		return explain_all(ctl, &then);
	target = target_of(ctl->arguments[0]);
	if (!target || ctl->n_arguments > 1) {
		json_decref(target);
		return ctl_misuse(ctl,
				  "expected one domain (policy0), CPU (cpu3) or thread id (812); "
				  "'wakegovctl domains' and 'tasks' show them");
	}
	pid = (uint64_t)json_integer_value(json_object_get(target, "pid"));
	/* A task without I/O has rules too; as JSON, "rules PID" shows them. */
	if (!pid || at || ctl->json)
		return explain_one(ctl, target, &then);
	return explain_task(ctl, target, pid);
}
