// SPDX-License-Identifier: GPL-2.0-only
/* The table of tasks that match rules: made-up tasks, told one by one. */
#include "test-core.h"

#include <stdlib.h>
#include <unistd.h>

#include "config/keys.h"
#include "config/match.h"
#include "rules/rules.h"

static struct policy policy;
static struct rules *rules;

static void set_rule(uint32_t i, const char *name, const char *comm)
{
	struct policy_rule *rule = &policy.rules[i];

	*rule = (struct policy_rule){ .domain_cpu = POLICY_ANY_DOMAIN };
	strcpy(rule->name, name);
	rule->match.given = POLICY_MATCH_COMM;
	strcpy(rule->match.comm, comm);
	if (policy.n_rules <= i)
		policy.n_rules = i + 1;
}

/* Rules a, b, c for tasks whose names start so; "ab" matches two. */
static void make_rules(uint32_t max_tasks)
{
	rules_free(rules);
	rules = rules_new(max_tasks, NULL, NULL);
	policy_init(&policy);
	set_rule(0, "a", "a*");
	set_rule(1, "b", "*b*");
	set_rule(2, "c", "c*");
	rules_set_policy(rules, &policy);
}

static int set_up(void **state)
{
	make_rules(16);
	return 0;
}

static int tear_down(void **state)
{
	rules = rules_free(rules);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static struct task_facts make_task(uint32_t pid, uint64_t start_ns, const char *comm)
{
	struct task_facts facts = { .pid = pid, .tgid = pid, .start_ns = start_ns };

	strncpy(facts.comm, comm, sizeof(facts.comm) - 1);
	return facts;
}

static uint64_t matched; /* the rules of the task that take() updated last, as bits */

/* Whether that is news. */
static bool take(uint32_t pid, uint64_t start_ns, const char *comm)
{
	struct task_facts facts = make_task(pid, start_ns, comm);
	struct rules_task task;
	bool changed = rules_update(rules, &facts, &task);

	matched = task.matched;
	return changed;
}

FIXTURE_TEST(test_changes_are_told_once)
{
	assert_false(take(1, 5, "xyz"));
	assert_true(take(1, 5, "ab"));
	assert_int_equal(matched, 3);
	assert_false(take(1, 5, "ab"));
	assert_false(take(1, 5, "abc"));
	assert_true(take(1, 5, "b"));
	assert_int_equal(matched, 2);
	assert_true(take(1, 5, "x"));
	assert_int_equal(matched, 0);
	assert_false(take(1, 5, "x"));
	assert_int_equal(pid_index_count(rules->index), 0);
}

FIXTURE_TEST(test_counts)
{
	take(1, 5, "ab");
	take(2, 5, "b");
	take(2, 5, "bb");
	assert_int_equal(rules->ruled[0].count.tasks, 1);
	assert_int_equal(rules->ruled[1].count.tasks, 2);
	assert_int_equal(rules->ruled[1].count.matches, 2);
	assert_true(rules_end(rules, 2));
	assert_false(rules_end(rules, 2));
	assert_int_equal(rules->ruled[1].count.tasks, 1);
	assert_int_equal(rules->ruled[1].count.matches, 2);
	take(1, 5, "x");
	take(1, 5, "b");
	assert_int_equal(rules->ruled[0].count.tasks, 0);
	assert_int_equal(rules->ruled[1].count.matches, 3);
}

/* The tasks of a rule, one after the other; those of other rules are left out. */
FIXTURE_TEST(test_walk)
{
	const struct rules_task *task;
	uint32_t place = 0, pids = 0, from = 0;

	take(1, 5, "a");
	take(2, 5, "b");
	take(3, 5, "ab");
	take(4, 5, "b");
	rules_end(rules, 2);
	while ((task = rules_next_task(rules, 1, from, &place))) {
		pids = 10 * pids + task->pid;
		from = place + 1;
	}
	assert_int_equal(pids, 34);
	assert_null(rules_next_task(rules, 2, 0, &place));
}

/* Another task with the same number begins anew, also when it matches the same. */
FIXTURE_TEST(test_pid_is_used_again)
{
	take(1, 5, "a");
	assert_true(take(1, 6, "a"));
	assert_int_equal(matched, 1);
	assert_int_equal(rules->ruled[0].count.tasks, 1);
	assert_int_equal(rules->ruled[0].count.matches, 2);
	assert_true(take(1, 7, "x"));
	assert_int_equal(matched, 0);
	assert_int_equal(pid_index_count(rules->index), 0);
}

FIXTURE_TEST(test_full_table)
{
	make_rules(2);
	assert_true(take(1, 5, "a"));
	assert_true(take(2, 5, "a"));
	assert_false(take(3, 5, "a"));
	assert_int_equal(pid_index_refused(rules->index), 1);
	assert_int_equal(rules->ruled[0].count.tasks, 2);
	rules_end(rules, 1);
	assert_true(take(3, 5, "a"));
}

FIXTURE_TEST(test_scan_finds_the_missing)
{
	uint32_t pid;

	for (uint32_t i = 1; i <= 6; i++)
		take(i, 5, "a");
	rules_begin_scan(rules);
	take(2, 5, "a");
	take(3, 5, "b");
	take(5, 5, "x");
	take(7, 5, "c");
	for (uint32_t missing = 0; rules_pop_missing(rules, &pid); missing |= 1 << pid)
		assert_false(missing >> pid & 1);
	assert_non_null(rules_find(rules, 2));
	assert_int_equal(rules_find(rules, 3)->matched, 2);
	assert_non_null(rules_find(rules, 7));
	assert_int_equal(pid_index_count(rules->index), 3);
	assert_int_equal(rules->ruled[0].count.tasks, 1);
}

/* The bits are others, and whose bits are the same is not told about; counts follow the names. */
FIXTURE_TEST(test_reload)
{
	uint32_t pid;

	take(1, 5, "a");
	take(2, 5, "b");
	take(3, 5, "c");
	set_rule(0, "a", "a*");
	set_rule(1, "c", "c*");
	policy.n_rules = 2;
	rules_set_policy(rules, &policy);
	rules_begin_scan(rules);
	assert_false(take(1, 5, "a"));
	assert_true(take(2, 5, "b"));
	assert_int_equal(matched, 0);
	assert_true(take(3, 5, "c"));
	assert_int_equal(matched, 2);
	assert_false(rules_pop_missing(rules, &pid));
	assert_int_equal(rules->ruled[0].count.matches, 1);
	assert_int_equal(rules->ruled[1].count.matches, 1);
	assert_int_equal(rules->ruled[1].count.tasks, 1);

	policy.n_rules = 0;
	rules_set_policy(rules, &policy);
	rules_begin_scan(rules);
	assert_true(rules_pop_missing(rules, &pid));
	assert_true(rules_pop_missing(rules, &pid));
	assert_false(rules_pop_missing(rules, &pid));
	assert_int_equal(pid_index_count(rules->index), 0);
}

/* Of rule 0: the fact of each condition that is shown, what was found, and what is wanted. */
static void assert_explains(const struct task_facts *facts, bool expected, const char *conditions)
{
	struct rules_explanation why;
	struct match_shown shown;
	char text[256] = "";

	rules_explain(rules, 0, facts, &why);
	assert_int_equal(why.matches, expected);
	assert_int_equal(why.is_met && why.holds, expected);
	for (; why.keys; why.keys &= why.keys - 1) {
		rules_show(rules, 0, why.keys & -why.keys, facts, &shown);
		sprintf(text + strlen(text), "%s: %s (%s = %s) ", shown.fact,
			shown.found	? shown.found
			: shown.unknown ? shown.unknown
					: "none",
			shown.key, shown.wanted);
	}
	assert_string_equal(text, conditions);
}

FIXTURE_TEST(test_explains)
{
	struct task_facts facts = make_task((uint32_t)getpid(), 5, "abc");

	facts.nice = 3;
	policy.rules[0].match.given |= POLICY_MATCH_NICE;
	policy.rules[0].match.nice.most = 4;
	rules_set_policy(rules, &policy);
	assert_explains(&facts, true, "comm: abc (comm = a*) nice: 3 (nice = 0..4) ");
	facts.nice = -1;
	assert_explains(&facts, false, "nice: -1 (nice = 0..4) ");
	policy.rules[0].match.given = 0;
	assert_explains(&facts, true, "");
	policy.rules[0].match.given = POLICY_MATCH_KERNEL_THREAD;
	policy.rules[0].match.kernel_thread = true;
	assert_explains(&facts, false, "kernel-thread: no (kernel-thread = yes) ");
}

/* Of the processes in test_texts one is known, and of another nothing is. */
static void read_process(void *userdata, uint32_t tgid, struct process_facts *ret)
{
	*ret = (struct process_facts){ .exe = "/usr/bin/fio", .command = "fio job" };
	if (tgid != 1)
		ret->exe_unknown = ret->command_unknown = "it is far away";
}

/* What is not known is told apart from what is not there, and matches nothing. */
FIXTURE_TEST(test_texts)
{
	struct task_facts facts = make_task(1, 5, "x");
	struct rules_task task;

	rules_free(rules);
	rules = rules_new(16, read_process, NULL);
	policy_init(&policy);
	set_rule(0, "exe", "");
	set_rule(1, "command", "");
	policy.rules[0].match = (struct policy_match){ .given = POLICY_MATCH_EXE, .exe = "*/fio" };
	policy.rules[1].match = (struct policy_match){ .given = POLICY_MATCH_COMMAND,
						       .command = "fio *" };
	rules_set_policy(rules, &policy);
	assert_true(rules_update(rules, &facts, &task));
	assert_int_equal(task.matched, 3);
	assert_explains(&facts, true, "exe: /usr/bin/fio (exe = */fio) ");
	facts = make_task(2, 5, "x");
	assert_false(rules_update(rules, &facts, &task));
	assert_explains(&facts, false, "exe: it is far away (exe = */fio) ");
	facts.kernel_thread = true;
	assert_explains(&facts, false, "exe: none (exe = */fio) ");
}

static void override(uint32_t id, uint32_t pid, bool children, const char *rule)
{
	struct policy_rule *override = &policy.rules[POLICY_RULES_MAX - ++policy.n_overrides];

	*override = (struct policy_rule){
		.override = { .id = id, .pid = pid, .start_ns = 5, .children = children },
	};
	snprintf(override->name, sizeof(override->name), "override-%u", id);
	snprintf(override->override.rule, sizeof(override->override.rule), "%s", rule);
}

static uint64_t matched_of(struct task_facts facts)
{
	struct rules_task task;

	rules_update(rules, &facts, &task);
	return task.matched;
}

/* Bits 63, 62 and 61: of process 7, of process 8 and what it starts, of rule b. */
FIXTURE_TEST(test_overrides)
{
	const uint64_t process = 1ULL << 63, family = 1ULL << 62, ruled = 1ULL << 61;

	override(1, 7, false, "");
	override(2, 8, true, "");
	override(3, 0, false, "b");
	rules_set_policy(rules, &policy);
	assert_true(matched_of(make_task(7, 5, "x")) == process);
	assert_true(matched_of(make_task(8, 5, "x")) == family);
	assert_true(matched_of(make_task(9, 5, "ab")) == (ruled | 3));
	assert_true(matched_of(make_task(10, 5, "x")) == 0);

	/* Threads belong to both; children, and theirs, to the second. */
	assert_true(matched_of((struct task_facts){ 70, .tgid = 7 }) == process);
	assert_true(matched_of((struct task_facts){ 71, .tgid = 71, .parent = 7 }) == 0);
	assert_true(matched_of((struct task_facts){ 80, .tgid = 80, .start_ns = 6, .parent = 8 }) ==
		    family);
	assert_true(matched_of((struct task_facts){ 81, .tgid = 81, .parent = 80 }) == family);
	assert_true(matched_of((struct task_facts){ 82, .tgid = 80 }) == family);
	/* Its parent is gone, and it is what it was; another with its number is not. */
	assert_true(rules_end(rules, 8));
	assert_true(matched_of((struct task_facts){ 80, .tgid = 80, .start_ns = 6, .parent = 1 }) ==
		    family);
	assert_true(matched_of((struct task_facts){ 80, .tgid = 80, .start_ns = 7, .parent = 1 }) ==
		    0);
	/* Neither is one with the number of the first. */
	assert_true(matched_of(make_task(7, 6, "x")) == 0);
}

/* What a task belongs to it does under other numbers as well. */
FIXTURE_TEST(test_override_that_move)
{
	struct task_facts child = { 80, .tgid = 80, .parent = 8 };

	override(1, 7, false, "");
	override(2, 8, true, "");
	rules_set_policy(rules, &policy);
	matched_of(make_task(8, 5, "x"));
	assert_true(matched_of(child) == 1ULL << 62);
	policy.n_overrides = 0;
	override(2, 8, true, "");
	rules_set_policy(rules, &policy);
	child.parent = 1;
	assert_true(matched_of(child) == 1ULL << 63);
	assert_int_equal(rules->ruled[63].count.tasks, 2);
}

/* Rule a holds while rule c has a task; who had it has it no more after the next look. */
FIXTURE_TEST(test_conditions)
{
	strcpy(policy.rules[0].when, "c");
	policy.rules[2].is_condition = true;
	rules_set_policy(rules, &policy);
	assert_true(matched_of(make_task(1, 5, "ab")) == 2);
	assert_explains(&(struct task_facts){ 1, .tgid = 1, .start_ns = 5, .comm = "a" }, false,
			"comm: a (comm = a*) ");
	assert_false(rules_pop_conditions(rules));
	assert_true(matched_of(make_task(2, 5, "c")) == 4);
	assert_true(rules_pop_conditions(rules));
	assert_true(matched_of(make_task(3, 5, "c")) == 4);
	assert_false(rules_pop_conditions(rules));
	assert_true(matched_of(make_task(1, 5, "ab")) == 3);
	assert_true(rules_end(rules, 2));
	assert_false(rules_pop_conditions(rules));
	assert_true(rules_end(rules, 3));
	assert_true(rules_pop_conditions(rules));
	assert_true(matched_of(make_task(1, 5, "ab")) == 2);
}

/* Process 7, of user 1, hinted by that user to be of a class; since 4. */
static struct hint *hint(const char *class, bool children)
{
	struct hint hint = {
		.pid = 7,
		.children = children,
		.uid = 1,
		.start_ns = 3,
		.since_ns = 4,
		.end_ns = UINT64_MAX,
	};
	struct hint *added;

	strcpy(hint.class, class);
	added = hints_add(rules->hints, &hint);
	assert_non_null(added);
	assert_true(hints_fill(rules->hints, &policy));
	rules_set_policy(rules, &policy);
	return added;
}

static struct task_facts of_user(uint32_t pid, uint32_t parent, uint64_t start_ns, uint32_t uid)
{
	return (struct task_facts){
		.pid = pid, .tgid = pid, .parent = parent, .start_ns = start_ns, .uid = uid
	};
}

/* Bit 3: behind the rules a, b and c. */
FIXTURE_TEST(test_hints)
{
	struct hint *given = hint("background", true);
	const struct task_facts process = of_user(7, 1, 3, 1);

	assert_string_equal(policy.rules[3].name, "hint/background");
	assert_true(matched_of(process) == 8);
	assert_true(matched_of((struct task_facts){ 70, .tgid = 7, .uid = 1 }) == 8);
	assert_true(matched_of(of_user(71, 7, 5, 1)) == 8);
	assert_true(matched_of(of_user(72, 71, 6, 1)) == 8);
	/* Of before; of another user; of another process with the number. */
	assert_true(matched_of(of_user(73, 7, 3, 1)) == 0);
	assert_true(matched_of(of_user(74, 7, 5, 0)) == 0);
	/* A thread goes by its process, and not by who started that. */
	assert_true(matched_of((struct task_facts){ 75, .tgid = 73, .parent = 7, .start_ns = 5,
						    .uid = 1 }) == 0);
	assert_int_equal(given->n_tasks, 4);
	/* It goes on when its first process ends, and ends with the last. */
	assert_true(rules_end(rules, 7) && rules_end(rules, 70) && rules_end(rules, 71));
	assert_true(matched_of(of_user(7, 1, 9, 1)) == 0);
	assert_true(matched_of(of_user(72, 1, 6, 1)) == 8);
	assert_false(rules->hints->has_unused);
	assert_true(rules_end(rules, 72));
	assert_true(rules->hints->has_unused);
	assert_int_equal(given->n_tasks, 0);
}

/*
 * A process that inherited a hint has it after a restart, though who gave it is gone: also where a
 * rule of the policy has found it before. Another task with its number has not.
 */
FIXTURE_TEST(test_heirs)
{
	struct hint *given = hint("background", true);
	struct task_facts ruled = make_task(90, 5, "ab"), other = make_task(91, 5, "ab");
	uint64_t by_rules;

	given->any_user = true;
	by_rules = matched_of(ruled);
	assert_true(by_rules && !(by_rules & 8));
	assert_true(matched_of(other) == by_rules);
	rules_add_heir(rules, 90, ruled.start_ns, given);
	rules_add_heir(rules, 91, other.start_ns + 1, given);
	rules_add_heir(rules, 92, 5, given);
	assert_true(matched_of(ruled) == (by_rules | 8));
	assert_true(matched_of(other) == by_rules);
	assert_true(matched_of(of_user(92, 1, 5, 1)) == 8);
}

/* One that changes or ends is told of each task that has it, once. */
FIXTURE_TEST(test_hints_that_change)
{
	struct hint *given = hint("background", true);
	struct rules_task task;
	uint32_t place = 0;

	assert_true(matched_of(of_user(7, 1, 3, 1)) == 8);
	assert_true(matched_of(of_user(71, 7, 5, 1)) == 8);
	assert_false(rules_next_rehinted(rules, &place, &task));
	hints_remove(rules->hints, given);
	place = 0;
	for (uint32_t pid = 7; pid <= 71; pid += 64) {
		assert_true(rules_next_rehinted(rules, &place, &task));
		assert_int_equal(task.pid, pid);
		assert_true(task.before == 8 && task.matched == 0);
	}
	assert_false(rules_next_rehinted(rules, &place, &task));
	assert_null(rules_find(rules, 7));
	/* Its rule goes with it, and rules of the policy stay. */
	assert_true(hints_fill(rules->hints, &policy));
	assert_int_equal(policy.n_rules, 3);
	assert_false(hints_fill(rules->hints, &policy));
}

/*
 * Users' hints take half of the table at most, and one user's no more than leave as many; rules of
 * the policy take all of it.
 */
FIXTURE_TEST(test_hints_leave_room)
{
	struct hint *given;
	struct hint other = { .pid = 6,
			      .uid = 2,
			      .by_uid = 2,
			      .start_ns = 3,
			      .since_ns = 4,
			      .children = true,
			      .class = "background" };
	struct task_facts heir = of_user(7, 1, 3, 1);

	make_rules(8);
	given = hint("background", true);
	for (uint32_t i = 0; i < 6; i++, heir = of_user(80 + i, 7, 5, 1))
		assert_true(matched_of(heir) == (i < 2 ? 8 : 0));
	assert_int_equal(given->n_tasks, 2);
	assert_int_equal(rules->hints->refused, 4);
	assert_non_null(hints_add(rules->hints, &other));
	heir = of_user(6, 1, 3, 2);
	for (uint32_t i = 0; i < 3; i++, heir = of_user(70 + i, 6, 5, 2))
		assert_true(matched_of(heir) == (i < 1 ? 8 : 0));
	/* What ends makes room again. */
	assert_true(rules_end(rules, 81));
	assert_true(matched_of(of_user(80, 7, 5, 1)) == 8);
	assert_true(matched_of(make_task(90, 5, "ab")) == 3);
	given->any_user = true;
	assert_true(matched_of(of_user(91, 7, 5, 1)) == 8);
}

/* The class that came first keeps its place where there is no room for two. */
FIXTURE_TEST(test_hints_without_room)
{
	struct hint other = { .pid = 8, .class = "tail-latency" };

	policy.n_overrides = POLICY_RULES_MAX - 4;
	hint("background", true);
	assert_non_null(hints_add(rules->hints, &other));
	assert_false(hints_fill(rules->hints, &policy));
	assert_int_equal(hints_rule(&policy, "background"), 3);
	assert_int_equal(hints_rule(&policy, "tail-latency"), -1);
}

/* Ids are nobody's after theirs; the table refuses, and throws nobody out. */
TEST(test_hint_table)
{
	struct hints *hints = hints_new();
	struct hint *first, *second = NULL;
	uint64_t id;

	first = hints_add(hints, &(struct hint){ .pid = 5, .by_uid = 9 });
	id = first->id;
	assert_ptr_equal(hints_find_id(hints, id), first);
	assert_int_equal(hints_count_of(hints, 9), 1);
	hints_remove(hints, first);
	assert_null(hints_find_id(hints, id));
	assert_null(hints_find_id(hints, 0));
	for (uint32_t pid = 1; pid <= HINTS_MAX; pid++) {
		second = hints_add(hints, &(struct hint){ .pid = pid });
		assert_non_null(second);
		assert_int_not_equal(second->id, id);
	}
	assert_null(hints_add(hints, &(struct hint){ .pid = HINTS_MAX + 1 }));
	assert_int_equal(pid_index_count(hints->index), HINTS_MAX);
	hints_free(hints);
}
