// SPDX-License-Identifier: GPL-2.0-only
/* Matches the facts of new and changed tasks with rules, and passes the matches to the engine. */
#include "daemon/rule_tracking.h"

#include <errno.h>
#include <string.h>

#include "config/load.h"
#include "core/rule.h"
#include "daemon/loop.h"
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
/*
 * A child under its parent's rules that ends within this time is not looked at. With half the time
 * a child of 20 ms costs the daemon what any other does; with twice the time, a task could have I/O
 * for long enough to be boosted before its rules are known.
 */
#define CHILD_WAIT_NS  (40 * NS_PER_MS)
#define CHANGES_UNSEEN (POLICY_MATCH_USER | POLICY_MATCH_NICE | POLICY_MATCH_SCHEDULER)

static void warn(void *userdata, const char *line)
{
	log_warning("%s", line);
}

void rule_tracking_check_policy(struct core *core)
{
	policy_machine_check(&core->policy, core->topology, warn, NULL);
	rules_check(&core->policy, core->topology, warn, NULL);
}

/* Warns once per pair of rules. */
static void warn_of_crossing(struct core *core, uint64_t matched)
{
	const struct policy_rule *rules = core->policy.rules;
	uint32_t cap;
	int floor = rules_find_crossed(&core->policy, core->topology, matched, &cap);

	if (floor < 0 || core->tracking.crossed[cap] >> floor & 1)
		return;
	core->tracking.crossed[cap] |= 1ULL << floor;
	log_warning("%s:%u: [rule %s] for tasks that [rule %s] (%s:%u) caps as well its floor is "
		    "above the cap: the cap wins",
		    rules[floor].file, rules[floor].line, rules[floor].name, rules[cap].name,
		    rules[cap].file, rules[cap].line);
}

static void pass_to_engine(struct core *core, const struct rules_task *task, const char *comm)
{
	struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_TASK_RULES,
		.task_rules = { .pid = task->pid, .tgid = task->tgid, .matched = task->matched },
	};

	strncpy(input.task_rules.comm, comm, sizeof(input.task_rules.comm) - 1);
	engine_apply(core->engine, &input);
}

/* Plans a scan, unless an earlier one is planned. */
static void plan_scan(struct core *core, uint64_t delay_ns)
{
	uint64_t at_ns = time_now_ns() + delay_ns;

	if (at_ns < core->tracking.scanned_ns + SCAN_GAP_NS)
		at_ns = core->tracking.scanned_ns + SCAN_GAP_NS;
	if (at_ns < core->tracking.scan_due_ns)
		core->tracking.scan_due_ns = at_ns;
}

static void on_facts(void *userdata, const struct task_facts *facts)
{
	struct core *core = userdata;
	struct rules_task task;
	bool changed = rules_update(core->rules, facts, &task);

	modules_call(core, task_seen, facts);
	if (!changed)
		return;
	if (!task.matched != !task.before)
		tracer_mark_task(core->tracer, task.pid, task.matched);
	/* The end of a task before its mark is set is not reported: only a scan finds it. */
	if (task.matched && !task.before)
		plan_scan(core, SECOND_LOOK_NS);
	pass_to_engine(core, &task, facts->comm);
	warn_of_crossing(core, task.matched);
}

static void end_task(struct core *core, uint32_t pid)
{
	const struct rules_task ended = { .pid = pid };

	pass_to_engine(core, &ended, "");
	modules_call(core, task_ended, pid);
}

void rule_tracking_scan(struct core *core)
{
	uint32_t pid;
	int r = 0;

	core->tracking.scanned_ns = time_now_ns();
	core->tracking.scan_lost = tracer_lost_changes(core->tracer);
	rules_begin_scan(core->rules);
	r = tracer_scan_tasks(core->tracer, on_facts, core);
	while (r == 0 && rules_pop_missing(core->rules, &pid)) {
		tracer_mark_task(core->tracer, pid, false);
		end_task(core, pid);
	}
	modules_call(core, scan_ended, r < 0 ? SCAN_FAILED : SCAN_DONE);
	if (r < 0 && !core->tracking.scan_failed)
		log_warning("cannot list the existing tasks, so rules apply to new ones only: "
			    "%s",
			    strerror(-r));
	core->tracking.scan_failed = r < 0;
	/* Tasks that were taken before the first task of a condition's rule are taken again. */
	if (rules_pop_conditions(core->rules))
		plan_scan(core, 0);
}

void rule_tracking_set_policy(struct core *core)
{
	struct tracer_follow follow = {
		.tasks = rule_all(&core->policy),
		.execs = core->policy.n_rules && !core->policy.rules[0].is_hint,
	};
	struct policy_io_boost io_boost = core->policy.io_boost;
	uint32_t keys;

	io_boost.enabled |= rule_any_gives(&core->policy, RULE_IO_BOOST);
	tracer_set_policy(core->tracer, &io_boost);
	memset(core->tracking.crossed, 0, sizeof(core->tracking.crossed));
	rules_set_policy(core->rules, &core->policy);
	modules_call(core, rules_changed);
	keys = rules_keys(core->rules);
	follow.renames = keys & POLICY_MATCH_COMM;
	follow.cgroups = keys & (POLICY_MATCH_CGROUP | POLICY_MATCH_UNIT | POLICY_MATCH_USER_UNIT);
	follow.exes = keys & POLICY_MATCH_EXE;
	follow.commands = keys & POLICY_MATCH_COMMAND;
	tracer_follow_tasks(core->tracer, &follow);
	if (rule_all(&core->policy) || pid_index_count(core->rules->index))
		rule_tracking_scan(core);
	else
		modules_call(core, scan_ended, SCAN_NOT_NEEDED);
	if (keys & CHANGES_UNSEEN)
		plan_scan(core, SECOND_LOOK_NS);
}

