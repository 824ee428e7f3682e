/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Leaves the machine as it would be without wakegov for a while: all driven domains get another
 * governor (actuator/governor.h), tasks and cgroups have no clamps, no program of the tracer runs,
 * and the core stands still, keeping what it knows of tasks. Ends after its time, or when the
 * client that asked for it has gone.
 */

#include "daemon/manager.h"

/* The longest time: a client that hangs must not leave the machine ungoverned. */
#define HAND_BACK_MAX_US (3600ULL * 1000000)

static inline bool hand_back_is_on(const struct manager *manager)
{
	return manager->hand_back.until_ns;
}

/*
 * governor NULL means those from before us. Returns 0; -ENODEV where no domain is driven; -EINVAL
 * where one does not offer the governor; or another negative errno. On failure nothing is changed.
 */
int hand_back_start(struct manager *manager, const char *governor, uint64_t for_us);

/* For the end of the daemon: restores the state before it, and takes no domain again. */
void hand_back_restore(struct manager *manager);
