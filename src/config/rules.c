// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sections [rule NAME] and [class NAME]: each line is a condition, or something that the rule
 * gives.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/draft.h"
#include "core/rule.h"
#include "shared/text.h"

struct policy_rule *policy_rules_find(struct policy *policy, const char *name)
{
	int rule = rule_named(policy, name);

	return rule < 0 ? NULL : &policy->rules[rule];
}

static void begin_rule(struct policy_rule *rule, const char *name)
{
	*rule = (struct policy_rule){ .domain_cpu = POLICY_ANY_DOMAIN };
	strcpy(rule->name, name);
}

static int open_rule(struct policy_reader *reader, const char *name)
{
	const char *slash = strrchr(reader->place.file, '/');
	const char *file = slash ? slash + 1 : reader->place.file;
	struct policy *policy = &reader->draft->policy;
	int found = rule_named(policy, name);
	uint32_t index = found < 0 ? policy->n_rules : (uint32_t)found;
	struct policy_rule *rule = &policy->rules[index];
	size_t length = strlen(file), most = sizeof(rule->file) - 1;

	if (index == POLICY_RULES_MAX)
		return policy_refuse(reader, -E2BIG,
				     "found one more [rule NAME], expected at most %d",
				     POLICY_RULES_MAX);
	if (index == policy->n_rules) {
		policy->n_rules++;
		begin_rule(rule, name);
	}
	/* A long name keeps its end, by which drop-ins differ. */
	strcpy(rule->file, length > most ? file + length - most : file);
	rule->line = reader->place.line;
	reader->rule = rule;
	return 0;
}

static struct policy_class *find_class(struct policy *policy, const char *name)
{
	int class = rule_class_named(policy, name);

	return class < 0 ? NULL : &policy->classes[class];
}

static int open_class(struct policy_reader *reader, const char *name)
{
	struct policy *policy = &reader->draft->policy;
	int found = rule_class_named(policy, name);
	uint32_t index = found < 0 ? policy->n_classes : (uint32_t)found;

	if (index == POLICY_CLASSES_MAX)
		return policy_refuse(
			reader, -E2BIG,
			"found one more [class NAME], expected at most %d with those that "
			"are built in",
			POLICY_CLASSES_MAX);
	reader->class = &policy->classes[index];
	if (index == policy->n_classes) {
		policy->n_classes++;
		*reader->class = (struct policy_class){ 0 };
		strcpy(reader->class->name, name);
	}
	return 0;
}

int policy_rules_open(struct policy_reader *reader, const char *name)
{
	const char *own = strchr(name, ' ') + 1;

	if (policy_reader_check_name(reader, name) < 0)
		return -EINVAL;
	return name[0] == 'r' ? open_rule(reader, own) : open_class(reader, own);
}

static bool is_key_of(const struct policy_rule_key *key, bool of_rule)
{
	return key->is_for != (of_rule ? POLICY_KEY_OF_CLASS : POLICY_KEY_OF_RULE);
}

static int refuse_key(struct policy_reader *reader, const char *name)
{
	const struct policy_rule_key *key;
	const char *closest = NULL;
	char list[256] = "";

	for (size_t i = 0; (key = policy_rule_key_at(i)); i++) {
		if (!is_key_of(key, reader->rule))
			continue;
		strcat(strcat(list, list[0] ? ", " : ""), key->name);
		suggest_closest(name, key->name, &closest);
	}
	return policy_reader_refuse_key(reader, name, list, closest);
}

/* Suggests what was probably meant: "steam, wine" as a list, 30 as a share. */
static void suggest(const struct policy_rule_key *key, const char *text,
		    char hint[static POLICY_HINT_SIZE])
{
	size_t digits = strspn(text, "0123456789"), used;
	const char *between = "";

	if (key->is_level && digits && !text[digits])
		snprintf(hint, POLICY_HINT_SIZE, "; a level has a unit: %.8s%% or %.8s/1024", text,
			 text);
	if (hint[0] || !key->is_list || !strchr(text, ','))
		return;
	used = snprintf(hint, POLICY_HINT_SIZE, "; write it without commas: ");
	for (; *text && used < POLICY_HINT_SIZE; text += strcspn(text, ", \t")) {
		text += strspn(text, ", \t");
		used += snprintf(hint + used, POLICY_HINT_SIZE - used, "%s%.*s", between,
				 (int)strcspn(text, ", \t"), text);
		between = " ";
	}
}

