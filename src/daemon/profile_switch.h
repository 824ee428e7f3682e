/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Goes over to another profile when a client says so, or what a condition is about changes. */

#include "daemon/state.h"

/* Listens for what conditions are about; harmless to call again. Returns 0 or a negative errno. */
int profile_switch_listen(struct manager *manager);

/* After events of tasks: those of a rule may be others. */
void profile_switch_mind_rules(struct manager *manager);

/*
 * From now on this one, or with NULL as conditions say. Returns 0; -ENOENT: there is none of that
 * name.
 */
int profile_switch_choose(struct manager *manager, const char *name);

/* While the channel manager->profile.hold is heard. Returns as above, or another negative errno. */
int profile_switch_hold(struct manager *manager, const char *name);

void profile_switch_deinit(struct manager *manager);
