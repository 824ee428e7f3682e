/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamps of whole cgroups, where rules/grouped.h allows it, domains are driven by clamps, and the
 * kernel has the files. A group is found by its tasks: a group that is created again is clamped as
 * soon as it has a task. If a group cannot be clamped, its tasks get the clamp themselves until the
 * next reload; this is logged for the first group of each rule's cap and floor.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/clamp.h"

struct manager;
struct rules_task;

/* Starts it. Returns 0 or a negative errno. */
int grouping_start(struct manager *manager);
void grouping_end(struct manager *manager);

/*
 * Call this when uclamp_groups_fd() is readable: another program may have written. True: a scan is
 * due.
 */
bool grouping_take_written(struct manager *manager);

/* The policy has changed; pass all tasks to grouping_mind() before grouping_end_scan(). */
void grouping_set_policy(struct manager *manager);
void grouping_end_scan(struct manager *manager);

/* Takes a task that matches rules: clamps its group if need be. */
void grouping_mind(struct manager *manager, const struct rules_task *task);

/* Checks whether domains are driven by clamps. True: they are from now on, and a scan is due. */
bool grouping_follow(struct manager *manager);

/* Whether a cgroup has the rule's cap or floor now. */
bool grouping_carries(const struct manager *manager, uint32_t rule);

/* Removes from a task's clamp what its group's clamp provides. */
void grouping_spare_task(const struct manager *manager, struct task_clamp *clamp);
