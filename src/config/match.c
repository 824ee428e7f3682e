// SPDX-License-Identifier: GPL-2.0-only
#include "config/match.h"

#include <errno.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"

#define NICE_LEAST (-20)
#define NICE_MOST  19
#define SCHEDULERS 8 /* bits of policy_match.schedulers */

/* By their numbers in linux/sched.h, also those of newer kernels. */
static const char *const schedulers[SCHEDULERS] = {
	[0] = "other", [1] = "fifo",	 [2] = "rr",  [3] = "batch",
	[5] = "idle",  [6] = "deadline", [7] = "ext",
};

static const char *scheduler_name(uint32_t scheduler)
{
	return scheduler < SCHEDULERS ? schedulers[scheduler] : NULL;
}

int policy_store_text(char *field, size_t size, const char *text)
{
	if (!text[0] || strlen(text) >= size)
		return -EINVAL;
	memset(field, 0, size);
	strcpy(field, text);
	return 0;
}

static int store_command(struct policy_rule *rule, const char *text)
{
	rule->match.given |= POLICY_MATCH_COMMAND;
	return policy_store_text(rule->match.command, sizeof(rule->match.command), text);
}

static int store_user(struct policy_rule *rule, const char *text)
{
	rule->match.given |= POLICY_MATCH_USER;
	if (strpbrk(text, ", \t"))
		return -EINVAL;
	return policy_store_text(rule->match.user, sizeof(rule->match.user), text);
}

/* Stores patterns that all satisfy is_good. */
static int store_patterns(char *field, const char *text, bool (*is_good)(const char *pattern))
{
	char pattern[POLICY_PATTERN_SIZE];
	int r = policy_store_text(field, POLICY_PATTERN_SIZE, text);

	/* A comma without a backslash before it was probably meant as a divider. */
	if (r < 0 || text[policy_patterns_length(text, ",")] == ',')
		return -EINVAL;
	while (policy_patterns_next(&text, pattern))
		if (!is_good(pattern))
			return -EINVAL;
	return 0;
}

static bool is_any(const char *pattern)
{
	return true;
}

static bool is_path(const char *pattern)
{
	return pattern[0] == '/' || pattern[0] == '*';
}

static bool is_absolute(const char *pattern)
{
	return pattern[0] == '/';
}

/* A unit has a type behind its last dot, unless the pattern may match one. */
static bool is_unit(const char *pattern)
{
	const char *dot = strrchr(pattern, '.');

	return !strchr(pattern, '/') &&
	       (strpbrk(pattern, "*?[") || (dot && dot[1] && dot != pattern));
}

#define STORE_PATTERNS(_name, _key, _is_good)                                \
	static int store_##_name(struct policy_rule *rule, const char *text) \
	{                                                                    \
		rule->match.given |= (_key);                                 \
		return store_patterns(rule->match._name, text, (_is_good));  \
	}

STORE_PATTERNS(comm, POLICY_MATCH_COMM, is_any)
STORE_PATTERNS(exe, POLICY_MATCH_EXE, is_path)
STORE_PATTERNS(cgroup, POLICY_MATCH_CGROUP, is_absolute)
STORE_PATTERNS(unit, POLICY_MATCH_UNIT, is_unit)
STORE_PATTERNS(user_unit, POLICY_MATCH_USER_UNIT, is_unit)

static int store_scheduler(struct policy_rule *rule, const char *text)
{
	uint32_t found = 0;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t length = strcspn(text, " \t");
		int i = 0;

		while (i < SCHEDULERS && (!schedulers[i] || strlen(schedulers[i]) != length ||
					  strncmp(schedulers[i], text, length) != 0))
			i++;
		if (i == SCHEDULERS)
			return -EINVAL;
		found |= 1U << i;
		text += length;
	}
	rule->match.given |= POLICY_MATCH_SCHEDULER;
	rule->match.schedulers = found;
	return found ? 0 : -EINVAL;
}

