// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/clamps.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "actuator/uclamp_groups.h"
#include "core/clamp_class.h"
#include "core/rule.h"
#include "daemon/journal.h"
#include "daemon/manager.h"
#include "shared/log.h"
#include "shared/sysfs.h"
#include "shared/time.h"
#include "wakegov/own.h"

/* The cgroup that a rule names. */
struct group {
	size_t length; /* length of its part of a task's path */
	char directory[PATH_MAX];
};

/* Finds the group of a task in path. False: the task has left it since. */
static bool find_group(const struct manager *manager, uint32_t rule, const char *path,
		       struct group *ret)
{
	ret->length = grouped_length(&manager->policy.rules[rule].match, path);
	snprintf(ret->directory, sizeof(ret->directory), "%s%.*s", sysfs_cgroup_mount(),
		 (int)ret->length, path);
	return ret->length > 0;
}

/* The inode of a directory; 0: it is gone, or may not be searched. */
static uint64_t inode_of(const char *directory)
{
	struct stat st;

	return stat(directory, &st) == 0 ? st.st_ino : 0;
}

/* Whether the group is left out for the rule; inode 0: whether any is. */
static bool is_left(const struct grouping *grouping, uint32_t rule, enum uclamp_group_end end,
		    uint64_t inode)
{
	for (uint32_t i = 0; i < grouping->n_left; i++) {
		const struct grouping_left *left = &grouping->left[i];

		if (left->rule == rule && left->end == end && (!inode || left->inode == inode))
			return true;
	}
	return false;
}

/*
 * Leaves a group out: from now on each of its tasks gets the clamp itself. The first group of a
 * rule's cap or floor is logged.
 */
__attribute__((format(printf, 5, 6))) static void leave_out(struct manager *manager, uint32_t i,
							    enum uclamp_group_end end,
							    const char *directory,
							    const char *format, ...)
{
	const char *property = end == UCLAMP_GROUP_MAX ? "cap" : "floor";
	const struct policy_rule *rule = &manager->policy.rules[i];
	struct grouping *grouping = &manager->grouping;
	size_t length = strlen(grouping->why_not[i]);
	uint64_t inode = inode_of(directory);
	char why[GROUPING_WHY_SIZE / 2];
	va_list args;

	if (inode && is_left(grouping, i, end, inode))
		return;
	grouping->reapply = true;
	uclamp_groups_drop(manager->groups, directory, end, i);
	if (!inode)
		return;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (!is_left(grouping, i, end, 0)) {
		snprintf(grouping->why_not[i] + length, GROUPING_WHY_SIZE - length, "%s%s: %s",
			 length ? "; " : "", property, why);
		log_notice("%s:%u: [rule %s] its %s is given to each task, not to the cgroup: %s",
			   rule->file, rule->line, rule->name, property, why);
	}
	if (grouping->n_left < GROUPING_LEFT_MAX) {
		grouping->left[grouping->n_left++] = (struct grouping_left){ i, end, inode };
		return;
	}
	if (end == UCLAMP_GROUP_MAX)
		grouping->by.caps &= ~(1ULL << i);
	else
		grouping->by.floors &= ~(1ULL << i);
	uclamp_groups_drop(manager->groups, NULL, end, i);
}

static void explain_failure(struct manager *manager, uint32_t rule, enum uclamp_group_end end,
			    const char *cgroup, int error)
{
	const char *file = uclamp_group_file(end);

	if (error == -EOPNOTSUPP)
		leave_out(manager, rule, end, cgroup,
			  "%s has no %s: give it a CPUWeight= to switch the cpu controller on; see "
			  "wakegovctl doctor",
			  cgroup, file);
	else if (error == -ERANGE)
		leave_out(manager, rule, end, cgroup, "the cgroups above %s have a lower %s",
			  cgroup, file);
	else if (error == -ESTALE)
		leave_out(manager, rule, end, cgroup, "%s of %s does not hold what is written",
			  file, cgroup);
	else if (error == -EROFS)
		leave_out(manager, rule, end, cgroup,
			  "%s cannot be written: the unit needs ProtectControlGroups=no", cgroup);
	else
		leave_out(manager, rule, end, cgroup, "%s of %s: %s", file, cgroup,
			  strerror(-error));
}

