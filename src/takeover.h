/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The steps in which the manager takes the machine over, in the order in which it takes them. Each
 * returns 0 or a negative errno, and has then logged what is wrong and what to do about it;
 * manager_free() gives back whatever was taken.
 */

#include <stdint.h>

#include "actuator/restore.h"

struct manager;

int takeover_read_policy(struct manager *manager);
/* One daemon per run directory: two would undo each other's work. */
int takeover_lock(struct manager *manager);
/* Puts back what a killed predecessor left, and opens the table of originals. */
int takeover_restore_predecessor(struct manager *manager);
int takeover_discover(struct manager *manager);
int takeover_start_tracer(struct manager *manager);
/* From here on domains are ours: under `auto` one that cannot be driven is observed. */
int takeover_acquire_domains(struct manager *manager);

/* What the policy says of the energy preference; after a reload as well. */
void takeover_set_preference(struct manager *manager, uint32_t domain);

/* Logs what became of a control on its way back. */
void takeover_report_restore(void *userdata, const struct restore_result *result);
