// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl complete -- WORD…: lists for shells what the last word can become, one a line, with a
 * tab and a description. From the table of commands, so that shells need not know them.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"

/* A key was pressed: no answer is better than a late one. */
#define ANSWER_TIMEOUT_NS 300000000ULL

static void offer(const char *typed, const char *dashes, const char *word, const char *help)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", dashes, word);
	if (!strncmp(full, typed, strlen(typed)))
		printf("%s\t%s\n", full, help);
}

static void offer_options(const struct ctl_command *command, const char *typed)
{
	for (int i = 0; command && i < CTL_OPTIONS_MAX && command->options[i].name; i++)
		offer(typed, "--", command->options[i].name, command->options[i].help);
	offer(typed, "--", "json", "the reply as JSON, for machines");
	offer(typed, "--", "socket", "the daemon's socket");
	offer(typed, "--", "timeout", "give up after so many seconds");
	offer(typed, "--", "help", "a summary");
	if (!command)
		offer(typed, "--", "version", "the version");
}

/* Prints the names in a method's list, with one field of each as description. */
static void offer_listed(const struct ctl *ctl, const char *method, const char *list,
			 const char *before, const char *field, const char *typed)
{
	json_auto_t *reply = NULL;
	const json_t *entry;
	size_t i;

	ctl_try(ctl, method, NULL, &reply);
	json_array_foreach(json_object_get(reply, list), i, entry) {
		const char *name = field_text(entry, "name"), *value = field_text(entry, field);
		char help[256];

		snprintf(help, sizeof(help), "%s%s", value ? before : "", value ? value : "");
		if (name)
			offer(typed, "", name, help);
	}
}

static void offer_domains(const struct ctl *ctl, const char *typed)
{
	offer_listed(ctl, "io.wakegov.Domains", "domains", "CPUs ", "cpus", typed);
}

static void offer_classes(const struct ctl *ctl, const char *typed)
{
	offer_listed(ctl, "io.wakegov.Classes", "classes", "cap ", "cap", typed);
}

static bool takes_value(const struct ctl_command *command, const char *word)
{
	if (!strcmp(word, "--socket") || !strcmp(word, "--timeout"))
		return true;
	for (int i = 0; command && i < CTL_OPTIONS_MAX && command->options[i].name; i++)
		if (!strncmp(word, "--", 2) && !strcmp(word + 2, command->options[i].name))
			return command->options[i].value != NULL;
	return false;
}

/* What the argument behind this number of others can be. */
static void offer_arguments(const struct ctl *ctl, const struct ctl_command *command, int n_before,
			    const char *typed)
{
	const char *arguments = command->arguments ?: "";

	if (n_before == 1 && strstr(arguments, "CLASS"))
		offer_classes(ctl, typed);
	if (n_before)
		return;
	for (int i = 0; i < CTL_VERBS_MAX && command->verbs[i]; i++)
		offer(typed, "", command->verbs[i], command->help);
	if (strstr(arguments, "DOMAIN") || strstr(arguments, "policyN"))
		offer_domains(ctl, typed);
	if (strstr(arguments, "RULE"))
		offer_listed(ctl, "io.wakegov.Rules", "rules", "", "match", typed);
	if (strstr(arguments, "PROFILE"))
		offer_listed(ctl, "io.wakegov.Profiles", "profiles", "when ", "when", typed);
}

enum ctl_exit command_complete(struct ctl *ctl)
{
	int n = ctl->n_arguments, n_arguments = 0;
	const struct ctl_command *command = NULL;
	const char *typed = n ? ctl->arguments[n - 1] : "", *before = "";

	ctl->timeout_ns = ANSWER_TIMEOUT_NS;
	for (int i = 0; i + 1 < n; i++) {
		const char *word = ctl->arguments[i];

		if (!command && word[0] != '-' && !takes_value(NULL, before))
			command = ctl_find(ctl, word);
		else
			n_arguments += word[0] != '-' && !takes_value(command, before);
		if (!strcmp(before, "--socket"))
			ctl->path = word;
		before = word;
	}
	if (takes_value(command, before)) {
		if (!strcmp(before, "--domain"))
			offer_domains(ctl, typed);
		else if (!strcmp(before, "--class"))
			offer_classes(ctl, typed);
	} else if (typed[0] == '-') {
		offer_options(command, typed);
	} else if (!command) {
		for (const struct ctl_command *c = ctl->commands; c->name; c++)
			if (c->help)
				offer(typed, "", c->name, c->help);
	} else {
		offer_arguments(ctl, command, n_arguments, typed);
	}
	return ctl_flush();
}
