/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Chooses the backend of a domain: the one that the policy names, or under `auto` the first of
 * these that can be acquired:
 *
 *	uclamp    schedutil governs the domain and the kernel has utilisation clamps
 *	setspeed  the driver offers the userspace governor
 *	limits    scaling_min_freq and scaling_max_freq can be written
 *	observe   always
 */

#include "actuator/backend.h"
#include "core/settings.h"

#define BACKEND_WHY_SIZE 512

/* The backend of a name in the policy; NULL for `auto`. */
const struct backend *backend_find(enum policy_backend backend);

/*
 * Acquires the domain with the backend in *ret; passed_over says why the earlier ones could not.
 * Returns an actuator_outcome or a negative errno, with domain->why filled and nothing changed.
 */
int backend_acquire(struct actuator_domain *domain, enum policy_backend wanted,
		    const struct backend **ret, char passed_over[static BACKEND_WHY_SIZE]);
