// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/rule_tracking.h"

#include <errno.h>
#include <string.h>

#include "config/load.h"
#include "core/rule.h"
#include "daemon/manager.h"
#include "daemon/modules/clamps.h"
#include "daemon/modules/idle_latency.h"
#include "daemon/modules/placing.h"
#include "rules/rules.h"
#include "shared/log.h"
#include "shared/time.h"

/* The least time between two scans of all tasks. */
#define SCAN_GAP_NS (50 * NS_PER_MS)
/*
 * No event reports a change of user, nice value or scheduling policy, nor the end of a task whose
 * mark came too late. Mostly these follow soon after its start, so it is examined again after this
 * time.
 */
#define SECOND_LOOK_NS (1000 * NS_PER_MS)
/*
 * A run of a program that the kernel skips makes no record, so while tasks match this looks for
 * skipped runs. With twice the time an end that was missed is found twice as late.
 */
#define SKIPPED_LOOK_NS (10 * NS_PER_S)
#define CHANGES_UNSEEN	(POLICY_MATCH_USER | POLICY_MATCH_NICE | POLICY_MATCH_SCHEDULER)

static void warn_of_rule(void *userdata, const struct policy_rule *rule, const char *what)
{
	log_warning("%s:%u: [rule %s] %s", rule->file, rule->line, rule->name, what);
}

static void warn_of_policy(void *userdata, const char *line)
{
	log_warning("%s", line);
}

void rule_tracking_check_policy(struct manager *manager)
{
	policy_machine_check(&manager->policy, manager->topology, warn_of_policy, NULL);
	rules_check(&manager->policy, manager->topology, warn_of_rule, NULL);
}

/* Warns once per pair of rules. */
static void warn_of_crossing(struct manager *manager, uint64_t matched)
{
	const struct policy_rule *rules = manager->policy.rules;
	uint32_t cap;
	int floor = rules_find_crossed(&manager->policy, manager->topology, matched, &cap);

	if (floor < 0 || manager->crossed_rules[cap] >> floor & 1)
		return;
	manager->crossed_rules[cap] |= 1ULL << floor;
	log_warning("%s:%u: [rule %s] for tasks that [rule %s] (%s:%u) caps as well its floor is "
		    "above the cap: the cap wins",
		    rules[floor].file, rules[floor].line, rules[floor].name, rules[cap].name,
		    rules[cap].file, rules[cap].line);
}

static void tell_core(struct manager *manager, const struct rules_task *task, const char *comm)
{
	struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_TASK_RULES,
		.task_rules = { .pid = task->pid, .tgid = task->tgid, .matched = task->matched },
	};

	strncpy(input.task_rules.comm, comm, sizeof(input.task_rules.comm) - 1);
	engine_apply(manager->engine, &input);
}

/* Plans a scan, unless an earlier one is planned. */
static void plan_scan(struct manager *manager, uint64_t delay_ns)
{
	uint64_t at_ns = time_now_ns() + delay_ns;

	if (at_ns < manager->scanned_ns + SCAN_GAP_NS)
		at_ns = manager->scanned_ns + SCAN_GAP_NS;
	if (at_ns < manager->scan_due_ns)
		manager->scan_due_ns = at_ns;
}

static void take_facts(void *userdata, const struct task_facts *facts)
{
	struct manager *manager = userdata;
	struct rules_task task;
	bool changed;
	const struct rules_task *known;

	task_overrides_end_task(&manager->task_overrides, facts->pid, facts->start_ns);
	changed = rules_take(manager->rules, facts, &task);
	known = rules_find(manager->rules, facts->pid);
	if (known)
		grouping_take_task(manager, known);
	placing_take_task(manager, facts->pid, facts->tgid, facts->parent);
	idle_latency_take_task(manager, facts->pid);
	if (!changed)
		return;
	if (!task.matched != !task.before)
		tracer_mark_task(manager->tracer, task.pid, task.matched);
	/* The end of a task before its mark is set is not reported: only a scan finds it. */
	if (task.matched && !task.before)
		plan_scan(manager, SECOND_LOOK_NS);
	tell_core(manager, &task, facts->comm);
	warn_of_crossing(manager, task.matched);
}

static void end_task(struct manager *manager, uint32_t pid)
{
	const struct rules_task ended = { .pid = pid };

	task_overrides_end_task(&manager->task_overrides, pid, 0);
	tell_core(manager, &ended, "");
	placing_end_task(manager, pid);
	idle_latency_end_task(manager, pid);
}

void rule_tracking_scan(struct manager *manager)
{
	uint32_t pid;
	int r = 0;

	manager->scanned_ns = time_now_ns();
	manager->scan_lost = tracer_lost_changes(manager->tracer);
	rules_begin_scan(manager->rules);
	r = tracer_scan_tasks(manager->tracer, take_facts, manager);
	grouping_end_scan(manager);
	while (r == 0 && rules_take_missing(manager->rules, &pid)) {
		tracer_mark_task(manager->tracer, pid, false);
		end_task(manager, pid);
	}
	/* With a full table a task that is not in it may still exist. */
	for (uint32_t i = 0; r == 0 && i < manager->task_overrides.n; i++) {
		struct task_override *override = &manager->task_overrides.entries[i];

		if (override->target.pid && !override->ended && !rules_are_full(manager->rules) &&
		    !rules_find(manager->rules, override->target.pid))
			override->ended = TASK_OVERRIDE_TASK_GONE;
	}
	tracer_send_marks(manager->tracer);
	manager_check_clamps(manager, manager->scanned_ns);
	if (r < 0)
		log_warning("cannot list the existing tasks, so rules apply to new ones only: "
			    "%s",
			    strerror(-r));
	/* Tasks that were taken before the first task of a condition's rule are taken again. */
	if (rules_take_conditions(manager->rules))
		plan_scan(manager, 0);
}

