/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Clamps where the kernel's governor drives: of tasks, and of cgroups where that is right. */

#include "daemon/manager.h"

/* Applies changed clamps to tasks, and restores those of their children. */
void manager_apply_task_clamps(struct manager *manager, uint64_t now_ns);
/* Takes a task's own clamps: own is as in wakegov/own.h, 0 and ended when it has exited. */
void manager_take_own_clamps(struct manager *manager, uint32_t pid, uint32_t own, bool ended,
			     uint64_t now_ns);
/* Checks the clamps of every task: records of changes were lost. */
void manager_check_clamps(struct manager *manager, uint64_t now_ns);
void manager_take_child(struct manager *manager, uint32_t parent, uint32_t child);

/*
 * Clamps of whole cgroups, where rules/cgroups.c allows it, domains are driven by clamps, and the
 * kernel has the files. A group is found by its tasks: a group that is created again is clamped as
 * soon as it has a task. If a group cannot be clamped, its tasks get the clamp themselves until the
 * next reload; this is logged for the first group of each rule's cap and floor.
 */

/* Starts it. Returns 0 or a negative errno. */
int grouping_start(struct manager *manager);
void grouping_end(struct manager *manager);

/*
 * Call this when uclamp_groups_fd() is readable: another program may have written. True: a scan is
 * due.
 */
bool grouping_take_written(struct manager *manager);

/* The policy has changed; pass all tasks to grouping_take_task() before grouping_end_scan(). */
void grouping_set_policy(struct manager *manager);
void grouping_end_scan(struct manager *manager);

/* Takes a task that matches rules: clamps its group if need be. */
void grouping_take_task(struct manager *manager, const struct rules_task *task);

/* Checks whether domains are driven by clamps. True: they are from now on, and a scan is due. */
bool grouping_follow(struct manager *manager);

/* Whether a cgroup has the rule's cap or floor now. */
bool grouping_has_rule(const struct manager *manager, uint32_t rule);