static void read_process(void *userdata, uint32_t tgid, struct process_facts *ret)
{
	struct core *core = userdata;

	tracer_read_process(core->tracer, tgid, ret);
}

static int start(void *state)
{
	struct rule_tracking *tracking = state;
	struct core *core = tracking->core;

	tracking->scan_due_ns = UINT64_MAX;
	tracking->children_due_ns = UINT64_MAX;
	core->rules = rules_new(core->policy.max_ruled_tasks, read_process, core);
	if (!core->rules) {
		log_error("out of memory for %u tasks that match rules: lower "
			  "max-ruled-tasks in the policy",
			  core->policy.max_ruled_tasks);
		return -ENOMEM;
	}
	rule_tracking_check_policy(core);
	rule_tracking_set_policy(core);
	return 0;
}

void rule_tracking_report_children(struct core *core, uint32_t pid)
{
	tracer_report_children(core->tracer, pid, UINT64_MAX, inputs_on_event, core);
}

void rule_tracking_update_task(struct core *core, const struct task_facts *facts)
{
	rules_expect_change(core->rules);
	on_facts(core, facts);
}

void rule_tracking_update_process(struct core *core, uint32_t tgid)
{
	rules_expect_change(core->rules);
	tracer_scan_process(core->tracer, tgid, on_facts, core);
}

void rule_tracking_rehint(struct core *core)
{
	const struct task_table *tasks = engine_tasks(core->engine);
	const struct task *known;
	struct rules_task task;
	uint32_t place = 0;

	while (rules_next_rehinted(core->rules, &place, &task)) {
		known = task_find(tasks, task.pid);
		if (!task.matched)
			tracer_mark_task(core->tracer, task.pid, false);
		pass_to_engine(core, &task, known ? known->comm : "");
		modules_call(core, task_rehinted, task.pid);
	}
}

void rule_tracking_check_scan(struct core *core)
{
	core->tracking.looked_ns = time_now_ns();
	/* Also without rules: what ended may have had clamps of its own, or run beside capped
	 * tasks. */
	if (tracer_lost_changes(core->tracer) != core->tracking.scan_lost)
		plan_scan(core, 0);
	if (rules_pop_conditions(core->rules))
		plan_scan(core, 0);
}

static void on_event(void *state, const struct wakegov_record *record, uint64_t now_ns)
{
	struct core *core = ((struct rule_tracking *)state)->core;

	switch (record->type) {
	case WAKEGOV_RECORD_FACTS:
		rule_tracking_update_task(core, wakegov_record_facts(record));
		if (rules_keys(core->rules) & CHANGES_UNSEEN)
			plan_scan(core, SECOND_LOOK_NS);
		break;
	case WAKEGOV_RECORD_CHILDREN:
		/* Others may wait already. */
		if (now_ns + CHILD_WAIT_NS < core->tracking.children_due_ns)
			core->tracking.children_due_ns = now_ns + CHILD_WAIT_NS;
		break;
	case WAKEGOV_RECORD_GONE:
		rule_tracking_report_children(core, record->pid);
		if (!rules_end(core->rules, record->pid))
			break;
		/* A mark that was sent after the end stays. */
		tracer_mark_task(core->tracer, record->pid, false);
		end_task(core, record->pid);
		break;
	case WAKEGOV_RECORD_SCAN:
		plan_scan(core, 0);
		break;
	default:
		break;
	}
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	const struct rule_tracking *tracking = state;
	const struct core *core = tracking->core;
	bool any = task_count(engine_tasks(core->engine)) || pid_index_count(core->rules->index);
	uint64_t look_ns = any ? tracking->looked_ns + SKIPPED_LOOK_NS : UINT64_MAX;

	if (tracking->children_due_ns < look_ns)
		look_ns = tracking->children_due_ns;
	return tracking->scan_due_ns < look_ns ? tracking->scan_due_ns : look_ns;
}

static void expire(void *state, uint64_t now_ns)
{
	struct rule_tracking *tracking = state;
	struct core *core = tracking->core;
	uint64_t oldest_ns;

	/* Those children are reported that have waited for long enough. */
	if (now_ns >= tracking->children_due_ns) {
		oldest_ns = tracer_report_children(core->tracer, 0, now_ns - CHILD_WAIT_NS,
						   inputs_on_event, core);
		tracking->children_due_ns = oldest_ns == UINT64_MAX ? oldest_ns
								    : oldest_ns + CHILD_WAIT_NS;
	}
	if (now_ns >= next_ns(state, now_ns))
		rule_tracking_check_scan(core);
	if (now_ns < tracking->scan_due_ns)
		return;
	tracking->scan_due_ns = UINT64_MAX;
	/* Records in the ring are older than what the scan finds: they go first. */
	tracer_consume(core->tracer, inputs_on_event, core);
	rule_tracking_scan(core);
}

static void free_rules(void *state)
{
	rules_free(((struct rule_tracking *)state)->core->rules);
}

const struct module rule_tracking_module = {
	.name = "rules",
	.start = start,
	.free = free_rules,
	.on_event = on_event,
	.expire = expire,
	.next_ns = next_ns,
};
