// SPDX-License-Identifier: GPL-2.0-only
/*
 * The conditions of a rule: a table of keys. Most compare a list of patterns with a text of the
 * task; a row of another kind says itself how it compares and how it is shown.
 */
#include "config/match.h"

#include <errno.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"

#define NICE_LEAST (-20)
#define NICE_MOST  19
#define SCHEDULERS 8

/* By their numbers in linux/sched.h, also those of newer kernels. */
static const char *const schedulers[SCHEDULERS] = {
	[0] = "other", [1] = "fifo",	 [2] = "rr",  [3] = "batch",
	[5] = "idle",  [6] = "deadline", [7] = "ext",
};

static const char *scheduler_name(uint32_t scheduler)
{
	const char *name = scheduler < SCHEDULERS ? schedulers[scheduler] : NULL;

	return name ?: "unknown";
}

int policy_store_text(const struct policy_rule_key *key, void *field, const char *text)
{
	if (!text[0] || strlen(text) >= key->size || (key->is_good && !key->is_good(text)))
		return -EINVAL;
	memset(field, 0, key->size);
	strcpy(field, text);
	return 0;
}

const struct policy_level *policy_word_level(const struct policy_rule_key *key, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(key->words); i++)
		if (key->words[i].word && !strcmp(key->words[i].word, text))
			return &key->words[i].level;
	return NULL;
}

int policy_store_flag(const struct policy_rule_key *key, void *field, const char *text)
{
	const struct policy_level *level = policy_word_level(key, text);

	if (!level)
		return -EINVAL;
	*(bool *)field = level->value;
	return 0;
}

/* Stores patterns that all satisfy is_good. */
static int store_patterns(const struct policy_rule_key *key, void *field, const char *text)
{
	char pattern[POLICY_PATTERN_SIZE];

	/* A comma without a backslash before it was probably meant as a divider. */
	if (!text[0] || strlen(text) >= key->size || text[policy_patterns_length(text, ",")] == ',')
		return -EINVAL;
	memset(field, 0, key->size);
	strcpy(field, text);
	while (policy_patterns_next(&text, pattern))
		if (key->is_good && !key->is_good(pattern))
			return -EINVAL;
	return 0;
}

