// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the matches of each task, and reports when they change. */
#include "rules/rules.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "config/match.h"
#include "core/rule.h"

struct rules *rules_new(uint32_t max_tasks, process_facts_t read_process, void *userdata)
{
	struct rules *rules = calloc(1, sizeof(*rules));

	if (!rules)
		return NULL;
	rules->index = pid_index_new(max_tasks);
	rules->tasks = calloc(max_tasks, sizeof(rules->tasks[0]));
	rules->texts.read_process = read_process;
	rules->texts.userdata = userdata;
	rules->hints = hints_new();
	if (!rules->index || !rules->tasks || !rules->hints)
		return rules_free(rules);
	return rules;
}

struct rules *rules_free(struct rules *rules)
{
	if (!rules)
		return NULL;
	pid_index_free(rules->index);
	free(rules->tasks);
	for (int i = 0; i < RULES_CGROUPS_MAX; i++)
		free(rules->texts.cgroups[i].path);
	hints_free(rules->hints);
	free(rules);
	return NULL;
}

/* The entry at or behind *place, with its place; NULL: there is no more. */
static struct rules_known *next_known(const struct rules *rules, uint32_t *place)
{
	*place = pid_index_next(rules->index, *place);
	return *place == PID_INDEX_NONE ? NULL : &rules->tasks[*place];
}

static uint32_t find_uid(const char *user)
{
	const struct passwd *entry;
	unsigned long number;
	char *end;

	if (!user[0])
		return MATCH_NO_UID;
	number = strtoul(user, &end, 10);
	if (!*end)
		return number < MATCH_NO_UID ? number : MATCH_NO_UID;
	entry = getpwnam(user);
	return entry ? entry->pw_uid : MATCH_NO_UID;
}

/* Keeps the counts of a rule whose number changed. Drops those of removed rules. */
static void keep_counts(struct rules *rules, const struct ruled *before)
{
	struct rules_known *task;

	for (uint32_t i = 0; i < POLICY_RULES_MAX; i++)
		for (uint32_t j = 0; rules->ruled[i].name[0] && j < POLICY_RULES_MAX; j++)
			if (!strcmp(rules->ruled[i].name, before[j].name))
				rules->ruled[i].count = before[j].count;
	for (uint32_t place = 0; (task = next_known(rules, &place)); place++) {
		uint64_t now = 0;

		for (uint64_t bits = task->counted; bits; bits &= bits - 1)
			for (uint32_t i = 0; i < POLICY_RULES_MAX; i++)
				if (!strcmp(rules->ruled[i].name,
					    before[__builtin_ctzll(bits)].name))
					now |= 1ULL << i;
		task->counted = now;
	}
}

void rules_set_policy(struct rules *rules, const struct policy *policy)
{
	struct ruled before[POLICY_RULES_MAX];

	memcpy(before, rules->ruled, sizeof(before));
	memset(rules->ruled, 0, sizeof(rules->ruled));
	rules->policy = policy;
	for (uint64_t bits = rule_all(policy); bits; bits &= bits - 1) {
		uint32_t i = __builtin_ctzll(bits);

		strcpy(rules->ruled[i].name, policy->rules[i].name);
		rules->ruled[i].uid = find_uid(policy->rules[i].match.user);
		rules->ruled[i].condition = policy->rules[i].when[0]
						    ? rule_named(policy, policy->rules[i].when)
						    : -1;
	}
	keep_counts(rules, before);
}

uint32_t rules_keys(const struct rules *rules)
{
	uint32_t keys = 0;

	for (uint32_t i = 0; rules->policy && i < rules->policy->n_rules; i++)
		keys |= rules->policy->rules[i].match.given;
	return keys;
}

bool rules_pop_conditions(struct rules *rules)
{
	bool changed = rules->conditions_changed;

	rules->conditions_changed = false;
	return changed;
}

static void set_hint(struct rules *rules, struct rules_known *task, const struct hint *now)
{
	struct hint *before = hints_find_id(rules->hints, task->hint);
	uint64_t id = now ? now->id : 0;

	if (task->hint == id)
		return;
	if (task->hint)
		--*wakegov_shares_of(&rules->hinted, task->hinted_by);
	if (before && !--before->n_tasks)
		rules->hints->has_unused = true;
	task->hint = id;
	if (!now)
		return;
	task->hinted_by = now->by_uid;
	++*wakegov_shares_of(&rules->hinted, now->by_uid);
	hints_find_id(rules->hints, id)->n_tasks++;
}

static void count_one(struct rules *rules, uint32_t rule, int more)
{
	struct rules_count *count = &rules->ruled[rule].count;

	rules->conditions_changed |= rules->policy && rules->policy->rules[rule].is_condition &&
				     count->tasks + (more < 0 ? 0 : 1) == 1;
	count->tasks += more;
	count->matches += more > 0;
}

/* The entry gets this hint and these matches; without matches it is dropped. */
static void update(struct rules *rules, uint32_t place, const struct hint *hint, uint64_t matched)
{
	struct rules_known *task = &rules->tasks[place];

	set_hint(rules, task, hint);
	for (uint64_t bits = task->counted & ~matched; bits; bits &= bits - 1)
		count_one(rules, __builtin_ctzll(bits), -1);
	for (uint64_t bits = matched & ~task->counted; bits; bits &= bits - 1)
		count_one(rules, __builtin_ctzll(bits), 1);
	task->counted = matched;
	if (matched)
		return;
	set_hint(rules, task, NULL);
	pid_index_remove(rules->index, place);
}

