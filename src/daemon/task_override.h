/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Adds and ends overrides of tasks and rules (task_override_table.h is the table): each change is a
 * change of the policy in force. An override ends at its time, with its task, or by a reload
 * without its rule.
 */

#include "daemon/overrides.h"

struct manager;

/*
 * Adds an override with this id. Returns 0; -ESRCH: no such task; -ENOENT: no such rule; -ENOSPC,
 * with the maximum in *ret_max; -EINVAL, with the invalid parameter in *ret_wrong.
 */
int task_override_add(struct manager *manager, const struct override_request *request, uint32_t id,
		      uint32_t *ret_max, const char **ret_wrong);
/* Ends the override with this id; returns whether there was one. */
bool task_override_cancel(struct manager *manager, uint32_t id);

/* Ends the overrides whose time or task has ended; call it at task_overrides_next_ns(). */
void task_override_end_over(struct manager *manager);
