// SPDX-License-Identifier: GPL-2.0-only
#include "grouping.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "actuator/uclamp_groups.h"
#include "core/clamp_set.h"
#include "manager_private.h"
#include "rules/cgroups.h"
#include "ruling.h"
#include "shared/log.h"
#include "takeover.h"

static uint64_t *bits_of(struct grouped *grouped, enum uclamp_group_end end)
{
	return end == UCLAMP_GROUP_MAX ? &grouped->caps : &grouped->floors;
}

/* From now on each of its tasks carries it. */
__attribute__((format(printf, 4, 5))) static void fall_back(struct manager *manager, uint32_t i,
							    enum uclamp_group_end end,
							    const char *format, ...)
{
	struct grouping *grouping = &manager->grouping;
	const struct policy_rule *rule = &manager->policy.rules[i];
	const char *property = end == UCLAMP_GROUP_MAX ? "cap" : "floor";
	size_t length = strlen(grouping->why_not[i]);
	char why[GROUPING_WHY_SIZE / 2];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	snprintf(grouping->why_not[i] + length, GROUPING_WHY_SIZE - length, "%s%s: %s",
		 length ? "; " : "", property, why);
	*bits_of(&grouping->by, end) &= ~(1ULL << i);
	uclamp_groups_drop(manager->groups, end, i);
	grouping->regiven = true;
	log_notice("%s:%u: [rule %s] its %s is given to each task, not to the cgroup: %s",
		   rule->file, rule->line, rule->name, property, why);
}

static void explain_failure(struct manager *manager, uint32_t rule, enum uclamp_group_end end,
			    const char *cgroup, int error)
{
	const char *file = uclamp_group_file(end);

	if (error == -EOPNOTSUPP)
		fall_back(manager, rule, end,
			  "%s has no %s: give it a CPUWeight= to switch the cpu controller on; see "
			  "wakegovctl doctor",
			  cgroup, file);
	else if (error == -ERANGE)
		fall_back(manager, rule, end, "the cgroups above %s have a lower %s", cgroup, file);
	else if (error == -ESTALE)
		fall_back(manager, rule, end, "%s of %s does not hold what is written", file,
			  cgroup);
	else if (error == -EROFS || error == -EACCES)
		fall_back(manager, rule, end,
			  "%s cannot be written: the unit needs ProtectControlGroups=no", cgroup);
	else
		fall_back(manager, rule, end, "%s of %s: %s", file, cgroup, strerror(-error));
}

static void give(struct manager *manager, uint32_t rule, enum uclamp_group_end end, uint32_t cap,
		 const char *path)
{
	size_t length = grouped_length(&manager->policy.rules[rule].match, path);
	char cgroup[PATH_MAX];
	int r;

	/* Its task was moved since. */
	if (!length)
		return;
	if (length == 1) {
		fall_back(manager, rule, end, "it is for the root cgroup too, which has no clamps");
		return;
	}
	if (end == UCLAMP_GROUP_MIN && path[length]) {
		fall_back(manager, rule, end,
			  "%.*s has others below it, which a floor does not reach", (int)length,
			  path);
		return;
	}
	snprintf(cgroup, sizeof(cgroup), "%s%.*s", cgroups_mount(), (int)length, path);
	r = uclamp_groups_set(manager->groups, cgroup, end, cap, rule);
	if (r < 0)
		explain_failure(manager, rule, end, cgroup, r);
	else
		log_debug("%s: %s for %u of 1024: %d", cgroup, uclamp_group_file(end), cap, r);
}

static void give_up_wrong(struct manager *manager, uint64_t matched)
{
	static const char why[] = "another rule gives one of its tasks more freedom";
	const struct grouped wrong = grouped_find_wrong(&manager->grouping.by, &manager->policy,
							manager->topology, matched);

	for (uint32_t i = 0; i < manager->policy.n_rules; i++) {
		if (wrong.caps >> i & 1)
			fall_back(manager, i, UCLAMP_GROUP_MAX, "%s", why);
		if (wrong.floors >> i & 1)
			fall_back(manager, i, UCLAMP_GROUP_MIN, "%s", why);
	}
}

void grouping_mind(struct manager *manager, const struct task_facts *facts, uint64_t matched)
{
	struct grouping *grouping = &manager->grouping;
	struct grouping_seen *seen = &grouping->seen[facts->cgroup_id % GROUPING_SEEN];
	struct set_clamp due;
	const char *path;

	if (!(matched & (grouping->by.caps | grouping->by.floors)) ||
	    (seen->cgroup_id == facts->cgroup_id && seen->matched == matched))
		return;
	path = rules_cgroup_of(manager->rules, facts);
	if (!path)
		return;
	give_up_wrong(manager, matched);
	clamp_of_rules(&manager->policy, matched, manager->topology, &due);
	if (due.cap_rule >= 0 && grouping->by.caps >> due.cap_rule & 1)
		give(manager, due.cap_rule, UCLAMP_GROUP_MAX, due.cap, path);
	if (due.floor_rule >= 0 && grouping->by.floors >> due.floor_rule & 1)
		give(manager, due.floor_rule, UCLAMP_GROUP_MIN, due.floor, path);
	*seen = (struct grouping_seen){ facts->cgroup_id, matched };
}

void grouping_set_policy(struct manager *manager)
{
	struct grouping *grouping = &manager->grouping;

	*grouping = (struct grouping){ .active = grouping->active, .regiven = true };
	if (grouping->active && cgroups_mount()[0])
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

void grouping_spare_task(const struct manager *manager, struct task_clamp *clamp)
{
	const struct grouped *by = &manager->grouping.by;

	if (clamp->max_why == CLAMP_RULE && by->caps >> clamp->max_rule & 1)
		clamp->max_cap = CLAMP_MAX_NONE;
	if (clamp->min_why == CLAMP_RULE && by->floors >> clamp->min_rule & 1)
		clamp->min_cap = CLAMP_MIN_NONE;
}

static void yield_file(void *userdata, const char *cgroup, enum uclamp_group_end end, uint32_t rule,
		       const char *value)
{
	struct manager *manager = userdata;

	fall_back(manager, rule, end, "somebody set %s of %s to %s, which is left so",
		  uclamp_group_file(end), cgroup, value);
}

static int on_written(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;

	if (uclamp_groups_read(manager->groups, yield_file, manager)) {
		memset(manager->grouping.seen, 0, sizeof(manager->grouping.seen));
		ruling_scan(manager);
	}
	manager_round(manager);
	return 0;
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
	return sd_event_add_io(manager->event, &manager->groups_source,
			       uclamp_groups_fd(manager->groups), EPOLLIN, on_written, manager);
}

void grouping_end(struct manager *manager)
{
	if (!manager->groups)
		return;
	uclamp_groups_release(manager->groups, takeover_report_restore, NULL);
	sd_event_source_unref(manager->groups_source);
	uclamp_groups_free(manager->groups);
}
