// SPDX-License-Identifier: GPL-2.0-only
/* Explains in words why a rule matches a task or not. */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "rules/rules_private.h"
#include "shared/cleanup.h"
#include "shared/time.h"

/* A command line may be long; its beginning says what it is. */
#define TEXT_SHOWN 120

static void say_user(FILE *out, uint32_t uid)
{
	const struct passwd *entry = getpwuid(uid);

	if (entry)
		fputs(entry->pw_name, out);
	else
		fprintf(out, "%u", uid);
}

static void say_text(FILE *out, struct rules *rules, const struct task_facts *facts,
		     enum policy_match_key key, const char *name)
{
	const char *unknown, *text = texts_get(rules->texts, facts, key, &unknown);

	if (text)
		fprintf(out, "%s is '%.*s'", name, TEXT_SHOWN, text);
	else if (unknown)
		fprintf(out, "its %s is not known (%s)", name, unknown);
	else
		fprintf(out, "it has no %s", name);
}

/* Writes the task's value for the key. */
static void say_fact(FILE *out, struct rules *rules, const struct task_facts *facts,
		     enum policy_match_key key)
{
	const char *scheduler = policy_scheduler_name(facts->scheduler);

	switch (key) {
	case POLICY_MATCH_COMM:
		fprintf(out, "comm is '%s'", facts->comm);
		break;
	case POLICY_MATCH_EXE:
		say_text(out, rules, facts, key, "exe");
		break;
	case POLICY_MATCH_COMMAND:
		say_text(out, rules, facts, key, "command");
		break;
	case POLICY_MATCH_USER:
		fputs("user is ", out);
		say_user(out, facts->uid);
		break;
	case POLICY_MATCH_CGROUP:
	case POLICY_MATCH_UNIT:
	case POLICY_MATCH_USER_UNIT:
		say_text(out, rules, facts, POLICY_MATCH_CGROUP, "cgroup");
		break;
	case POLICY_MATCH_SCHEDULER:
		fprintf(out, "scheduler is %s", scheduler ? scheduler : "unknown");
		break;
	case POLICY_MATCH_NICE:
		fprintf(out, "nice is %d", facts->nice);
		break;
	case POLICY_MATCH_KERNEL_THREAD:
		fprintf(out, "it is %s kernel thread", facts->kernel_thread ? "a" : "no");
		break;
	}
}

/* Writes the rule's line for the key. */
static void say_wanted(FILE *out, const struct policy_match *match, enum policy_match_key key)
{
	const struct {
		enum policy_match_key key;
		const char *name, *text;
	} texts[] = {
		{ POLICY_MATCH_COMM, "comm", match->comm },
		{ POLICY_MATCH_EXE, "exe", match->exe },
		{ POLICY_MATCH_COMMAND, "command", match->command },
		{ POLICY_MATCH_USER, "user", match->user },
		{ POLICY_MATCH_CGROUP, "cgroup", match->cgroup },
		{ POLICY_MATCH_UNIT, "unit", match->unit },
		{ POLICY_MATCH_USER_UNIT, "user-unit", match->user_unit },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].key == key)
			fprintf(out, "%s = %s", texts[i].name, texts[i].text);
	if (key == POLICY_MATCH_NICE)
		fprintf(out, "nice = %d..%d", match->nice_min, match->nice_max);
	if (key == POLICY_MATCH_KERNEL_THREAD)
		fprintf(out, "kernel-thread = %s", match->kernel_thread ? "yes" : "no");
	if (key == POLICY_MATCH_SCHEDULER) {
		fputs("scheduler =", out);
		for (uint32_t i = 0; i < POLICY_SCHEDULERS; i++)
			if (match->schedulers >> i & 1)
				fprintf(out, " %s", policy_scheduler_name(i));
	}
}

void rules_say_match(FILE *out, const struct policy_rule *rule)
{
	const struct policy_override *override = &rule->override;
	const struct policy_match *match = &rule->match;
	const char *between = "";

	if (rule->is_hint) {
		fputs("tasks that were hinted so", out);
		return;
	}
	if (override->id && override->pid)
		fprintf(out, "pid %u%s", override->pid,
			override->children ? " and what it starts" : "");
	else if (override->id)
		fprintf(out, "the tasks of [rule %s]", override->rule);
	if (override->id)
		return;
	for (uint32_t key = 1; key <= POLICY_MATCH_KERNEL_THREAD; key <<= 1) {
		if (!(match->given & key))
			continue;
		fputs(between, out);
		say_wanted(out, match, key);
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
	const char *between = "";

	for (uint32_t key = 1; key <= POLICY_MATCH_KERNEL_THREAD; key <<= 1) {
		if (mismatch ? key != mismatch : !(match->given & key))
			continue;
		fputs(between, out);
		say_fact(out, rules, facts, key);
		fputs(mismatch ? ", the rule wants " : " (", out);
		say_wanted(out, match, key);
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
		fputs("it was not hinted so", out);
		return;
	}
	fputs("hinted by ", out);
	say_user(out, hint->by_uid);
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
		fprintf(out, ", and rule %s, for which it waits, has no task",
			rules->policy->rules[rule].when);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
