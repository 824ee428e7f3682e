/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which domains are ours: what the actuator finds out about them goes to the core, the journal and
 * the account. A domain that another program has taken over stays yielded until it is adopted.
 */

#include "daemon/manager.h"

/* Checks whether a domain is still ours and online. */
void domains_verify(struct manager *manager, uint32_t domain);

/* Applies an outcome of the actuator to the state of the domain. */
void domains_take_outcome(struct manager *manager, uint32_t domain, int outcome);

/* Reads scaling_min/max of a domain for the core. Returns 0; -EBUSY: offline; -ENODEV: no driver */
int domains_read_limits(struct manager *manager, uint32_t domain);

/* Sets the policy's energy preference, also after a reload. */
void domains_set_preference(struct manager *manager, uint32_t domain);

/*
 * Takes back a domain that was yielded to another program, or all (NULL), and returns their number.
 * -ENOENT: no domain has the name.
 */
int domains_adopt(struct manager *manager, const char *name, uint32_t *ret_adopted);

/* Looks for other programs that change the same controls, and logs new ones. */
void domains_find_conflicts(struct manager *manager);
