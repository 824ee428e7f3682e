// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/clamps.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "actuator/uclamp_groups.h"
#include "core/clamp_class.h"
#include "daemon/journal.h"
#include "daemon/loop.h"
#include "daemon/rule_tracking.h"
#include "shared/log.h"
#include "shared/sysfs.h"

/* The cgroup that a rule names. */
struct group {
	size_t length; /* length of its part of a task's path */
	char directory[PATH_MAX];
};

/* Finds the group of a task in path. False: the task has left it since. */
static bool find_group(const struct policy *policy, uint32_t rule, const char *path,
		       struct group *ret)
{
	ret->length = grouped_length(&policy->rules[rule].match, path);
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
__attribute__((format(printf, 5, 6))) static void leave_out(struct clamps *clamps, uint32_t i,
							    enum uclamp_group_end end,
							    const char *directory,
							    const char *format, ...)
{
	const char *property = end == UCLAMP_GROUP_MAX ? "cap" : "floor";
	const struct policy_rule *rule = &clamps->core->policy.rules[i];
	struct grouping *grouping = &clamps->grouping;
	size_t length = strlen(grouping->why_not[i]);
	uint64_t inode = inode_of(directory);
	char why[GROUPING_WHY_SIZE / 2];
	va_list args;

	if (inode && is_left(grouping, i, end, inode))
		return;
	grouping->reapply = true;
	uclamp_groups_drop(clamps->groups, directory, end, i);
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
	uclamp_groups_drop(clamps->groups, NULL, end, i);
}

static void explain_failure(struct clamps *clamps, uint32_t rule, enum uclamp_group_end end,
			    const char *cgroup, int error)
{
	const char *file = uclamp_group_file(end);

	if (error == -EOPNOTSUPP)
		leave_out(clamps, rule, end, cgroup,
			  "%s has no %s: give it a CPUWeight= to switch the cpu controller on; see "
			  "wakegovctl doctor",
			  cgroup, file);
	else if (error == -ERANGE)
		leave_out(clamps, rule, end, cgroup, "the cgroups above %s have a lower %s", cgroup,
			  file);
	else if (error == -ESTALE)
		leave_out(clamps, rule, end, cgroup, "%s of %s does not hold what is written", file,
			  cgroup);
	else if (error == -EROFS)
		leave_out(clamps, rule, end, cgroup,
			  "%s cannot be written: the unit needs ProtectControlGroups=no", cgroup);
	else
		leave_out(clamps, rule, end, cgroup, "%s of %s: %s", file, cgroup,
			  strerror(-error));
}

static void give(struct clamps *clamps, uint32_t rule, enum uclamp_group_end end, uint32_t cap,
		 const char *path)
{
	struct core *core = clamps->core;
	struct uclamp written;
	struct group group;
	int r;

	if (!find_group(&core->policy, rule, path, &group) ||
	    is_left(&clamps->grouping, rule, end, inode_of(group.directory)))
		return;
	if (group.length == 1) {
		leave_out(clamps, rule, end, group.directory,
			  "it is for the root cgroup too, which has no clamps");
		return;
	}
	if (end == UCLAMP_GROUP_MIN && path[group.length]) {
		leave_out(clamps, rule, end, group.directory,
			  "%.*s has others below it, which a floor does not reach",
			  (int)group.length, path);
		return;
	}
	written = uclamp_less_margin((struct uclamp){ cap, cap }, tracer_clamps_last(core->tracer));
	cap = end == UCLAMP_GROUP_MAX ? written.max_cap : written.min_cap;
	r = uclamp_groups_set(clamps->groups, group.directory, end, cap, rule);
	if (r < 0)
		explain_failure(clamps, rule, end, group.directory, r);
	else
		log_debug("%s: %s for %u of 1024: %d", group.directory, uclamp_group_file(end), cap,
			  r);
}

static void leave_out_wrong(struct clamps *clamps, uint64_t matched, const char *path)
{
	struct core *core = clamps->core;
	static const char why[] = "another rule gives a task of %s more freedom";
	const struct grouped wrong = grouped_find_wrong(&clamps->grouping.by, &core->policy,
							core->topology, matched);

	for (uint64_t bits = wrong.caps | wrong.floors; bits; bits &= bits - 1) {
		uint32_t i = __builtin_ctzll(bits);
		struct group group;

		if (!find_group(&core->policy, i, path, &group))
			continue;
		if (wrong.caps >> i & 1)
			leave_out(clamps, i, UCLAMP_GROUP_MAX, group.directory, why,
				  group.directory);
		if (wrong.floors >> i & 1)
			leave_out(clamps, i, UCLAMP_GROUP_MIN, group.directory, why,
				  group.directory);
	}
}

void grouping_take_task(struct clamps *clamps, const struct rules_task *task)
{
	struct core *core = clamps->core;
	struct grouping *grouping = &clamps->grouping;
	struct grouping_seen *seen = &grouping->seen[task->cgroup_id % GROUPING_SEEN];
	struct class_clamp due;
	const char *path;

	if (!(task->matched & (grouping->by.caps | grouping->by.floors)))
		return;
	/* One of the task's old and new groups may be left out. */
	grouping->reapply |= task->moved && grouping->n_left;
	if (seen->cgroup_id == task->cgroup_id && seen->matched == task->matched)
		return;
	path = rules_cgroup_of(core->rules, task);
	if (!path)
		return;
	leave_out_wrong(clamps, task->matched, path);
	clamp_of_rules(&core->policy, task->matched, 0, core->topology, &due);
	if (due.cap_rule >= 0 && grouping->by.caps >> due.cap_rule & 1)
		give(clamps, due.cap_rule, UCLAMP_GROUP_MAX, due.cap, path);
	if (due.floor_rule >= 0 && grouping->by.floors >> due.floor_rule & 1)
		give(clamps, due.floor_rule, UCLAMP_GROUP_MIN, due.floor, path);
	*seen = (struct grouping_seen){ task->cgroup_id, task->matched };
}

void grouping_set_policy(struct clamps *clamps)
{
	struct core *core = clamps->core;
	struct grouping *grouping = &clamps->grouping;

	*grouping = (struct grouping){ .active = grouping->active, .reapply = true };
	if (grouping->active && sysfs_cgroup_mount()[0])
		grouping->by = grouped_find(&core->policy, core->topology);
	uclamp_groups_begin_claims(clamps->groups);
}

void grouping_follow(struct clamps *clamps)
{
	bool active = engine_clamps_tasks(clamps->core->engine);

	if (active == clamps->grouping.active)
		return;
	clamps->grouping.active = active;
	grouping_set_policy(clamps);
	if (active && (clamps->grouping.by.caps | clamps->grouping.by.floors))
		rule_tracking_scan(clamps->core);
	else
		uclamp_groups_end_claims(clamps->groups);
}

bool grouping_has_rule(const struct clamps *clamps, uint32_t rule)
{
	return uclamp_groups_has_rule(clamps->groups, NULL, UCLAMP_GROUP_MAX, rule) ||
	       uclamp_groups_has_rule(clamps->groups, NULL, UCLAMP_GROUP_MIN, rule);
}

bool grouping_covers(const struct clamps *clamps, uint32_t pid, enum uclamp_group_end end,
		     uint32_t rule)
{
	struct core *core = clamps->core;
	const struct rules_task *task = rules_find(core->rules, pid);
	const char *path = task ? rules_cgroup_of(core->rules, task) : NULL;
	struct group group;

	return path && find_group(&core->policy, rule, path, &group) &&
	       uclamp_groups_has_rule(clamps->groups, group.directory, end, rule);
}

static void yield_file(void *userdata, const char *cgroup, enum uclamp_group_end end, uint32_t rule,
		       const char *value)
{
	struct clamps *clamps = userdata;

	leave_out(clamps, rule, end, cgroup,
		  "another program set %s of %s to %s, and its value stays", uclamp_group_file(end),
		  cgroup, value);
}

/* Another program may have written: then a scan follows. */
static int on_groups(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct clamps *clamps = userdata;

	if (uclamp_groups_read(clamps->groups, yield_file, clamps)) {
		memset(clamps->grouping.seen, 0, sizeof(clamps->grouping.seen));
		rule_tracking_scan(clamps->core);
	}
	round_run(clamps->core);
	return 0;
}

int grouping_start(struct clamps *clamps)
{
	struct core *core = clamps->core;
	int r;

	clamps->groups = uclamp_groups_new(core->options->run_dir);
	if (!clamps->groups) {
		log_error("cannot watch the clamps of cgroups: out of memory, or of inotify "
			  "instances");
		return -ENOMEM;
	}
	clamps->grouping.active = engine_clamps_tasks(core->engine);
	r = sd_event_add_io(core->event, NULL, uclamp_groups_fd(clamps->groups), EPOLLIN, on_groups,
			    clamps);
	return r < 0 ? r : 0;
}

void grouping_release(struct clamps *clamps)
{
	int r;

	if (!clamps->groups)
		return;
	r = uclamp_groups_release(clamps->groups, journal_report_restore, NULL);
	journal_log_left(r, "the clamps of cgroups", clamps->core->options->run_dir, "groups");
}
