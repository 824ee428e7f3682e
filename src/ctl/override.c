// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl override, hint and run: limits of domains, tasks and rules for a while, and classes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "config/keys.h"
#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/cpu_mask.h"
#include "shared/text.h"

static enum ctl_exit cancel(struct ctl *ctl)
{
	bool is_all = ctl->n_arguments == 2 && !strcmp(ctl->arguments[1], "all");
	json_auto_t *reply = NULL;
	const json_t *override;
	enum ctl_exit code;
	uint64_t id;
	size_t i = 0;

	if (!is_all && (ctl->n_arguments != 2 || !quantity_number(ctl->arguments[1], &id)))
		return ctl_misuse(ctl, "cancel takes the number of one override, or all; "
				       "'wakegovctl override list' shows them");
	if (!is_all)
		return ctl_ask(ctl, "io.wakegov.CancelOverride",
			       json_pack("{sI}", "id", (json_int_t)id), "cancelled", NULL);
	code = ctl_call(ctl, "io.wakegov.Overrides", NULL, &reply);
	json_array_foreach(json_object_get(reply, "overrides"), i, override) {
		code = ctl_call(ctl, "io.wakegov.CancelOverride",
				json_pack("{sO}", "id", json_object_get(override, "id")), NULL);
		if (code != CTL_OK)
			break;
	}
	return code == CTL_OK ? ctl_print(ctl, reply, i ? "cancelled" : "overrides", NULL) : code;
}

/*
 * The keys that options of override and run give; NULL: none for a domain. value stands for that of
 * an option without one.
 */
static const struct option_key {
	const char *option, *of_domain, *of_tasks, *value;
} keys[] = {
	{ "min", "min-frequency", "floor" },
	{ "max", "max-frequency", "cap" },
	{ "floor", NULL, "floor" },
	{ "cap", NULL, "cap" },
	{ "response", NULL, "response" },
	{ "idle-latency", NULL, "idle-latency" },
	{ "no-boost", NULL, "io-boost", "off" },
};

/* A frequency that the domain's OPPs are all below, or all above, is a mistake. */
static enum ctl_exit check_range(const struct ctl *ctl, const char *option, const char *text,
				 const struct policy_domain *limits, const json_t *domain)
{
	uint64_t lowest_khz = field_number(domain, "lowest_opp_khz");
	uint64_t highest_khz = field_number(domain, "highest_opp_khz");
	const struct policy_frequency *min = &limits->min, *max = &limits->max;
	_cleanup_free_ char *range = words_text("{name} has {lowest_opp_khz} to {highest_opp_khz}",
						domain, NULL);

	if ((min->kind != POLICY_FREQUENCY_KHZ || min->value <= highest_khz) &&
	    (max->kind != POLICY_FREQUENCY_KHZ || max->value >= lowest_khz))
		return CTL_OK;
	return ctl_misuse(ctl, "--%s %s: %s", option, text, range ?: "no such frequency");
}

static enum ctl_exit add_setting(const struct ctl *ctl, const struct option_key *option,
				 const char *text, const json_t *domain, json_t *settings)
{
	const char *key = domain ? option->of_domain : option->of_tasks;
	_cleanup_free_ char *expected = NULL;
	struct policy_domain_section section = { 0 };
	struct policy_rule rule = { 0 };

	if (!key)
		return CTL_OK;
	text = option->value ?: text;
	json_object_set_new(settings, key, format_json(text));
	if (domain && policy_limit_store(&section, key, text) < 0)
		expected = policy_value_describe(policy_keys_find(POLICY_SECTION_DOMAIN, key));
	else if (!domain && policy_level_store(&rule, key, text) < 0)
		expected = strdup(policy_rule_keys_find(key)->expected);
	if (expected)
		return ctl_misuse(ctl, "--%s %s: expected %s", option->option, text, expected);
	return domain ? check_range(ctl, option->option, text, &section.values, domain) : CTL_OK;
}

/* Adds what the options give, keys and values of the policy; domain is NULL for tasks. */
static enum ctl_exit add_settings(const struct ctl *ctl, const json_t *domain, json_t *settings)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *value = ctl_value(ctl, keys[i].option);

		if (value && add_setting(ctl, &keys[i], value, domain, settings) != CTL_OK)
			return CTL_USAGE;
	}
	if (json_object_get(settings, "floor") && json_object_get(settings, "response"))
		return ctl_misuse(ctl, "--response is a floor: give one of the two");
	return CTL_OK;
}

