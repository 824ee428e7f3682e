/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A manager with made-up, always equal data of any size, behind the daemon's own methods: what they
 * read of the core, the tracer and the machine is defined here in the place of the real ones. One
 * per program.
 */

#include "daemon/manager.h"

struct canned_daemon {
	struct manager manager;
	uint32_t n_domains;
	uint32_t n_tasks;
	uint32_t n_devices;
	uint32_t n_decisions;	  /* at 1000, 2000, 3000 … microseconds */
	uint32_t n_events;	  /* a reload makes so many decisions, and then one change */
	const char *policy_error; /* what a reload says; NULL if it is to work */
};

/* Fills the manager in; all before it is set. Returns 0 or -ENOMEM. */
int canned_daemon_init(struct canned_daemon *canned);
void canned_daemon_deinit(struct canned_daemon *canned);
