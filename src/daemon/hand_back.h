/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The machine as it would be without wakegov, for a while: all domains that are driven are lent to
 * another governor (actuator/hand_back.h), tasks and cgroups carry no clamps, no program of the
 * tracer runs, and the core stands still: what it knows of tasks holds when it goes on. It ends
 * after its time, or as soon as the client that asked for it has gone.
 */

#include "daemon/state.h"

/* A longer one is none: a client that hangs must not leave the machine ungoverned. */
#define HAND_BACK_MAX_US (3600ULL * 1000000)

static inline bool hand_back_is_on(const struct manager *manager)
{
	return manager->hand_back.until_ns;
}

/*
 * governor: NULL for those that were there before us. Returns 0; -ENODEV where no domain is driven;
 * -EINVAL where one does not offer the governor; or another negative errno. Then all is as before.
 */
int hand_back_start(struct manager *manager, const char *governor, uint64_t for_us);

/* At the daemon's end: what was there before it is put back, and nothing is taken again. */
void hand_back_restore(struct manager *manager);
