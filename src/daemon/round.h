/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What is heard becomes inputs of the core, and what the core decides is done. */

#include "daemon/state.h"

/*
 * One round: holds end, due domains are decided and written, the kernel side is told what to
 * watch for, the timer is set to when a round is needed though nothing happens.
 */
void manager_round(struct manager *manager);

/* Reads scaling_min/max of a domain for the core. */
void manager_read_limits(struct manager *manager, uint32_t domain);

/* Looks whether a domain is still ours and online, and tells the core. */
void manager_verify_domain(struct manager *manager, uint32_t domain);

/* Takes one record of the tracer. */
void manager_take_event(void *userdata, const struct tracer_event *event);