void rule_tracking_set_policy(struct manager *manager)
{
	struct tracer_follow follow = {
		.tasks = rule_all(&manager->policy),
		.execs = manager->policy.n_rules && !manager->policy.rules[0].is_hint,
	};
	struct policy_io_boost io_boost = manager->policy.io_boost;
	uint32_t keys;

	io_boost.enabled |= rule_any_gives(&manager->policy, RULE_IO_BOOST);
	tracer_set_policy(manager->tracer, &io_boost);
	memset(manager->crossed_rules, 0, sizeof(manager->crossed_rules));
	rules_set_policy(manager->rules, &manager->policy);
	grouping_set_policy(manager);
	placing_set_policy(manager);
	idle_latency_set_policy(manager);
	keys = rules_keys(manager->rules);
	follow.renames = keys & POLICY_MATCH_COMM;
	follow.cgroups = keys & (POLICY_MATCH_CGROUP | POLICY_MATCH_UNIT | POLICY_MATCH_USER_UNIT);
	follow.exes = keys & POLICY_MATCH_EXE;
	follow.commands = keys & POLICY_MATCH_COMMAND;
	tracer_follow_tasks(manager->tracer, &follow);
	if (rule_all(&manager->policy) || rules_n_tasks(manager->rules))
		rule_tracking_scan(manager);
	else
		grouping_end_scan(manager);
	if (keys & CHANGES_UNSEEN)
		plan_scan(manager, SECOND_LOOK_NS);
}

static void read_process(void *userdata, uint32_t tgid, struct process_facts *ret)
{
	struct manager *manager = userdata;

	tracer_read_process(manager->tracer, tgid, ret);
}

int rule_tracking_start(struct manager *manager)
{
	manager->rules = rules_new(manager->policy.max_ruled_tasks, read_process, manager);
	if (!manager->rules) {
		log_error("out of memory for %u tasks that match rules: lower "
			  "max-ruled-tasks in the policy",
			  manager->policy.max_ruled_tasks);
		return -ENOMEM;
	}
	rule_tracking_check_policy(manager);
	rule_tracking_set_policy(manager);
	return 0;
}

void rule_tracking_look_at(struct manager *manager, const struct task_facts *facts)
{
	rules_expect_change(manager->rules);
	take_facts(manager, facts);
	tracer_send_marks(manager->tracer);
}

void rule_tracking_look_at_process(struct manager *manager, uint32_t tgid)
{
	rules_expect_change(manager->rules);
	tracer_scan_process(manager->tracer, tgid, take_facts, manager);
	tracer_send_marks(manager->tracer);
}

void rule_tracking_rehint(struct manager *manager)
{
	const struct task_table *tasks = engine_tasks(manager->engine);
	const struct task *known;
	struct rules_task task;
	uint32_t place = 0;

	while (rules_next_rehinted(manager->rules, &place, &task)) {
		known = task_find(tasks, task.pid);
		if (!task.matched)
			tracer_mark_task(manager->tracer, task.pid, false);
		tell_core(manager, &task, known ? known->comm : "");
		placing_take_task(manager, task.pid, 0, 0);
		idle_latency_take_task(manager, task.pid);
	}
	tracer_send_marks(manager->tracer);
}

void rule_tracking_take_event(struct manager *manager, const struct tracer_event *event)
{
	if (!manager->rules)
		return;
	switch (event->type) {
	case TRACER_FACTS:
		rule_tracking_look_at(manager, &event->facts);
		if (rules_keys(manager->rules) & CHANGES_UNSEEN)
			plan_scan(manager, SECOND_LOOK_NS);
		break;
	case TRACER_GONE:
		if (!rules_end(manager->rules, event->pid))
			break;
		/* A mark that was sent after the end stays. */
		tracer_mark_task(manager->tracer, event->pid, false);
		end_task(manager, event->pid);
		break;
	default:
		plan_scan(manager, 0);
	}
}

uint64_t rule_tracking_next_ns(const struct manager *manager)
{
	bool any = task_count(engine_tasks(manager->engine)) || rules_n_tasks(manager->rules);
	uint64_t look_ns = any ? manager->looked_ns + SKIPPED_LOOK_NS : UINT64_MAX;

	return manager->scan_due_ns < look_ns ? manager->scan_due_ns : look_ns;
}

void rule_tracking_check_scan(struct manager *manager)
{
	manager->looked_ns = time_now_ns();
	/* Also without rules: what ended may have had clamps of its own, or run beside capped
	 * tasks. */
	if (tracer_lost_changes(manager->tracer) != manager->scan_lost)
		plan_scan(manager, 0);
	if (rules_take_conditions(manager->rules))
		plan_scan(manager, 0);
}