static bool is_one_word(const char *text)
{
	return !strpbrk(text, ", \t");
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

static bool is_scheduler(const char *word)
{
	for (size_t i = 0; i < SCHEDULERS; i++)
		if (schedulers[i] && !strcmp(schedulers[i], word))
			return true;
	return false;
}

static int store_nice(const struct policy_rule_key *key, void *field, const char *text)
{
	struct policy_nice *nice = field;
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
	*nice = (struct policy_nice){ least, most };
	return 0;
}

static bool is_command(const char *pattern, const char *text)
{
	return text && fnmatch(pattern, text, 0) == 0;
}

static bool has_user(const void *field, uint32_t uid, const struct task_facts *facts)
{
	return uid != MATCH_NO_UID && facts->uid == uid;
}

static bool has_nice(const void *field, uint32_t uid, const struct task_facts *facts)
{
	const struct policy_nice *nice = field;

	return facts->nice >= nice->least && facts->nice <= nice->most;
}

static bool is_as_kernel_thread(const void *field, uint32_t uid, const struct task_facts *facts)
{
	return facts->kernel_thread == *(const bool *)field;
}

static void show_user(const void *field, const struct task_facts *facts, struct match_shown *ret)
{
	const struct passwd *entry = getpwuid(facts->uid);

	snprintf(ret->wanted, sizeof(ret->wanted), "%s", (const char *)field);
	if (entry)
		snprintf(ret->text, sizeof(ret->text), "%s", entry->pw_name);
	else
		snprintf(ret->text, sizeof(ret->text), "%u", facts->uid);
}

static void show_nice(const void *field, const struct task_facts *facts, struct match_shown *ret)
{
	const struct policy_nice *nice = field;

	snprintf(ret->wanted, sizeof(ret->wanted), "%d..%d", nice->least, nice->most);
	snprintf(ret->text, sizeof(ret->text), "%d", facts->nice);
}

static void show_kernel_thread(const void *field, const struct task_facts *facts,
			       struct match_shown *ret)
{
	strcpy(ret->wanted, *(const bool *)field ? "yes" : "no");
	strcpy(ret->text, facts->kernel_thread ? "yes" : "no");
}

#define PATTERNS "patterns of 1 to 159 bytes in all, with blanks between,"
#define UNITS	 PATTERNS " for a unit's whole name: foo.service, not foo"
/* The cheapest first: facts at hand, facts mostly at hand, files. */
enum cost {
	COST_NONE,
	COST_TEXT,
	COST_FILE,
	COSTS,
};

/* clang-format off */
static const struct match_key {
	struct policy_rule_key key;
	enum cost cost;
	/* The text that is compared with the field, and how; NULL: none is … */
	enum policy_match_key text;
	const char *text_name;
	bool (*compare)(const char *patterns, const char *text);
	/* … but this, which shows what is wanted and what is found. */
	bool (*holds)(const void *field, uint32_t uid, const struct task_facts *facts);
	void (*show)(const void *field, const struct task_facts *facts, struct match_shown *ret);
} keys[] = {
	{ { "comm", PATTERNS " as in steam wine*", store_patterns, POLICY_RULE_FIELD(match.comm),
	    .match = POLICY_MATCH_COMM, .is_list = true },
	  COST_TEXT, POLICY_MATCH_COMM, "comm", match_text },
	{ { "exe", PATTERNS " that start with / or *", store_patterns, POLICY_RULE_FIELD(match.exe),
	    .match = POLICY_MATCH_EXE, .is_good = is_path, .is_list = true },
	  COST_FILE, POLICY_MATCH_EXE, "exe", match_text },
	{ { "command", "a pattern of 1 to 159 bytes", policy_store_text,
	    POLICY_RULE_FIELD(match.command), .match = POLICY_MATCH_COMMAND },
	  COST_FILE, POLICY_MATCH_COMMAND, "command", is_command },
	{ { "user", "the name or the number of a user", policy_store_text,
	    POLICY_RULE_FIELD(match.user), .match = POLICY_MATCH_USER, .is_good = is_one_word },
	  COST_NONE, .holds = has_user, .show = show_user },
	{ { "cgroup", PATTERNS " that start with /", store_patterns, POLICY_RULE_FIELD(match.cgroup),
	    .match = POLICY_MATCH_CGROUP, .is_good = is_absolute, .is_list = true },
	  COST_TEXT, POLICY_MATCH_CGROUP, "cgroup", match_cgroup },
	{ { "unit", UNITS, store_patterns, POLICY_RULE_FIELD(match.unit),
	    .match = POLICY_MATCH_UNIT, .is_good = is_unit, .is_list = true },
	  COST_TEXT, POLICY_MATCH_CGROUP, "cgroup", match_unit },
	{ { "user-unit", UNITS, store_patterns, POLICY_RULE_FIELD(match.user_unit),
	    .match = POLICY_MATCH_USER_UNIT, .is_good = is_unit, .is_list = true },
	  COST_TEXT, POLICY_MATCH_CGROUP, "cgroup", match_user_unit },
	{ { "scheduler", "some of other batch idle fifo rr deadline ext, with blanks between",
	    store_patterns, POLICY_RULE_FIELD(match.scheduler),
	    .match = POLICY_MATCH_SCHEDULER, .is_good = is_scheduler, .is_list = true },
	  COST_NONE, POLICY_MATCH_SCHEDULER, "scheduler", match_text },
	{ { "nice", "a number from -20 to 19, or two: 5..19", store_nice,
	    POLICY_RULE_FIELD(match.nice), .match = POLICY_MATCH_NICE },
	  COST_NONE, .holds = has_nice, .show = show_nice },
	{ { "kernel-thread", "yes or no", policy_store_flag, POLICY_RULE_FIELD(match.kernel_thread),
	    .match = POLICY_MATCH_KERNEL_THREAD,
	    .words = { { "no", { .value = false } }, { "yes", { .value = true } } } },
	  COST_NONE, .holds = is_as_kernel_thread, .show = show_kernel_thread },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(keys) <= POLICY_RULE_KEYS_MAX / 2, "raise POLICY_RULE_KEYS_MAX");

const struct policy_rule_key *policy_match_key_at(size_t i)
{
	return i < ARRAY_SIZE(keys) ? &keys[i].key : NULL;
}

static const struct match_key *find_key(enum policy_match_key bit)
{
	const struct match_key *key = keys;

	while (key->key.match != bit)
		key++;
	return key;
}

static const void *field_of(const struct match_key *key, const struct policy_match *match)
{
	return (const char *)match + key->key.offset - offsetof(struct policy_rule, match);
}

static const char *text_of(const struct match_key *key, const struct task_facts *facts,
			   const struct match_texts *texts, const char **ret_unknown)
{
	if (key->text == POLICY_MATCH_COMM)
		return facts->comm;
	if (key->text == POLICY_MATCH_SCHEDULER)
		return scheduler_name(facts->scheduler);
	return texts->get(texts->userdata, facts, key->text, ret_unknown);
}

uint32_t match_find_mismatch(const struct policy_match *match, uint32_t uid,
			     const struct task_facts *facts, const struct match_texts *texts)
{
	const char *unknown;

	for (enum cost cost = 0; cost < COSTS; cost++)
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			const struct match_key *key = &keys[i];
			const void *field = field_of(key, match);

			if (key->cost != cost || !(match->given & key->key.match))
				continue;
			if (key->text ? !key->compare(field, text_of(key, facts, texts, &unknown))
				      : !key->holds(field, uid, facts))
				return key->key.match;
		}
	return 0;
}

void match_show(const struct policy_match *match, enum policy_match_key bit,
		const struct task_facts *facts, const struct match_texts *texts,
		struct match_shown *ret)
{
	const struct match_key *key = find_key(bit);
	const void *field = field_of(key, match);
	const char *text = NULL;

	*ret = (struct match_shown){ key->key.name, key->text_name ?: key->key.name };
	if (key->show) {
		key->show(field, facts ?: &(struct task_facts){ 0 }, ret);
		ret->found = facts ? ret->text : NULL;
		return;
	}
	snprintf(ret->wanted, sizeof(ret->wanted), "%s", (const char *)field);
	if (facts)
		text = text_of(key, facts, texts, &ret->unknown);
	snprintf(ret->text, sizeof(ret->text), "%s", text ?: "");
	ret->found = text ? ret->text : NULL;
}
