// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of commands, and those that are one call and a few words. A new one is a row here,
 * its name, help and options in words.json, and a paragraph in wakegovctl(1).
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"
#include "shared/time.h"

/* Asks without tracing: metrics are no reason to trace a machine that is not governed. */
static enum ctl_exit command_metrics(struct ctl *ctl)
{
	const char *format = ctl_value(ctl, "format") ?: "openmetrics";
	json_auto_t *status = NULL, *stats = NULL, *replies = NULL;
	enum ctl_exit code;

	if (strcmp(format, "openmetrics") != 0 && strcmp(format, "prometheus") != 0)
		return ctl_misuse(ctl, "--format %s: expected openmetrics or prometheus", format);
	code = ctl_call(ctl, "io.wakegov.Status", json_pack("{sb}", "untraced", 1), &status);
	if (code == CTL_OK)
		code = ctl_call(ctl, "io.wakegov.Stats", NULL, &stats);
	replies = json_pack("{ss sO* sO*}", "format", format, "status", status, "stats", stats);
	return code == CTL_OK ? ctl_print(ctl, replies, "metrics", NULL) : code;
}

static enum ctl_exit command_adopt(struct ctl *ctl)
{
	const char *domain = ctl->n_arguments ? ctl->arguments[0] : NULL;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl, "adopt takes one domain, or none for all");
	return ctl_ask(ctl, "io.wakegov.Adopt",
		       json_pack("{so*}", "domain", domain ? format_json(domain) : NULL), "adopted",
		       NULL);
}

/* Whether the daemon has it, or does not say. If not, prints that, with a similar name. */
static bool has_profile(const struct ctl *ctl, const char *name)
{
	json_auto_t *reply = NULL;
	const json_t *profile;
	const char *closest = NULL;
	size_t i;

	ctl_try(ctl, "io.wakegov.Profiles", NULL, &reply);
	json_array_foreach(json_object_get(reply, "profiles"), i, profile) {
		if (field_is_word(profile, "name", name))
			return true;
		suggest_closest(name, field_text(profile, "name") ?: "", &closest);
	}
	if (closest)
		complain("the policy has no profile '%s'. Did you mean '%s'?", name, closest);
	return !closest;
}

static enum ctl_exit command_profile(struct ctl *ctl)
{
	const char *name = ctl->n_arguments ? ctl->arguments[0] : NULL;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl, "profile takes one profile, or auto");
	if (!name)
		return ctl_ask(ctl, "io.wakegov.Profiles", NULL, "profiles", NULL);
	if (strcmp(name, "auto") != 0 && !has_profile(ctl, name))
		return CTL_REFUSED;
	return ctl_ask(
		ctl, "io.wakegov.ChooseProfile",
		json_pack("{so*}", "profile", strcmp(name, "auto") != 0 ? format_json(name) : NULL),
		"profile", NULL);
}

/* --quiet is for the unit: the daemon logs a refusal in the same journal. */
static enum ctl_exit command_reload(struct ctl *ctl)
{
	if (!ctl_value(ctl, "quiet"))
		return ctl_ask(ctl, "io.wakegov.Reload", NULL, "reload", NULL);
	ctl->logged_error = "io.wakegov.PolicyInvalid";
	return ctl_call(ctl, "io.wakegov.Reload", NULL, NULL);
}

/*
 * wakegovctl complete -- WORD…: lists for shells what the last word can become, one a line, with a
 * tab and a description. From the table of commands, so that shells need not know them.
 */

/* A key was pressed: no answer is better than a late one. */
#define ANSWER_TIMEOUT_NS 300000000ULL

static void offer(const char *typed, const char *dashes, const char *word, const char *help)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", dashes, word);
	if (!strncmp(full, typed, strlen(typed)))
		printf("%s\t%s\n", full, help);
}

static void offer_options(const json_t *command, const char *typed)
{
	struct ctl_option option;

	for (size_t i = 0; ctl_option(command, i, &option); i++)
		offer(typed, "--", option.name, option.help);
}

