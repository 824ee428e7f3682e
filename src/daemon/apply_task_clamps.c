// SPDX-License-Identifier: GPL-2.0-only
/* Applies the clamps that the core decides to tasks: backend uclamp. */
#include "daemon/clamps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/rule.h"
#include "shared/log.h"
#include "wakegov/own.h"

/*
 * Reports a refusal once per task, see uclamps_set(), with the rule of the clamp. A neighbour's cap
 * has no rule, and its refusal breaks none.
 */
static void warn_of_refusal(const struct manager *manager, const struct task_clamp *clamp,
			    int error)
{
	int32_t index = clamp->max_rule >= 0 ? clamp->max_rule : clamp->min_rule;
	char by[POLICY_FILE_SIZE + POLICY_NAME_SIZE + 32] = "";
	const struct policy_rule *rule;

	if (clamp->max_why == CLAMP_NEIGHBOUR)
		return;
	if (rule_exists(&manager->policy, index)) {
		rule = &manager->policy.rules[index];
		snprintf(by, sizeof(by), "%s:%u: [rule %s]: ", rule->file, rule->line, rule->name);
	}
	log_warning("%stask %u cannot be clamped: %s; it is left as it is%s", by, clamp->pid,
		    strerror(-error),
		    error == -EPERM ? " (CAP_SYS_NICE is needed for other users' tasks)" : "");
}

static void apply_clamp(struct manager *manager, struct task_clamp *clamp, uint64_t now_ns)
{
	struct uclamp ours;
	int r;

	grouping_drop_covered(manager, clamp);
	ours = (struct uclamp){ clamp->min_cap, clamp->max_cap };
	r = uclamps_set(manager->clamps, clamp->pid, ours, now_ns);
	if (r < 0)
		warn_of_refusal(manager, clamp, r);
	log_debug("task %u: clamps %u-%u (%s, %s): %d", clamp->pid, clamp->min_cap, clamp->max_cap,
		  clamp_why_name(clamp->min_why), clamp_why_name(clamp->max_why), r);
}

void manager_apply_task_clamps(struct manager *manager, uint64_t now_ns)
{
	const struct task_table *tasks = engine_tasks(manager->engine);
	const struct task *task = NULL;
	struct task_clamp clamp;

	while (engine_take_clamp(manager->engine, &clamp))
		apply_clamp(manager, &clamp, now_ns);
	/* All again: groups took clamps over from tasks, or tasks from groups. */
	while (manager->grouping.reapply && (task = task_next(tasks, task))) {
		if (!task->clamped)
			continue;
		engine_clamp_of_task(manager->engine, task, &clamp);
		apply_clamp(manager, &clamp, now_ns);
	}
	manager->grouping.reapply = false;
	uclamps_flush(manager->clamps, now_ns);
}

/*
 * Takes own clamps from the kernel side, except for a task with our clamps: there they hide its
 * own.
 */
void manager_take_own_clamps(struct manager *manager, uint32_t pid, uint32_t own, bool ended,
			     uint64_t now_ns)
{
	struct input input = {
		.now_ns = now_ns,
		.type = INPUT_OWN_CLAMPS,
		.own_clamps = { .pid = pid, .own = own },
	};
	struct uclamp before, merged;

	if (!ended)
		uclamps_check(manager->clamps, pid, now_ns);
	if (!ended && uclamps_find(manager->clamps, pid, &before, &merged))
		input.own_clamps.own = wakegov_own(before.min_cap, before.max_cap);
	if (ended || engine_needs_own_clamps(manager->engine))
		engine_apply(manager->engine, &input);
}

void manager_check_clamps(struct manager *manager, uint64_t now_ns)
{
	const struct task_table *tasks = engine_tasks(manager->engine);
	const struct task *task = NULL;
	struct uclamp now;

	uclamps_check_all(manager->clamps, now_ns);
	while ((task = task_next(tasks, task)))
		if (task->own && uclamp_read(task->pid, &now) == -ESRCH)
			manager_take_own_clamps(manager, task->pid, 0, true, now_ns);
}

void manager_take_child(struct manager *manager, uint32_t parent, uint32_t child)
{
	int r = uclamps_forked(manager->clamps, parent, child);

	if (r < 0)
		log_debug("task %u keeps the clamps that it inherited: %s", child, strerror(-r));
}
