// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "config/keys.h"
#include "core/rule.h"
#include "rules/rules_private.h"
#include "shared/cleanup.h"

#define PATH_SIZE 4096

static bool is_like(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}

static bool is_cgroup(const char *pattern, const char *path)
{
	char above[PATH_SIZE];
	size_t length = strlen(path);
	char *slash;

	if (length >= sizeof(above))
		return false;
	memcpy(above, path, length + 1);
	while (fnmatch(pattern, above, FNM_PATHNAME) != 0) {
		slash = strrchr(above, '/');
		if (!slash || !above[1])
			return false;
		slash[slash == above] = '\0';
	}
	return true;
}

/* The next part of a cgroup's path, unescaped as systemd does. NULL: no more. */
static const char *take_part(const char *path, char ret[static PATH_SIZE])
{
	size_t length;

	path += *path == '/';
	length = strcspn(path, "/");
	if (!length || length >= PATH_SIZE)
		return NULL;
	memcpy(ret, path, length);
	ret[length] = '\0';
	/* systemd escapes a name that could be one of the kernel's files. */
	if (ret[0] == '_')
		memmove(ret, ret + 1, length);
	return path + length;
}

static bool is_slice(const char *part)
{
	return fnmatch("?*.slice", part, 0) == 0;
}

/*
 * As systemd's cg_path_get_unit(): slices, which only a manager makes, and the first unit behind
 * them, of one of the types that have cgroups. Names below that are chosen by the delegate.
 */
static bool is_unit(const char *pattern, const char *path)
{
	static const char *const types[] = {
		"?*.service", "?*.scope", "?*.socket", "?*.mount", "?*.swap",
	};
	char part[PATH_SIZE];
	bool has_cgroup = false;

	while ((path = take_part(path, part)) && is_slice(part))
		if (fnmatch(pattern, part, 0) == 0)
			return true;
	for (size_t i = 0; path && i < ARRAY_SIZE(types); i++)
		has_cgroup |= fnmatch(types[i], part, 0) == 0;
	return has_cgroup && fnmatch(pattern, part, 0) == 0;
}

/* As cg_path_get_user_unit(): the same below the service of a user's manager. */
static bool is_user_unit(const char *pattern, const char *path)
{
	char part[PATH_SIZE];

	do
		path = take_part(path, part);
	while (path && is_slice(part));
	return path && fnmatch("user@[0-9]*.service", part, 0) == 0 && is_unit(pattern, path);
}

static bool is_any(const char *patterns, bool (*is_it)(const char *pattern, const char *text),
		   const char *text)
{
	char pattern[POLICY_PATTERN_SIZE];

	while (text && policy_patterns_next(&patterns, pattern))
		if (is_it(pattern, text))
			return true;
	return false;
}

size_t match_unit_escape(const char *text)
{
	return text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
			       isxdigit((unsigned char)text[3])
		       ? 4
		       : 0;
}

/* Doubles the backslash of systemd's escapes, as it is part of the name; others quote. */
static void keep_escapes(const char *pattern, char ret[static 2 * POLICY_PATTERN_SIZE])
{
	while (*pattern) {
		if (match_unit_escape(pattern))
			*ret++ = '\\';
		else if (pattern[0] == '\\' && pattern[1])
			*ret++ = *pattern++;
		*ret++ = *pattern++;
	}
	*ret = '\0';
}

static bool is_any_group(const char *patterns, bool (*is_it)(const char *pattern, const char *path),
			 const char *path)
{
	char pattern[POLICY_PATTERN_SIZE], kept[2 * POLICY_PATTERN_SIZE];

	while (path && policy_patterns_next(&patterns, pattern)) {
		keep_escapes(pattern, kept);
		if (is_it(kept, path))
			return true;
	}
	return false;
}

bool match_cgroup(const char *patterns, const char *path)
{
	return is_any_group(patterns, is_cgroup, path);
}

bool match_unit(const char *patterns, const char *path)
{
	return is_any_group(patterns, is_unit, path);
}

bool match_user_unit(const char *patterns, const char *path)
{
	return is_any_group(patterns, is_user_unit, path);
}