/* Prints the names in a method's list, each with a template of words.json as description. */
static void offer_listed(const struct ctl *ctl, const char *method, const char *list,
			 const char *template, const char *typed)
{
	json_auto_t *reply = NULL;
	const json_t *entry;
	size_t i;

	ctl_try(ctl, method, NULL, &reply);
	json_array_foreach(json_object_get(reply, list), i, entry) {
		_cleanup_free_ char *help = words_text(template, entry, NULL);

		if (field_text(entry, "name"))
			offer(typed, "", field_text(entry, "name"), help ?: "");
	}
}

/* What stands for the value of this option; NULL: it takes none. */
static const char *value_of(const json_t *command, const char *word)
{
	struct ctl_option option;

	for (size_t i = 0; !strncmp(word, "--", 2) && ctl_option(command, i, &option); i++)
		if (!strcmp(word + 2, option.name))
			return option.value;
	return NULL;
}

/* Names that the daemon lists: of an option's value, or where so many arguments are before them. */
static void offer_names(const struct ctl *ctl, const char *what, int n_before, const char *typed)
{
	static const struct {
		const char *word, *method, *list, *template;
		int n_before;
	} kinds[] = {
		{ "DOMAIN", "io.wakegov.Domains", "domains", "CPUs {cpus}", 0 },
		{ "policyN", "io.wakegov.Domains", "domains", "CPUs {cpus}", 0 },
		{ "RULE", "io.wakegov.Rules", "rules", "{>match}", 0 },
		{ "PROFILE", "io.wakegov.Profiles", "profiles", "when {when}", 0 },
		{ "CLASS", "io.wakegov.Classes", "classes", "cap {cap}", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strstr(what, kinds[i].word) && (n_before < 0 || n_before == kinds[i].n_before))
			offer_listed(ctl, kinds[i].method, kinds[i].list, kinds[i].template, typed);
}

static enum ctl_exit command_complete(struct ctl *ctl)
{
	int n = ctl->n_arguments, n_arguments = 0;
	const json_t *command = NULL, *one;
	const char *typed = n ? ctl->arguments[n - 1] : "", *before = "", *value;
	size_t i;

	ctl->timeout_ns = ANSWER_TIMEOUT_NS;
	for (int at = 0; at + 1 < n; at++) {
		const char *word = ctl->arguments[at];

		if (!command && word[0] != '-' && !value_of(NULL, before))
			command = ctl_find(word);
		else
			n_arguments += word[0] != '-' && !value_of(command, before);
		if (!strcmp(before, "--socket"))
			ctl->path = word;
		before = word;
	}
	value = value_of(command, before);
	if (value) {
		offer_names(ctl, value, -1, typed);
	} else if (typed[0] == '-') {
		offer_options(command, typed);
	} else if (!command) {
		json_array_foreach(ctl_commands(), i, one)
			if (field_text(one, "help"))
				offer(typed, "", field_text(one, "name"), field_text(one, "help"));
	} else {
		json_array_foreach(json_object_get(command, "verbs"), i, one)
			if (!n_arguments)
				offer(typed, "", json_string_value(one),
				      field_text(command, "help"));
		offer_names(ctl, field_text(command, "arguments") ?: "", n_arguments, typed);
	}
	return ctl_flush();
}

/*
 * benefit, import, measure-power: each a Python program of its own (benefit.py, suite.py,
 * import.py, measure-power.py), which gets the options as JSON. In the build directory they lie
 * beside wakegovctl.
 */

/* Becomes the program, with the options that all of them have. Consumes options. */
static enum ctl_exit run_program(const struct ctl *ctl, const char *name, json_t *options)
{
	_cleanup_free_ char **words = calloc((size_t)ctl->n_arguments + 3, sizeof(*words));
	_cleanup_free_ char *text = NULL;
	char path[4096], installed[256];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(installed));

	json_object_update_new(options, json_pack("{ss sI sb}", "socket", ctl->path, "timeout_us",
						  (json_int_t)(ctl->timeout_ns / NS_PER_US), "json",
						  ctl->json));
	text = json_dumps(options, JSON_COMPACT);
	json_decref(options);
	if (!words || !text)
		return CTL_REFUSED;
	words[0] = (char *)name;
	words[1] = text;
	memcpy(words + 2, ctl->arguments, (size_t)ctl->n_arguments * sizeof(*words));
	path[length > 0 ? length : 0] = '\0';
	if (length > 0)
		strcpy(strrchr(path, '/') + 1, name);
	execv(path, words);
	snprintf(installed, sizeof(installed), WAKEGOV_LIBEXECDIR "/%s", name);
	execv(installed, words);
	complain("cannot run %s, which needs python3: %s", installed, strerror(errno));
	return CTL_REFUSED;
}