static int store_nice(struct policy_rule *rule, const char *text)
{
	int least, most, n = 0;

	if (sscanf(text, "%3d%n", &least, &n) != 1)
		return -EINVAL;
	most = least;
	if (text[n]) {
		text += n;
		if (sscanf(text, "..%3d%n", &most, &n) != 1 || text[n])
			return -EINVAL;
	}
	if (least < NICE_LEAST || most > NICE_MOST || least > most)
		return -EINVAL;
	rule->match.given |= POLICY_MATCH_NICE;
	rule->match.nice_min = least;
	rule->match.nice_max = most;
	return 0;
}

static int store_kernel_thread(struct policy_rule *rule, const char *text)
{
	rule->match.given |= POLICY_MATCH_KERNEL_THREAD;
	rule->match.kernel_thread = !strcmp(text, "yes");
	return rule->match.kernel_thread || !strcmp(text, "no") ? 0 : -EINVAL;
}

#define PATTERNS "patterns of 1 to 159 bytes in all, with blanks between,"

/* clang-format off */
static const struct policy_rule_key keys[] = {
	{ "comm", PATTERNS " as in steam wine*", store_comm, .is_list = true },
	{ "exe", PATTERNS " that start with / or *", store_exe, .is_list = true },
	{ "command", "a pattern of 1 to 159 bytes", store_command },
	{ "user", "the name or the number of a user", store_user },
	{ "cgroup", PATTERNS " that start with /", store_cgroup, .is_list = true },
	{ "unit", PATTERNS " for a unit's whole name: foo.service, not foo", store_unit,
	  .is_list = true },
	{ "user-unit", PATTERNS " for a unit's whole name: foo.service, not foo", store_user_unit,
	  .is_list = true },
	{ "scheduler", "some of other batch idle fifo rr deadline ext, with blanks between",
	  store_scheduler, .is_list = true },
	{ "nice", "a number from -20 to 19, or two: 5..19", store_nice },
	{ "kernel-thread", "yes or no", store_kernel_thread },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(keys) <= POLICY_RULE_KEYS_MAX / 2, "raise POLICY_RULE_KEYS_MAX");

const struct policy_rule_key *policy_match_keys_get(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(keys);
	return keys;
}

static bool holds(const struct policy_match *match, enum policy_match_key key, uint32_t uid,
		  const struct task_facts *facts, const struct match_texts *texts)
{
	const char *text, *unknown;

	switch (key) {
	case POLICY_MATCH_COMM:
		return match_text(match->comm, facts->comm);
	case POLICY_MATCH_USER:
		return uid != MATCH_NO_UID && facts->uid == uid;
	case POLICY_MATCH_SCHEDULER:
		return facts->scheduler < 32 && match->schedulers >> facts->scheduler & 1;
	case POLICY_MATCH_NICE:
		return facts->nice >= match->nice_min && facts->nice <= match->nice_max;
	case POLICY_MATCH_KERNEL_THREAD:
		return facts->kernel_thread == match->kernel_thread;
	case POLICY_MATCH_CGROUP:
		return match_cgroup(match->cgroup,
				    texts->get(texts->userdata, facts, key, &unknown));
	case POLICY_MATCH_UNIT:
		return match_unit(match->unit, texts->get(texts->userdata, facts,
							  POLICY_MATCH_CGROUP, &unknown));
	case POLICY_MATCH_USER_UNIT:
		return match_user_unit(match->user_unit, texts->get(texts->userdata, facts,
								    POLICY_MATCH_CGROUP, &unknown));
	case POLICY_MATCH_EXE:
		return match_text(match->exe, texts->get(texts->userdata, facts, key, &unknown));
	case POLICY_MATCH_COMMAND:
		text = texts->get(texts->userdata, facts, key, &unknown);
		return text && fnmatch(match->command, text, 0) == 0;
	}
	return false;
}

