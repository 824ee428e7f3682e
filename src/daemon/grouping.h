/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamps of whole cgroups, where rules/grouped.h allows it, domains are driven by clamps, and the
 * kernel has the files. Groups are found by their tasks: one that comes back is clamped as soon as
 * a task is in it. A group for which it does not work is left out, and its tasks carry the clamp
 * themselves, until the next reload; of each rule's cap and floor that is said for the first one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/clamp.h"

struct manager;
struct rules_task;

/* Opens the lever. Returns 0 or a negative errno. */
int grouping_start(struct manager *manager);
void grouping_end(struct manager *manager);

/* uclamp_groups_fd() is readable: somebody may have written. True: a scan is due. */
bool grouping_take_written(struct manager *manager);

/* The policy is a new one; all tasks are to be minded before grouping_end_scan(). */
void grouping_set_policy(struct manager *manager);
void grouping_end_scan(struct manager *manager);

/* A task, which matches rules: its group is clamped if need be. */
void grouping_mind(struct manager *manager, const struct rules_task *task);

/* Looks whether domains are driven by clamps. True: they are from now on, and a scan is due. */
bool grouping_follow(struct manager *manager);

/* Whether a cgroup carries the rule's cap or floor now. */
bool grouping_carries(const struct manager *manager, uint32_t rule);

/* Takes away from a task's clamp what its group carries for it. */
void grouping_spare_task(const struct manager *manager, struct task_clamp *clamp);
