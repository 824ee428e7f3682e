// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl complete -- WORD…: lists for shells what the last word can become, one a line, with a
 * tab and a description. From the table of commands, so that shells need not know them.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

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

enum ctl_exit command_complete(struct ctl *ctl)
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