int policy_rules_assign(struct policy_reader *reader, const char *name, const char *text)
{
	size_t n = policy_rule_keys_number(name);
	const struct policy_rule_key *key = policy_rule_key_at(n);
	struct policy_rule as_rule = { 0 }, *rule = reader->rule ?: &as_rule;
	bool is_comment;

	if (!key || !is_key_of(key, reader->rule))
		return refuse_key(reader, name);
	if (!reader->rule) {
		begin_rule(rule, reader->class->name);
		rule->own = reader->class->properties;
	}
	/* A command line may contain a '#'; in another value it is no comment, as it may seem. */
	is_comment = policy_text_has_comment(text) && strcmp(name, "command") != 0;
	if (is_comment || policy_rule_key_store(key, rule, text) < 0) {
		suggest(key, policy_shown(reader, text), reader->hint);
		return policy_refuse(reader, -EINVAL, "[%s] %s: found '%s', expected %s%s",
				     reader->section, name, reader->shown, key->expected,
				     reader->hint);
	}
	rule->key_lines[n] = reader->place.line < UINT16_MAX ? reader->place.line : 0;
	if (!reader->rule)
		reader->class->properties = rule->own;
	return 0;
}

/* The line that gives the rule its class or condition. */
static struct policy_place place_of(const struct policy_draft *draft,
				    const struct policy_rule *rule, const char *key)
{
	char section[sizeof("rule ") + POLICY_NAME_SIZE];

	snprintf(section, sizeof(section), "rule %s", rule->name);
	return policy_origins_find(&draft->origins, section, key)->place;
}

/* If the condition had a condition itself, they could form a circle. */
static int finish_condition(struct policy_draft *draft, const struct policy_rule *rule,
			    char **ret_message)
{
	struct policy_rule *condition = policy_rules_find(&draft->policy, rule->when);

	if (condition && condition != rule && !condition->when[0]) {
		condition->is_condition = true;
		return 0;
	}
	return policy_error_set(ret_message, -EINVAL, place_of(draft, rule, "when"),
				"[rule %s] when: found 'rule %s', expected %s", rule->name,
				rule->when,
				!condition	    ? "a rule of this policy"
				: condition == rule ? "another rule than this one"
						    : "a rule without a condition of its own");
}

static int finish_rule(struct policy_draft *draft, struct policy_rule *rule, char **ret_message)
{
	struct policy *policy = &draft->policy;
	const struct policy_class *class = find_class(policy, rule->class);
	char list[POLICY_CLASSES_MAX * (POLICY_NAME_SIZE + 2)] = "";

	if (rule->class[0] && !class) {
		for (uint32_t i = 0; i < policy->n_classes; i++)
			strcat(strcat(list, list[0] ? ", " : ""), policy->classes[i].name);
		return policy_error_set(ret_message, -EINVAL, place_of(draft, rule, "class"),
					"[rule %s] class: found '%s', expected one of %s, or a "
					"section [class %s]",
					rule->name, rule->class, list, rule->class);
	}
	if (rule->when[0] && finish_condition(draft, rule, ret_message) < 0)
		return -EINVAL;
	for (int i = 0; i < RULE_PROPERTIES; i++) {
		const struct policy_level *level = rule_level(&rule->own, i);

		if (level->kind == POLICY_LEVEL_NONE && class)
			level = rule_level(&class->properties, i);
		*(struct policy_level *)rule_level(&rule->properties, i) = *level;
	}
	return 0;
}

int policy_rules_finish(struct policy_draft *draft, char **ret_message)
{
	struct policy *policy = &draft->policy;
	int error = 0;

	for (uint32_t i = 0; i < policy->n_rules; i++) {
		char *message = NULL;
		int r = finish_rule(draft, &policy->rules[i], &message);

		policy_error_append(ret_message, message);
		error = error ?: r;
	}
	return error;
}