uint32_t match_find_mismatch(const struct policy_match *match, uint32_t uid,
			     const struct task_facts *facts, const struct match_texts *texts)
{
	/* In the order of cost: facts at hand, facts mostly at hand, files. */
	static const enum policy_match_key order[] = {
		POLICY_MATCH_KERNEL_THREAD, POLICY_MATCH_USER,	    POLICY_MATCH_NICE,
		POLICY_MATCH_SCHEDULER,	    POLICY_MATCH_COMM,	    POLICY_MATCH_CGROUP,
		POLICY_MATCH_UNIT,	    POLICY_MATCH_USER_UNIT, POLICY_MATCH_EXE,
		POLICY_MATCH_COMMAND,
	};

	_Static_assert(ARRAY_SIZE(order) == ARRAY_SIZE(keys), "every key is compared");
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (match->given & order[i] && !holds(match, order[i], uid, facts, texts))
			return order[i];
	return 0;
}

/* A command line may be long; its beginning says what it is. */
#define TEXT_SHOWN 120

void match_say_user(FILE *out, uint32_t uid)
{
	const struct passwd *entry = getpwuid(uid);

	if (entry)
		fputs(entry->pw_name, out);
	else
		fprintf(out, "%u", uid);
}

static void say_text(FILE *out, const struct match_texts *texts, const struct task_facts *facts,
		     enum policy_match_key key, const char *name)
{
	const char *unknown, *text = texts->get(texts->userdata, facts, key, &unknown);

	if (text)
		fprintf(out, "%s is '%.*s'", name, TEXT_SHOWN, text);
	else if (unknown)
		fprintf(out, "its %s is not known (%s)", name, unknown);
	else
		fprintf(out, "it has no %s", name);
}

void match_say_fact(FILE *out, enum policy_match_key key, const struct task_facts *facts,
		    const struct match_texts *texts)
{
	const char *scheduler = scheduler_name(facts->scheduler);

	switch (key) {
	case POLICY_MATCH_COMM:
		fprintf(out, "comm is '%s'", facts->comm);
		break;
	case POLICY_MATCH_EXE:
		say_text(out, texts, facts, key, "exe");
		break;
	case POLICY_MATCH_COMMAND:
		say_text(out, texts, facts, key, "command");
		break;
	case POLICY_MATCH_USER:
		fputs("user is ", out);
		match_say_user(out, facts->uid);
		break;
	case POLICY_MATCH_CGROUP:
	case POLICY_MATCH_UNIT:
	case POLICY_MATCH_USER_UNIT:
		say_text(out, texts, facts, POLICY_MATCH_CGROUP, "cgroup");
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

void match_say_wanted(FILE *out, const struct policy_match *match, enum policy_match_key key)
{
	fprintf(out, "%s =", keys[__builtin_ctz(key)].name);
	switch (key) {
	case POLICY_MATCH_COMM:
		fprintf(out, " %s", match->comm);
		break;
	case POLICY_MATCH_EXE:
		fprintf(out, " %s", match->exe);
		break;
	case POLICY_MATCH_COMMAND:
		fprintf(out, " %s", match->command);
		break;
	case POLICY_MATCH_USER:
		fprintf(out, " %s", match->user);
		break;
	case POLICY_MATCH_CGROUP:
		fprintf(out, " %s", match->cgroup);
		break;
	case POLICY_MATCH_UNIT:
		fprintf(out, " %s", match->unit);
		break;
	case POLICY_MATCH_USER_UNIT:
		fprintf(out, " %s", match->user_unit);
		break;
	case POLICY_MATCH_SCHEDULER:
		for (uint32_t i = 0; i < SCHEDULERS; i++)
			if (match->schedulers >> i & 1)
				fprintf(out, " %s", schedulers[i]);
		break;
	case POLICY_MATCH_NICE:
		fprintf(out, " %d..%d", match->nice_min, match->nice_max);
		break;
	case POLICY_MATCH_KERNEL_THREAD:
		fputs(match->kernel_thread ? " yes" : " no", out);
		break;
	}
}
