/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Others that move the same knobs, and what was left to them. */

#include "daemon/state.h"

/*
 * Takes a domain back that was left to another program, or all (NULL), and says how many. -ENOENT:
 * there is no domain of the name.
 */
int manager_adopt(struct manager *manager, const char *name, uint32_t *ret_adopted);

/* Looks anew who else moves the same knobs, and logs whom it has not seen before. */
void manager_find_rivals(struct manager *manager);
