// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which rules a task matches, by its facts and by what some keys need of files: its program,
 * command line and cgroup, which are read once for each process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/match.h"
#include "core/rule.h"
#include "rules/rules.h"
#include "shared/sysfs.h"

static const char *get_cgroup(struct rules_texts *texts, const struct task_facts *facts,
			      const char **ret_unknown)
{
	uint32_t place = facts->cgroup_id % RULES_CGROUPS_MAX;
	char directory[2 * RULES_TEXT_SIZE];
	struct stat st;
	int r;

	if (texts->cgroups[place].id == facts->cgroup_id && texts->cgroups[place].path)
		return texts->cgroups[place].path;
	r = sysfs_read_tagged(texts->path, sizeof(texts->path), "0::", "/proc/%u/cgroup",
			      facts->pid);
	if (r < 0)
		*ret_unknown = strerror(-r);
	if (r <= 0)
		return NULL;
	/* The task may have moved since: this is then another cgroup's path. */
	snprintf(directory, sizeof(directory), "%s%s", sysfs_cgroup_mount(), texts->path);
	if (sysfs_cgroup_mount()[0] && stat(directory, &st) == 0 && st.st_ino == facts->cgroup_id) {
		free(texts->cgroups[place].path);
		texts->cgroups[place].path = strdup(texts->path);
		texts->cgroups[place].id = facts->cgroup_id;
	}
	return texts->path;
}

static const char *texts_get(void *userdata, const struct task_facts *facts,
			     enum policy_match_key key, const char **ret_unknown)
{
	struct rules_texts *texts = userdata;
	const struct process_facts *process = &texts->process;
	bool is_exe = key == POLICY_MATCH_EXE;

	*ret_unknown = NULL;
	if (key == POLICY_MATCH_CGROUP)
		return get_cgroup(texts, facts, ret_unknown);
	if (facts->kernel_thread)
		return NULL;
	if (texts->tgid != facts->tgid)
		texts->read_process(texts->userdata, facts->tgid, &texts->process);
	texts->tgid = facts->tgid;
	*ret_unknown = is_exe ? process->exe_unknown : process->command_unknown;
	if (*ret_unknown)
		return NULL;
	return is_exe ? process->exe : process->command;
}

struct rules_known *rules_find_known(const struct rules *rules, uint32_t pid)
{
	uint32_t place = pid_index_find(rules->index, pid);

	return place == PID_INDEX_NONE ? NULL : &rules->tasks[place];
}

/* Whether the override covered the task at its last update. */
static bool was_overridden(const struct rules *rules, uint32_t rule, uint32_t pid)
{
	const struct rules_known *known = rules_find_known(rules, pid);

	return known && known->counted >> rule & 1;
}

/* Whether the pid's entry belongs to this task, and not to an earlier one. */
static bool is_known(const struct rules *rules, const struct task_facts *facts)
{
	const struct rules_known *known = rules_find_known(rules, facts->pid);

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
		return was_overridden(rules, rule, facts->tgid);
	/* A task stays a member when its parent exits. */
	return was_overridden(rules, rule, facts->parent) ||
	       (is_known(rules, facts) && was_overridden(rules, rule, facts->pid));
}

/* Whether the rule's condition holds now. */
static bool holds(const struct rules *rules, uint32_t rule)
{
	int condition = rules->ruled[rule].condition;

	return condition < 0 || rules->ruled[condition].count.tasks;
}

/* The first key of the rule that does not match the task; 0: the rule matches. */
static uint32_t find_mismatch(struct rules *rules, uint32_t rule, const struct task_facts *facts)
{
	const struct match_texts texts = { texts_get, &rules->texts };

	return match_find_mismatch(&rules->policy->rules[rule].match, rules->ruled[rule].uid, facts,
				   &texts);
}

static uint64_t hint_of_task(const struct rules *rules, uint32_t pid)
{
	const struct rules_known *known = rules_find_known(rules, pid);

	return known ? known->hint : 0;
}

/*
 * Hints of users may take half of the table, in shares; the other half is for the administrator's
 * rules.
 */
const struct hint *rules_find_hint(struct rules *rules, const struct task_facts *facts)
{
	const struct hint *hint;
	uint64_t inherited;

	if (!pid_index_count(rules->hints->index))
		return NULL;
	/* A thread inherits from its process; a process from itself before, or else its parent. */
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
		if (!rules->policy->rules[i].is_hint && holds(rules, i) &&
		    !find_mismatch(rules, i, facts))
			matched |= 1ULL << i;
	for (uint64_t bits = rule_overrides(rules->policy); bits; bits &= bits - 1)
		if (is_overridden(rules, __builtin_ctzll(bits), facts, matched))
			overridden |= bits & -bits;
	return matched | overridden;
}

void rules_explain(struct rules *rules, uint32_t rule, const struct task_facts *facts,
		   struct rules_explanation *ret)
{
	const struct policy_rule *of = &rules->policy->rules[rule];
	bool has_conditions = !of->override.id && !of->is_hint;
	uint32_t mismatch = has_conditions ? find_mismatch(rules, rule, facts) : 0;
	const struct hint *hint = rules_hint_of(rules, rule, facts->pid);

	*ret = (struct rules_explanation){
		.holds = holds(rules, rule),
		.is_met = !mismatch,
		.keys = mismatch ?: of->match.given,
		.hint = hint,
		.is_inherited = hint && hint->pid != facts->pid && hint->pid != facts->tgid,
	};
	if (of->override.id)
		ret->matches = was_overridden(rules, rule, facts->pid);
	else
		ret->matches = of->is_hint ? hint != NULL : ret->is_met && ret->holds;
}

void rules_show(struct rules *rules, uint32_t rule, uint32_t key, const struct task_facts *facts,
		struct match_shown *ret)
{
	const struct match_texts texts = { texts_get, &rules->texts };

	match_show(&rules->policy->rules[rule].match, key, facts, &texts, ret);
}
