/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Overrides of tasks and of rules as the manager handles them (task_override_table.h is the table):
 * a change of one is a change of the policy in force. What ends one is its time, the end of its
 * task, or a reload after which there is no such rule.
 */

#include "daemon/overrides.h"

struct manager;

/*
 * Takes one with this id. 0; -ESRCH: there is no such task; -ENOENT: there is no such rule;
 * -ENOSPC, and *ret_max: so many is as many as can be; -EINVAL, and
 * *ret_wrong: this parameter cannot be.
 */
int task_override_add(struct manager *manager, const struct override_request *request, uint32_t id,
		      uint32_t *ret_max, const char **ret_wrong);
/* Returns whether there was one with this id. */
bool task_override_cancel(struct manager *manager, uint32_t id);

/* Ends those whose time or task is over, when task_overrides_next_ns() has come. */
void task_override_end_over(struct manager *manager);
