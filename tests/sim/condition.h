/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The condition that a device is in: how its speed drifts, when it pauses, and what a neighbour on
 * the same host leaves of it. All of it is integers and drawn from the seed alone, never from what
 * is sent to the device: a run under another governor meets the same device.
 */

#include "sim/platform.h"
#include "sim/rng.h"

struct sim_condition {
	const struct platform_device *info;
	struct sim_rng drift_rng;
	uint64_t drift_steps;	 /* done so far */
	int64_t log_speed_ppm;	 /* as of the last of them */
	uint64_t pause_seed;	 /* where in its period each pause lies … */
	uint64_t neighbour_seed; /* … and each visit of the neighbour */
};

void sim_condition_init(struct sim_condition *condition, const struct platform_device *info,
			uint64_t seed, uint32_t index);

/* How long the device's work takes now, in millionths of what it usually does. now_ns never falls.
 */
uint64_t sim_condition_slowness_ppm(struct sim_condition *condition, uint64_t now_ns);

/* at_ns, or the end of the pause that it lies in. */
uint64_t sim_condition_after_pause(const struct sim_condition *condition, uint64_t at_ns);