static bool holds(const struct policy_match *match, enum policy_match_key key, uint32_t uid,
		  const struct task_facts *facts, const struct match_texts *texts)
{
	const char *text;

	switch (key) {
	case POLICY_MATCH_COMM:
		return is_any(match->comm, is_like, facts->comm);
	case POLICY_MATCH_USER:
		return uid != MATCH_NO_UID && facts->uid == uid;
	case POLICY_MATCH_SCHEDULER:
		return facts->scheduler < 32 && match->schedulers >> facts->scheduler & 1;
	case POLICY_MATCH_NICE:
		return facts->nice >= match->nice_min && facts->nice <= match->nice_max;
	case POLICY_MATCH_KERNEL_THREAD:
		return facts->kernel_thread == match->kernel_thread;
	case POLICY_MATCH_CGROUP:
		return match_cgroup(match->cgroup, texts->get(texts->userdata, facts, key));
	case POLICY_MATCH_UNIT:
		return match_unit(match->unit,
				  texts->get(texts->userdata, facts, POLICY_MATCH_CGROUP));
	case POLICY_MATCH_USER_UNIT:
		return match_user_unit(match->user_unit,
				       texts->get(texts->userdata, facts, POLICY_MATCH_CGROUP));
	case POLICY_MATCH_EXE:
		return is_any(match->exe, is_like, texts->get(texts->userdata, facts, key));
	case POLICY_MATCH_COMMAND:
		text = texts->get(texts->userdata, facts, key);
		return text && is_like(match->command, text);
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

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (match->given & order[i] && !holds(match, order[i], uid, facts, texts))
			return order[i];
	return 0;
}

struct known_task *rules_find_known(const struct rules *rules, uint32_t pid)
{
	uint32_t place = pid_index_find(rules->index, pid);

	return place == PID_INDEX_NONE ? NULL : &rules->tasks[place];
}

static const char *get_text(void *userdata, const struct task_facts *facts,
			    enum policy_match_key key)
{
	const char *unknown;

	return texts_get(userdata, facts, key, &unknown);
}

const char *rules_cgroup_of(struct rules *rules, const struct rules_task *task)
{
	const struct task_facts facts = { .pid = task->pid, .cgroup_id = task->cgroup_id };

	return get_text(rules->texts, &facts, POLICY_MATCH_CGROUP);
}

bool rules_was_overridden(const struct rules *rules, uint32_t rule, uint32_t pid)
{
	const struct known_task *known = rules_find_known(rules, pid);

	return known && known->counted >> rule & 1;
}

/* Whether the entry of the task's pid is its own, and not of an earlier task with that pid. */
static bool is_known(const struct rules *rules, const struct task_facts *facts)
{
	const struct known_task *known = rules_find_known(rules, facts->pid);

	return known && known->task.start_ns == facts->start_ns;
}

/* matched: the rules of files that match the task. */
static bool is_overridden(const struct rules *rules, uint32_t rule, const struct task_facts *facts,
			  uint64_t matched)
{
	const struct policy_override *override = &rules->policy->rules[rule].override;

	if (!override->pid) {
		for (uint64_t bits = matched; bits; bits &= bits - 1)
			if (!strcmp(rules->ruled[__builtin_ctzll(bits)].name, override->rule))
				return true;
		return false;
	}
	if (facts->pid == override->pid)
		return facts->start_ns == override->start_ns;
	if (facts->tgid == override->pid || !override->children)
		return facts->tgid == override->pid;
	if (facts->pid != facts->tgid)
		return rules_was_overridden(rules, rule, facts->tgid);
	/* A task keeps its membership when its parent exits. */
	return rules_was_overridden(rules, rule, facts->parent) ||
	       (is_known(rules, facts) && rules_was_overridden(rules, rule, facts->pid));
}

bool rules_holds(const struct rules *rules, uint32_t rule)
{
	int condition = rules->ruled[rule].condition;

	return condition < 0 || rules->ruled[condition].count.tasks;
}

uint32_t rules_find_mismatch(struct rules *rules, uint32_t rule, const struct task_facts *facts)
{
	const struct match_texts texts = { get_text, rules->texts };

	return match_find_mismatch(&rules->policy->rules[rule].match, rules->ruled[rule].uid, facts,
				   &texts);
}

static uint64_t hint_of_task(const struct rules *rules, uint32_t pid)
{
	const struct known_task *known = rules_find_known(rules, pid);

	return known ? known->hint : 0;
}

/*
 * Hints of users may take half of the table, of which each has a share; the other half is for the
 * administrator's rules.
 */
const struct hint *rules_find_hint(struct rules *rules, const struct task_facts *facts)
{
	const struct hint *hint;
	uint64_t inherited;

	if (!hints_count(rules->hints))
		return NULL;
	/* A thread's is from its process; a process's is its former one, or else its parent's. */
	inherited = is_known(rules, facts) ? hint_of_task(rules, facts->pid) : 0;
	if (facts->pid != facts->tgid)
		inherited = hint_of_task(rules, facts->tgid);
	else if (!hints_find_id(rules->hints, inherited))
		inherited = hint_of_task(rules, facts->parent);
	hint = hints_of(rules->hints, facts, inherited);
	if (!hint || hint->any_user || rules_find_known(rules, facts->pid) ||
	    wakegov_shares_allow(&rules->hinted, hint->by_uid, pid_index_count(rules->index),
				 pid_index_size(rules->index) / 2))
		return hint;
	rules->hints->refused++;
	return NULL;
}

/* The bit of the rule of the hint's class. */
uint64_t rules_hint_bit(const struct rules *rules, const struct hint *hint)
{
	int rule = hint ? hints_rule(rules->policy, hint->class) : -1;

	return rule < 0 ? 0 : 1ULL << rule;
}

const struct hint *rules_hint_of(const struct rules *rules, uint32_t rule, uint32_t pid)
{
	const struct hint *hint = hints_find_id(rules->hints, hint_of_task(rules, pid));

	return rules_hint_bit(rules, hint) >> rule & 1 ? hint : NULL;
}

uint64_t rules_find_matches(struct rules *rules, const struct task_facts *facts,
			    const struct hint *hint)
{
	uint64_t matched = rules_hint_bit(rules, hint), overridden = 0;

	for (uint32_t i = 0; i < rules->policy->n_rules; i++)
		if (!rules->policy->rules[i].is_hint && rules_holds(rules, i) &&
		    !rules_find_mismatch(rules, i, facts))
			matched |= 1ULL << i;
	for (uint64_t bits = rule_overrides(rules->policy); bits; bits &= bits - 1)
		if (is_overridden(rules, __builtin_ctzll(bits), facts, matched))
			overridden |= bits & -bits;
	return matched | overridden;
}