/* Adds the limits that keep the domain, or a task that runs there, at the present frequency. */
static enum ctl_exit freeze(const struct ctl *ctl, const json_t *parameters, const json_t *domain,
			    json_t *settings)
{
	json_auto_t *explained = NULL;
	const json_t *at = domain;
	char text[32];

	if (!domain) {
		enum ctl_exit code = ctl_call(
			ctl, "io.wakegov.Explain",
			json_pack("{sO}", "pid", json_object_get(parameters, "pid")), &explained);

		if (code != CTL_OK)
			return code;
		at = json_object_get(explained, "domain");
	}
	snprintf(text, sizeof(text), "%" PRIu64 "kHz",
		 field_number(at, "target_khz")
			 ?: field_number(at, "current_khz")
			 ?: field_number(at, "lowest_opp_khz"));
	for (size_t i = 0; i < 2; i++)
		json_object_set_new(settings, domain ? keys[i].of_domain : keys[i].of_tasks,
				    json_string(text));
	return CTL_OK;
}

/* Makes one override, and appends the daemon's reply to made. Consumes parameters. */
static enum ctl_exit make(const struct ctl *ctl, json_t *parameters, const json_t *domain,
			  json_t *made)
{
	json_t *settings = json_object(), *reply;
	enum ctl_exit code = add_settings(ctl, domain, settings);
	uint64_t for_us = 0;

	json_object_set_new(parameters, "settings", settings);
	if (code == CTL_OK && !ctl_duration(ctl, "for", &for_us))
		code = CTL_USAGE;
	if (for_us)
		json_object_set_new(parameters, "for_us", json_integer((json_int_t)for_us));
	if (code == CTL_OK && ctl_value(ctl, "freeze"))
		code = freeze(ctl, parameters, domain, settings);
	if (code != CTL_OK) {
		json_decref(parameters);
		return code;
	}
	code = ctl_call(ctl, "io.wakegov.AddOverride", parameters, &reply);
	if (code == CTL_OK)
		json_array_append_new(made, reply);
	return code;
}

/* Whether target is the domain's name, one of its CPUs, or "all". */
static bool is_meant(const json_t *domain, const char *target)
{
	const char *name = field_text(domain, "name"), *cpus = field_text(domain, "cpus");
	struct cpu_mask mask;
	uint64_t cpu;

	if (!strncmp(target, "cpu", 3) && quantity_number(target + 3, &cpu))
		return cpus && cpu < CPU_MASK_CPUS && cpu_mask_parse_list(cpus, &mask) &&
		       cpu_mask_has(&mask, cpu);
	return !strcmp(target, "all") || (name && !strcmp(target, name));
}

static enum ctl_exit make_for_domains(const struct ctl *ctl, const char *target, json_t *made)
{
	json_auto_t *reply = NULL;
	const json_t *domain;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Domains", NULL, &reply);
	size_t i;

	json_array_foreach(json_object_get(reply, "domains"), i, domain) {
		if (!is_meant(domain, target))
			continue;
		code = make(ctl, json_pack("{ss}", "domain", field_text(domain, "name")), domain,
			    made);
		if (code != CTL_OK || strcmp(target, "all") != 0)
			break;
	}
	if (code == CTL_OK && !json_array_size(made)) {
		complain("there is no domain '%s'. See: wakegovctl domains", target);
		return CTL_REFUSED;
	}
	return code;
}

/* Whether the options fit together, and fit the target. */
static enum ctl_exit check_options(const struct ctl *ctl, const char *target)
{
	const char *response = ctl_value(ctl, "response"), *idle = ctl_value(ctl, "idle-latency");
	bool has_limit = ctl_value(ctl, "min") || ctl_value(ctl, "max") || response || idle;
	bool is_rule = !strncmp(target, "rule:", 5);
	uint64_t pid;

	if (has_limit == !!ctl_value(ctl, "freeze"))
		return ctl_misuse(ctl, "give --min or --response, --max, --idle-latency, or more "
				       "of them, or --freeze");
	if (ctl_value(ctl, "freeze") && is_rule)
		return ctl_misuse(ctl, "the tasks of a rule run at more than one frequency; give "
				       "--min and --max");
	if ((response || idle) && !is_rule && !quantity_number(target, &pid))
		return ctl_misuse(ctl, "--%s is for tasks: give a PID or rule:NAME",
				  response ? "response" : "idle-latency");
	return CTL_OK;
}

enum ctl_exit command_override(struct ctl *ctl)
{
	const char *target = ctl->n_arguments ? ctl->arguments[0] : "list", *like = NULL;
	json_auto_t *made = json_array();
	json_t *reply, *verb;
	enum ctl_exit code;
	uint64_t pid;
	size_t i;

