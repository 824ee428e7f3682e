/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Whatever wakes the daemon: each event is taken to where it belongs, and a round follows. */

#include "daemon/state.h"

/* Makes the event loop; from then on no signal ends the daemon half way. 0 or a negative errno. */
int events_open(struct manager *manager);

/* Listens for everything, when all is there that events are taken to. 0 or a negative errno. */
int events_listen(struct manager *manager);

/* Looks who wrote to files of ours since the last time. */
void events_take_touched(struct manager *manager);
