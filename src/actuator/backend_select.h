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

#include "actuator/backend.h"
#include "core/settings.h"

#define BACKEND_WHY_SIZE 512

/* The backend of a name in the policy; NULL for `auto`. */
const struct backend *backend_find(enum policy_backend backend);

/*
 * Acquires the domain with *ret; passed_over says why those before it did not take it. Returns an
 * actuator_outcome or a negative errno, with domain->why filled; nothing is changed then.
 */
int backend_acquire(struct actuator_domain *domain, enum policy_backend wanted,
		    const struct backend **ret, char passed_over[static BACKEND_WHY_SIZE]);
