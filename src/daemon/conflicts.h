/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Other programs that change the same controls, and the domains that were yielded to them. */

#include "daemon/state.h"

/*
 * Takes back a domain that was yielded to another program, or all (NULL), and returns their number.
 * -ENOENT: no domain has the name.
 */
int manager_adopt(struct manager *manager, const char *name, uint32_t *ret_adopted);

/* Looks for other programs that change the same controls, and logs new ones. */
void manager_find_rivals(struct manager *manager);
