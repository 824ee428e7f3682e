/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Turns events into inputs of the core, and carries out its decisions. */

#include "daemon/state.h"

/*
 * One round: ends holds, decides for due domains and writes, arms the kernel side, and sets the
 * timer for the next round without an event.
 */
void manager_round(struct manager *manager);

/* Reads scaling_min/max of a domain for the core. */
void manager_read_limits(struct manager *manager, uint32_t domain);

/* Checks whether a domain is still ours and online, and reports that to the core. */
void manager_verify_domain(struct manager *manager, uint32_t domain);

/* Takes one record of the tracer. */
void manager_take_event(void *userdata, const struct tracer_event *event);