	if (!strcmp(target, "list") && ctl->n_arguments > 1)
		return ctl_misuse(ctl, "'%s' is one argument too many: list takes none",
				  ctl->arguments[1]);
	if (!strcmp(target, "list"))
		return ctl_ask(ctl, "io.wakegov.Overrides", NULL, "overrides", NULL);
	if (!strcmp(target, "cancel"))
		return cancel(ctl);
	json_array_foreach(json_object_get(ctl->command, "verbs"), i, verb)
		suggest_closest(target, json_string_value(verb), &like);
	if (like)
		return ctl_misuse(ctl, "'%s' is no domain, PID or rule:NAME. Did you mean '%s'?",
				  target, like);
	if (ctl->n_arguments != 1)
		return ctl_misuse(ctl,
				  "expected one domain, CPU, PID or rule:NAME, or all, and what "
				  "it is to keep to");
	code = check_options(ctl, target);
	if (code != CTL_OK)
		return code;
	if (quantity_number(target, &pid))
		code = make(ctl, json_pack("{sI}", "pid", (json_int_t)pid), NULL, made);
	else if (!strncmp(target, "rule:", 5))
		code = make(ctl, json_pack("{so}", "rule", format_json(target + 5)), NULL, made);
	else
		code = make_for_domains(ctl, target, made);
	json_array_foreach(made, i, reply) {
		enum ctl_exit shown = ctl_print(ctl, reply, "override", NULL);

		code = code != CTL_OK ? code : shown;
	}
	return code;
}

/*
 * wakegovctl hint: gives tasks a class, and lists hints and classes. wakegovctl run: runs a command
 * as one of a class, or with a cap or floor of its own.
 */

#define RUN_FAILED	 125 /* as of env(1) and timeout(1): not the command's own status */
#define RUN_NOT_EXECUTED 126
#define RUN_NOT_FOUND	 127
#define RUN_FOR_US	 (30 * 24 * 3600 * 1000000LL) /* the longest; it ends with the task */

static enum ctl_exit list_hints(struct ctl *ctl)
{
	json_auto_t *hints = json_array(), *all = json_pack("{sO}", "hints", hints);
	enum ctl_exit code = ctl_call_pages(ctl, "io.wakegov.Hints", json_object(), "hints",
					    SIZE_MAX, hints);

	return code == CTL_OK ? ctl_print(ctl, all, "hints", NULL) : code;
}

enum ctl_exit command_hint(struct ctl *ctl)
{
	bool children = ctl_value(ctl, "children"), alone = ctl_value(ctl, "alone");
	const char *first = ctl->n_arguments ? ctl->arguments[0] : "list";
	uint64_t pid, us = 0;

	if (ctl->n_arguments <= 1 && !strcmp(first, "list"))
		return list_hints(ctl);
	if (ctl->n_arguments == 1 && !strcmp(first, "classes"))
		return ctl_ask(ctl, "io.wakegov.Classes", NULL, "classes", NULL);
	if (ctl->n_arguments != 2 || !quantity_number(first, &pid) || !pid)
		return ctl_misuse(ctl, "expected a PID and a class, such as: wakegovctl hint 812 "
				       "background; 'wakegovctl hint classes' shows them");
	if (!ctl_duration(ctl, "for", &us))
		return CTL_USAGE;
	if (children && alone)
		return ctl_misuse(ctl, "give --children or --alone, not both");
	return ctl_ask(ctl, "io.wakegov.GiveHint",
		       json_pack("{sI so so* so*}", "pid", (json_int_t)pid, "class",
				 format_json(ctl->arguments[1]), "for_us", ctl_nonzero(us),
				 "children", children || alone ? json_boolean(children) : NULL),
		       "hint", NULL);
}

/* Asks for this process, which becomes the command: hint and override end with it. */
static enum ctl_exit prepare(const struct ctl *ctl, json_t *settings)
{
	const char *class = ctl_value(ctl, "class");
	enum ctl_exit code = CTL_OK;

	if (class)
		code = ctl_call(ctl, "io.wakegov.GiveHint",
				json_pack("{sb sI so}", "children", 1, "for_us",
					  (json_int_t)RUN_FOR_US, "class", format_json(class)),
				NULL);
	/* Only root and change-group may add an override. */
	if (code != CTL_OK || !json_object_size(settings))
		return code;
	return ctl_call(ctl, "io.wakegov.AddOverride",
			json_pack("{sb sI sO}", "children", 1, "for_us", (json_int_t)RUN_FOR_US,
				  "settings", settings),
			NULL);
}

enum ctl_exit command_run(struct ctl *ctl)
{
	json_auto_t *settings = json_object();
	int error;

	if (!ctl->n_arguments)
		return ctl_misuse(ctl, "expected a command: wakegovctl run --cap 30%% -- make -j8");
	if (add_settings(ctl, NULL, settings) != CTL_OK)
		return CTL_USAGE;
	if (!json_object_size(settings) && !ctl_value(ctl, "class"))
		return ctl_misuse(ctl, "give --cap, --floor, --response, --idle-latency, --class "
				       "or --no-boost");
	/* They are listed by the name that this process will have. */
	prctl(PR_SET_NAME, basename(ctl->arguments[0]));
	if (prepare(ctl, settings) != CTL_OK)
		return RUN_FAILED;
	execvp(ctl->arguments[0], ctl->arguments);
	error = errno;
	complain("cannot run %s: %s", ctl->arguments[0], strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTED;
}