static void give(struct manager *manager, uint32_t rule, enum uclamp_group_end end, uint32_t cap,
		 const char *path)
{
	struct uclamp written;
	struct group group;
	int r;

	if (!find_group(manager, rule, path, &group) ||
	    is_left(&manager->grouping, rule, end, inode_of(group.directory)))
		return;
	if (group.length == 1) {
		leave_out(manager, rule, end, group.directory,
			  "it is for the root cgroup too, which has no clamps");
		return;
	}
	if (end == UCLAMP_GROUP_MIN && path[group.length]) {
		leave_out(manager, rule, end, group.directory,
			  "%.*s has others below it, which a floor does not reach",
			  (int)group.length, path);
		return;
	}
	written = uclamp_less_margin((struct uclamp){ cap, cap },
				     tracer_clamps_last(manager->tracer));
	cap = end == UCLAMP_GROUP_MAX ? written.max_cap : written.min_cap;
	r = uclamp_groups_set(manager->groups, group.directory, end, cap, rule);
	if (r < 0)
		explain_failure(manager, rule, end, group.directory, r);
	else
		log_debug("%s: %s for %u of 1024: %d", group.directory, uclamp_group_file(end), cap,
			  r);
}

static void leave_out_wrong(struct manager *manager, uint64_t matched, const char *path)
{
	static const char why[] = "another rule gives a task of %s more freedom";
	const struct grouped wrong = grouped_find_wrong(&manager->grouping.by, &manager->policy,
							manager->topology, matched);

	for (uint64_t bits = wrong.caps | wrong.floors; bits; bits &= bits - 1) {
		uint32_t i = __builtin_ctzll(bits);
		struct group group;

		if (!find_group(manager, i, path, &group))
			continue;
		if (wrong.caps >> i & 1)
			leave_out(manager, i, UCLAMP_GROUP_MAX, group.directory, why,
				  group.directory);
		if (wrong.floors >> i & 1)
			leave_out(manager, i, UCLAMP_GROUP_MIN, group.directory, why,
				  group.directory);
	}
}

void grouping_take_task(struct manager *manager, const struct rules_task *task)
{
	struct grouping *grouping = &manager->grouping;
	struct grouping_seen *seen = &grouping->seen[task->cgroup_id % GROUPING_SEEN];
	struct class_clamp due;
	const char *path;

	if (!(task->matched & (grouping->by.caps | grouping->by.floors)))
		return;
	/* One of the task's old and new groups may be left out. */
	grouping->reapply |= task->moved && grouping->n_left;
	if (seen->cgroup_id == task->cgroup_id && seen->matched == task->matched)
		return;
	path = rules_cgroup_of(manager->rules, task);
	if (!path)
		return;
	leave_out_wrong(manager, task->matched, path);
	clamp_of_rules(&manager->policy, task->matched, 0, manager->topology, &due);
	if (due.cap_rule >= 0 && grouping->by.caps >> due.cap_rule & 1)
		give(manager, due.cap_rule, UCLAMP_GROUP_MAX, due.cap, path);
	if (due.floor_rule >= 0 && grouping->by.floors >> due.floor_rule & 1)
		give(manager, due.floor_rule, UCLAMP_GROUP_MIN, due.floor, path);
	*seen = (struct grouping_seen){ task->cgroup_id, task->matched };
}

void grouping_set_policy(struct manager *manager)
{
	struct grouping *grouping = &manager->grouping;

	*grouping = (struct grouping){ .active = grouping->active, .reapply = true };
	if (grouping->active && sysfs_cgroup_mount()[0])
		grouping->by = grouped_find(&manager->policy, manager->topology);
	uclamp_groups_begin_claims(manager->groups);
}

void grouping_end_scan(struct manager *manager)
{
	uclamp_groups_end_claims(manager->groups);
}

bool grouping_follow(struct manager *manager)
{
	bool active = engine_clamps_tasks(manager->engine);

	if (active == manager->grouping.active)
		return false;
	manager->grouping.active = active;
	grouping_set_policy(manager);
	if (active && (manager->grouping.by.caps | manager->grouping.by.floors))
		return true;
	grouping_end_scan(manager);
	return false;
}

bool grouping_has_rule(const struct manager *manager, uint32_t rule)
{
	return uclamp_groups_has_rule(manager->groups, NULL, UCLAMP_GROUP_MAX, rule) ||
	       uclamp_groups_has_rule(manager->groups, NULL, UCLAMP_GROUP_MIN, rule);
}

