/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The event loop: each event goes to its subsystem, and a round follows. */

#include "daemon/state.h"

/*
 * Creates the event loop; from then on no signal ends the daemon half way. Returns 0 or a negative
 * errno.
 */
int events_open(struct manager *manager);

/* Registers all event sources, once every subsystem exists. Returns 0 or a negative errno. */
int events_listen(struct manager *manager);

/* Checks for writes of other programs to our files since the last time. */
void events_take_touched(struct manager *manager);