static enum ctl_exit command_benefit(struct ctl *ctl)
{
	uint64_t for_us = 600 * US_PER_S, block_us = 10 * US_PER_S;
	enum ctl_exit code;

	if (!ctl_duration(ctl, "for", &for_us) || !ctl_duration(ctl, "block", &block_us))
		return CTL_USAGE;
	if (ctl_value(ctl, "suite"))
		return run_program(ctl, "wakegov-suite",
				   json_pack("{sI}", "for_us", (json_int_t)for_us));
	/* Says why, where there is no daemon. */
	code = ctl_call(ctl, "io.wakegov.Status", NULL, NULL);
	if (code != CTL_OK)
		return code;
	return run_program(ctl, "wakegov-benefit",
			   json_pack("{sI sI ss* ss* ss*}", "for_us", (json_int_t)for_us,
				     "block_us", (json_int_t)block_us, "against",
				     ctl_value(ctl, "against"), "figure", ctl_value(ctl, "figure"),
				     "plot", ctl_value(ctl, "plot")));
}

static enum ctl_exit command_import(struct ctl *ctl)
{
	if (ctl->n_arguments != 1)
		return ctl_misuse(ctl, "expected one file of schedqos: configs/app_configs/*.json");
	return run_program(ctl, "wakegov-import", json_object());
}

static enum ctl_exit command_measure_power(struct ctl *ctl)
{
	uint64_t for_us = 30 * US_PER_S;

	if (!ctl_duration(ctl, "for", &for_us))
		return CTL_USAGE;
	return run_program(ctl, "wakegov-measure-power",
			   json_pack("{sI}", "for_us", (json_int_t)for_us));
}

/* wakegovctl rules: lists rules with their tasks, one rule, or the rules of one task. */

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

static enum ctl_exit command_rules(struct ctl *ctl)
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

#ifndef HAVE_NCURSES
enum ctl_exit command_top(struct ctl *ctl)
{
	complain("this wakegovctl was built without ncurses, which the live view needs. Try: "
		 "watch wakegovctl status; wakegovctl monitor");
	return CTL_REFUSED;
}
#endif

/* NULL: it is one call, of its name, and its view. */
static const struct {
	const char *name;
	enum ctl_exit (*run)(struct ctl *ctl);
	const char *method;
	void (*add)(json_t *reply);
} functions[] = {
	{ "adopt", command_adopt },
	{ "benefit", command_benefit },
	{ "complete", command_complete },
	{ "decisions", command_decisions },
	{ "devices", NULL, "io.wakegov.Devices" },
	{ "doctor", command_doctor },
	{ "domains", NULL, "io.wakegov.Domains", status_add_domains },
	{ "explain", command_explain },
	{ "hint", command_hint },
	{ "import", command_import },
	{ "measure-power", command_measure_power },
	{ "metrics", command_metrics },
	{ "monitor", command_monitor },
	{ "override", command_override },
	{ "profile", command_profile },
	{ "record", command_record },
	{ "reload", command_reload },
	{ "replay", command_replay },
	{ "report", command_report },
	{ "rules", command_rules },
	{ "run", command_run },
	{ "stats", command_stats },
	{ "status", command_status },
	{ "tasks", NULL, "io.wakegov.Tasks" },
	{ "top", command_top },
};

enum ctl_exit ctl_run(struct ctl *ctl)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(functions) && strcmp(functions[i].name, ctl_name(ctl)) != 0)
		i++;
	assert(i < ARRAY_SIZE(functions));
	if (functions[i].run)
		return functions[i].run(ctl);
	return ctl_ask(ctl, functions[i].method, NULL, functions[i].name, functions[i].add);
}
