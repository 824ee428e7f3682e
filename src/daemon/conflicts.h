/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Others that move the same knobs, and what was left to them. */

#include "daemon/state.h"

/* Takes domains back that were left to another program; see query_source.adopt. */
int manager_adopt(void *userdata, const char *name, uint32_t *ret_adopted);

/* Looks anew who else moves the same knobs, and logs whom it has not seen before. */
void manager_find_rivals(struct manager *manager);
