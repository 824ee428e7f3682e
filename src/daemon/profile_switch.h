/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Switches to another profile when a client asks for it or a condition changes. */

#include "daemon/state.h"

/* Listens for changes of conditions; may be called again. Returns 0 or a negative errno. */
int profile_switch_listen(struct manager *manager);

/* For the end of events of tasks: a rule may have got its first task or lost its last. */
void profile_switch_mind_rules(struct manager *manager);

/*
 * Chooses a profile, or with NULL lets the conditions decide. Returns 0, or -ENOENT: no profile has
 * the name.
 */
int profile_switch_choose(struct manager *manager, const char *name);

/*
 * Holds a profile while the channel manager->profile.hold has a listener. Returns as above, or
 * another negative errno.
 */
int profile_switch_hold(struct manager *manager, const char *name);

void profile_switch_deinit(struct manager *manager);