static bool is_covered(const struct manager *manager, uint32_t pid, enum uclamp_group_end end,
		       uint32_t rule)
{
	const struct rules_task *task = rules_find(manager->rules, pid);
	const char *path = task ? rules_cgroup_of(manager->rules, task) : NULL;
	struct group group;

	return path && find_group(manager, rule, path, &group) &&
	       uclamp_groups_has_rule(manager->groups, group.directory, end, rule);
}

static void yield_file(void *userdata, const char *cgroup, enum uclamp_group_end end, uint32_t rule,
		       const char *value)
{
	struct manager *manager = userdata;

	leave_out(manager, rule, end, cgroup,
		  "another program set %s of %s to %s, and its value stays", uclamp_group_file(end),
		  cgroup, value);
}

bool grouping_take_written(struct manager *manager)
{
	if (!uclamp_groups_read(manager->groups, yield_file, manager))
		return false;
	memset(manager->grouping.seen, 0, sizeof(manager->grouping.seen));
	return true;
}

int grouping_start(struct manager *manager)
{
	manager->groups = uclamp_groups_new(manager->options.run_dir);
	if (!manager->groups) {
		log_error("cannot watch the clamps of cgroups: out of memory, or of inotify "
			  "instances");
		return -ENOMEM;
	}
	manager->grouping.active = engine_clamps_tasks(manager->engine);
	return 0;
}

void grouping_end(struct manager *manager)
{
	int r;

	if (!manager->groups)
		return;
	r = uclamp_groups_release(manager->groups, journal_report_restore, NULL);
	journal_log_left(r, "the clamps of cgroups", manager->options.run_dir, "groups");
	uclamp_groups_free(manager->groups);
}

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
	const struct grouped *by = &manager->grouping.by;
	struct uclamp ours;
	int r;

	/* A group's clamp takes the place of the task's. */
	if (clamp->max_why == CLAMP_RULE && by->caps >> clamp->max_rule & 1 &&
	    is_covered(manager, clamp->pid, UCLAMP_GROUP_MAX, clamp->max_rule))
		clamp->max_cap = CLAMP_MAX_NONE;
	if (clamp->min_why == CLAMP_RULE && by->floors >> clamp->min_rule & 1 &&
	    is_covered(manager, clamp->pid, UCLAMP_GROUP_MIN, clamp->min_rule))
		clamp->min_cap = CLAMP_MIN_NONE;
	ours = uclamp_less_margin((struct uclamp){ clamp->min_cap, clamp->max_cap },
				  tracer_clamps_last(manager->tracer));
	r = uclamps_set(manager->clamps, clamp->pid, ours, now_ns);
	if (r < 0)
		warn_of_refusal(manager, clamp, r);
	log_debug("task %u: clamps %u-%u (%s, %s): %d", clamp->pid, clamp->min_cap, clamp->max_cap,
		  clamp_why_name(clamp->min_why), clamp_why_name(clamp->max_why), r);
}

#define INSIST_NS NS_PER_S

/*
 * A task that sets its clamps above its cap twice within this time will do it again, and would run
 * without the cap until it is written again.
 */
static void take_escapes(struct manager *manager, uint64_t now_ns)
{
	struct uclamps_counts counts;

	uclamps_count(manager->clamps, &counts);
	if (counts.escapes == manager->n_escapes)
		return;
	if (!manager->n_escapes)
		log_notice("task %u set its clamps above its cap: the lower one holds, now and "
			   "whenever a task does so; wakegovctl status counts it",
			   counts.escaped);
	if (manager->n_escapes && now_ns < manager->escaped_ns + INSIST_NS)
		manager->insists_until_ns = now_ns + INSIST_NS;
	manager->n_escapes = counts.escapes;
	manager->escaped_ns = now_ns;
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
	take_escapes(manager, now_ns);
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

	struct input beside = { .now_ns = now_ns, .type = INPUT_CO_RUNNER };

	uclamps_check_all(manager->clamps, now_ns);
	while ((task = task_next(tasks, task))) {
		if (!(task->own || task->co_runner_class) || uclamp_read(task->pid, &now) != -ESRCH)
			continue;
		beside.co_runner.pid = task->pid;
		engine_apply(manager->engine, &beside);
		manager_take_own_clamps(manager, task->pid, 0, true, now_ns);
	}
}

void manager_take_child(struct manager *manager, uint32_t parent, uint32_t child)
{
	int r = uclamps_forked(manager->clamps, parent, child);

	if (r < 0)
		log_debug("task %u keeps the clamps that it inherited: %s", child, strerror(-r));
}