/* The task's place, added if need be; PID_INDEX_NONE if it needs none or there is no room. */
static uint32_t find_place(struct rules *rules, const struct task_facts *facts, bool matches,
			   bool *ret_is_new)
{
	uint32_t place = pid_index_find(rules->index, facts->pid);

	*ret_is_new = false;
	/* Drops the entry of an earlier task with this pid. */
	if (place != PID_INDEX_NONE && rules->tasks[place].task.start_ns != facts->start_ns) {
		update(rules, place, NULL, 0);
		place = PID_INDEX_NONE;
		*ret_is_new = true;
	}
	if (place != PID_INDEX_NONE || !matches)
		return place;
	place = pid_index_add(rules->index, facts->pid);
	if (place == PID_INDEX_NONE)
		return place;
	rules->tasks[place] = (struct rules_known){ .task.pid = facts->pid };
	*ret_is_new = true;
	return place;
}

bool rules_update(struct rules *rules, const struct task_facts *facts, struct rules_task *ret)
{
	const struct hint *hint = rules->policy ? rules_find_hint(rules, facts) : NULL;
	uint64_t matched = rules->policy ? rules_find_matches(rules, facts, hint) : 0;
	struct rules_known *known;
	uint32_t place;
	bool is_new;

	place = find_place(rules, facts, matched, &is_new);
	*ret = (struct rules_task){
		.pid = facts->pid,
		.tgid = facts->tgid,
		.start_ns = facts->start_ns,
		.matched = matched,
		.cgroup_id = facts->cgroup_id,
		.ends = facts->ends,
	};
	if (place == PID_INDEX_NONE) {
		ret->matched = 0; /* without a place the rules give it nothing */
		return is_new;
	}
	known = &rules->tasks[place];
	ret->before = known->task.matched;
	known->task = *ret;
	known->scan = rules->scan;
	update(rules, place, hint, matched);
	return is_new || matched != ret->before;
}

bool rules_next_heir(const struct rules *rules, uint32_t *place, struct rules_task *ret,
		     const struct hint **ret_hint)
{
	const struct rules_known *known;

	for (; (known = next_known(rules, place)); ++*place) {
		const struct hint *hint = hints_find_id(rules->hints, known->hint);

		if (!hint || known->task.pid != known->task.tgid || known->task.pid == hint->pid)
			continue;
		*ret = known->task;
		*ret_hint = hint;
		++*place;
		return true;
	}
	return false;
}

void rules_add_heir(struct rules *rules, uint32_t pid, uint64_t start_ns, const struct hint *hint)
{
	struct rules_known *known = rules_find_known(rules, pid);
	uint32_t place;

	if (!known) {
		place = pid_index_add(rules->index, pid);
		if (place == PID_INDEX_NONE)
			return;
		known = &rules->tasks[place];
		*known = (struct rules_known){
			.task = { .pid = pid, .tgid = pid, .start_ns = start_ns },
		};
	}
	if (known->task.start_ns == start_ns)
		set_hint(rules, known, hint);
}

bool rules_next_rehinted(struct rules *rules, uint32_t *place, struct rules_task *ret)
{
	struct rules_known *known;

	for (; (known = next_known(rules, place)); ++*place) {
		const struct hint *hint = hints_find_id(rules->hints, known->hint);
		uint64_t matched = rules_hint_bit(rules, hint), counted = known->counted;

		if (!known->hint)
			continue;
		for (uint64_t bits = counted; bits; bits &= bits - 1)
			if (!rules->policy->rules[__builtin_ctzll(bits)].is_hint)
				matched |= bits & -bits;
		*ret = known->task;
		ret->before = known->task.matched;
		if (matched != counted)
			ret->matched = known->task.matched = matched;
		update(rules, *place, hint, matched);
		if (matched == counted)
			continue;
		++*place;
		return true;
	}
	return false;
}

bool rules_end(struct rules *rules, uint32_t pid)
{
	uint32_t place = pid_index_find(rules->index, pid);

	if (place == PID_INDEX_NONE)
		return false;
	update(rules, place, NULL, 0);
	return true;
}

void rules_begin_scan(struct rules *rules)
{
	rules->scan++;
	rules->scan_place = 0;
	rules->texts.tgid = 0;
}

bool rules_pop_missing(struct rules *rules, uint32_t *ret_pid)
{
	const struct rules_known *known;

	while ((known = next_known(rules, &rules->scan_place))) {
		uint32_t place = rules->scan_place++;

		if (known->scan == rules->scan)
			continue;
		*ret_pid = known->task.pid;
		update(rules, place, NULL, 0);
		return true;
	}
	rules->texts.tgid = 0;
	return false;
}

void rules_expect_change(struct rules *rules)
{
	rules->texts.tgid = 0;
}

const struct rules_task *rules_find(const struct rules *rules, uint32_t pid)
{
	const struct rules_known *known = rules_find_known(rules, pid);

	return known ? &known->task : NULL;
}

const struct rules_task *rules_next_task(const struct rules *rules, uint32_t rule, uint32_t from,
					 uint32_t *ret_place)
{
	const struct rules_known *known;

	for (uint32_t place = from; (known = next_known(rules, &place)); place++)
		if (known->counted >> rule & 1) {
			*ret_place = place;
			return &known->task;
		}
	return NULL;
}
