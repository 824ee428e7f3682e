// SPDX-License-Identifier: GPL-2.0-only
/* The table of hints, by thread id, and the rules that they become. */
#include "rules/rules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/pid_index.h"
#include "core/rule.h"

struct hints *hints_new(void)
{
	struct hints *hints = calloc(1, sizeof(*hints));

	if (!hints)
		return NULL;
	hints->index = pid_index_new(HINTS_MAX);
	hints->entries = calloc(HINTS_MAX, sizeof(hints->entries[0]));
	return hints->index && hints->entries ? hints : hints_free(hints);
}

struct hints *hints_free(struct hints *hints)
{
	if (!hints)
		return NULL;
	pid_index_free(hints->index);
	free(hints->entries);
	free(hints);
	return NULL;
}

/* The low part of an id is the entry's place. */
struct hint *hints_add(struct hints *hints, const struct hint *hint)
{
	uint32_t place = pid_index_add(hints->index, hint->pid);

	if (place == PID_INDEX_NONE)
		return NULL;
	hints->entries[place] = *hint;
	hints->entries[place].id = ++hints->given * HINTS_MAX + place;
	return &hints->entries[place];
}

void hints_remove(struct hints *hints, struct hint *hint)
{
	hint->id = 0;
	pid_index_remove(hints->index, hint - hints->entries);
}

struct hint *hints_find(const struct hints *hints, uint32_t pid)
{
	uint32_t place = pid_index_find(hints->index, pid);

	assert(hints->entries);
	return place == PID_INDEX_NONE ? NULL : &hints->entries[place];
}

struct hint *hints_find_id(const struct hints *hints, uint64_t id)
{
	struct hint *hint = &hints->entries[id % HINTS_MAX];

	return id && hint->id == id ? hint : NULL;
}

struct hint *hints_next(const struct hints *hints, const struct hint *after)
{
	uint32_t place = pid_index_next(hints->index, after ? after - hints->entries + 1 : 0);

	return place == PID_INDEX_NONE ? NULL : &hints->entries[place];
}

uint32_t hints_count_of(const struct hints *hints, uint32_t uid)
{
	const struct hint *hint = NULL;
	uint32_t n = 0;

	while ((hint = hints_next(hints, hint)))
		n += hint->by_uid == uid;
	return n;
}

struct hint *hints_of(const struct hints *hints, const struct task_facts *facts, uint64_t inherited)
{
	struct hint *hint = hints_find(hints, facts->pid);

	/* An earlier task may have had this pid. */
	if (hint && hint->start_ns != facts->start_ns)
		hint = NULL;
	if (!hint && facts->pid != facts->tgid) {
		hint = hints_find(hints, facts->tgid);
		if (hint && hint->is_thread)
			hint = NULL;
	}
	/* A hint of pid 1 would also slow the daemon, so the daemon inherits none. */
	if (!hint && facts->tgid != (uint32_t)getpid()) {
		hint = hints_find_id(hints, inherited);
		if (hint && (!hint->children || facts->start_ns < hint->since_ns))
			hint = NULL;
	}
	return hint && (hint->any_user || hint->uid == facts->uid) ? hint : NULL;
}

int hints_rule(const struct policy *policy, const char *class)
{
	for (uint32_t i = policy->n_rules; i-- > 0 && policy->rules[i].is_hint;)
		if (!strcmp(policy->rules[i].class, class))
			return i;
	return -1;
}

static void add_rule(struct policy *policy, uint32_t i)
{
	const struct policy_class class = policy->classes[i];
	struct policy_rule *rule = &policy->rules[policy->n_rules];

	if (policy->n_rules + policy->n_overrides == POLICY_RULES_MAX)
		return;
	*rule = (struct policy_rule){
		.domain_cpu = POLICY_ANY_DOMAIN,
		.properties = class.properties,
		.is_hint = true,
		.hinted_class = i,
	};
	snprintf(rule->name, sizeof(rule->name), "hint/%.26s", class.name);
	strcpy(rule->class, class.name);
	policy->n_rules++;
}

static uint32_t classes_with_rule(const struct policy *policy)
{
	uint32_t found = 0;

	for (uint32_t i = policy->n_rules; i-- > 0 && policy->rules[i].is_hint;)
		found |= 1U << policy->rules[i].hinted_class;
	return found;
}

/* A class that has a rule keeps it, even if new ones find no room. */
bool hints_fill(const struct hints *hints, struct policy *policy)
{
	uint32_t classes = 0, before = classes_with_rule(policy);
	const struct hint *hint = NULL;

	while ((hint = hints_next(hints, hint))) {
		int class = rule_class_named(policy, hint->class);

		classes |= class < 0 ? 0 : 1U << class;
	}
	while (policy->n_rules && policy->rules[policy->n_rules - 1].is_hint)
		policy->n_rules--;
	for (uint32_t bits = classes & before; bits; bits &= bits - 1)
		add_rule(policy, __builtin_ctz(bits));
	for (uint32_t bits = classes & ~before; bits; bits &= bits - 1)
		add_rule(policy, __builtin_ctz(bits));
	return classes_with_rule(policy) != before;
}
