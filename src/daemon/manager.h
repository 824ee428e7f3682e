/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The manager owns every subsystem, and only it calls across them: tracer → core → actuator, and
 * all of them for the query socket.
 */

#include "daemon/state.h"

/*
 * Reads the policy, takes the lock, restores what a crashed predecessor left, loads the tracer,
 * takes the domains and opens the socket. A failure is logged with the remedy, and everything taken
 * so far is released. Returns 0 or a negative errno.
 */
int manager_new(const struct manager_options *options, struct manager **ret);

/*
 * Governs until SIGTERM or SIGINT, or until a domain's driver is gone (-ENODEV). Returns 0 or a
 * negative errno.
 */
int manager_run(struct manager *manager);

/* Restores every domain, logs that, and frees everything. Returns NULL. */
struct manager *manager_free(struct manager *manager);
