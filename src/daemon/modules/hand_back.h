/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Leaves the machine as it would be without wakegov for a while: all driven domains get another
 * governor (actuator/governor.h), tasks have no clamps, no program of the tracer runs, and the core
 * stands still, keeping what it knows of tasks. Ends after its time, or when the client that asked
 * for it has gone.
 */

#include "daemon/module.h"

/* The longest time: a client that hangs must not leave the machine ungoverned. */
#define HAND_BACK_MAX_US (3600ULL * 1000000)

struct hand_back {
	struct core *core; /* which has the end, handed_back_until_ns */
	struct channel channel;
	char governor[CONTROL_VALUE_SIZE]; /* "": the governor of before */
};

extern const struct module hand_back_module;

/*
 * governor NULL means those from before us. Returns 0; -ENODEV where no domain is driven; -EINVAL
 * where one does not offer the governor; or another negative errno. On failure nothing is changed.
 */
int hand_back_start(struct hand_back *hand_back, const char *governor, uint64_t for_us);
