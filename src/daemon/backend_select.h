/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which backend moves a domain: the one that the policy names, or under `auto` the first of
 *
 *	uclamp    schedutil governs the domain and the kernel has utilisation clamps
 *	setspeed  the driver offers the userspace governor
 *	limits    scaling_min_freq and scaling_max_freq can be written
 *	observe   always
 *
 * that takes it, each found out by trying.
 */

#include "core/settings.h"

struct governed;

/* The backend of a name in the policy; NULL for `auto`. */
const struct backend *levers_find(enum policy_backend backend);

/*
 * Sets governed->backend and acquires the domain with it; governed->passed_over says why those
 * before it did not take it. Returns an actuator_outcome or a negative errno, with
 * governed->actuator.why filled; nothing is changed then.
 */
int levers_acquire(struct governed *governed, enum policy_backend wanted);
