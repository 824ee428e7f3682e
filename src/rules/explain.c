// SPDX-License-Identifier: GPL-2.0-only
/* Explains in words why a rule matches a task or not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules/rules_private.h"
#include "shared/time.h"

void rules_say_match(FILE *out, const struct policy_rule *rule)
{
	const struct policy_override *override = &rule->override;
	const struct policy_match *match = &rule->match;
	const char *between = "";

	if (rule->is_hint) {
		fputs("tasks with a hint of this class", out);
		return;
	}
	if (override->id && override->pid)
		fprintf(out, "pid %u%s", override->pid,
			override->children ? " and what it starts" : "");
	else if (override->id)
		fprintf(out, "the tasks of [rule %s]", override->rule);
	if (override->id)
		return;
	for (uint32_t keys = match->given; keys; keys &= keys - 1) {
		fputs(between, out);
		match_say_wanted(out, match, keys & -keys);
		between = ", ";
	}
	if (!match->given)
		fputs("every task", out);
	if (rule->when[0])
		fprintf(out, ", while rule %s has a task", rule->when);
}

static void say_why(FILE *out, struct rules *rules, uint32_t rule, const struct task_facts *facts,
		    uint32_t mismatch)
{
	const struct policy_match *match = &rules->policy->rules[rule].match;
	const struct match_texts texts = { texts_get, rules->texts };
	const char *between = "";

	for (uint32_t keys = mismatch ?: match->given; keys; keys &= keys - 1) {
		uint32_t key = keys & -keys;

		fputs(between, out);
		match_say_fact(out, key, facts, &texts);
		fputs(mismatch ? ", the rule wants " : " (", out);
		match_say_wanted(out, match, key);
		fputs(mismatch ? "" : ")", out);
		between = ", ";
	}
	if (!match->given)
		fputs("it is for every task", out);
}

static void say_why_overridden(FILE *out, const struct policy_override *override, bool matches)
{
	const char *is = matches ? "is" : "is not";

	if (!override->pid)
		fprintf(out, "[rule %s] %s for it", override->rule, is);
	else if (!override->children)
		fprintf(out, "it %s pid %u", is, override->pid);
	else
		fprintf(out, "it is %spid %u%s started by it", matches ? "" : "not ", override->pid,
			matches ? ", or was" : ", and was not");
}

/* hint is NULL if the task has none of this class. */
static void say_hint(FILE *out, const struct hint *hint, const struct task_facts *facts)
{
	uint64_t now_ns = time_now_ns();

	if (!hint) {
		fputs("it has no hint of this class", out);
		return;
	}
	fputs("hinted by ", out);
	match_say_user(out, hint->by_uid);
	if (hint->pid != facts->pid)
		fprintf(out, " for %s %u (%s)%s", hint->is_thread ? "thread" : "pid", hint->pid,
			hint->comm, hint->pid == facts->tgid ? "" : ", by which it was started");
	if (hint->held)
		fputs(", while its client is connected", out);
	else if (hint->end_ns > now_ns)
		fprintf(out, ", for %" PRIu64 " s more",
			(uint64_t)((hint->end_ns - now_ns) / NS_PER_S));
}

char *rules_explain(struct rules *rules, uint32_t rule, const struct task_facts *facts,
		    bool *ret_matches)
{
	const struct policy_override *override = &rules->policy->rules[rule].override;
	const struct hint *hint = rules_hint_of(rules, rule, facts->pid);
	bool is_hint = rules->policy->rules[rule].is_hint;
	uint32_t mismatch = override->id || is_hint ? 0 : rules_find_mismatch(rules, rule, facts);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	*ret_matches = override->id ? rules_was_overridden(rules, rule, facts->pid)
		       : is_hint    ? hint != NULL
				    : !mismatch && rules_holds(rules, rule);
	if (is_hint)
		say_hint(out, hint, facts);
	else if (override->id)
		say_why_overridden(out, override, *ret_matches);
	else
		say_why(out, rules, rule, facts, mismatch);
	if (!rules_holds(rules, rule))
		fprintf(out, ", and rule %s, its condition, has no task",
			rules->policy->rules[rule].when);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
