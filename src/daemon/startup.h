/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The steps in which the manager takes the machine over, in order. Each returns 0, or a negative
 * errno after logging the error and the remedy; manager_free() releases everything that was taken.
 */

#include <stdint.h>

struct manager;

int startup_read_policy(struct manager *manager);
int startup_find_domains(struct manager *manager);
/*
 * Takes both locks below, that of the machine only if it has domains. A daemon that only observes
 * does without it while another daemon governs.
 */
int startup_lock(struct manager *manager);
/* Restores what a killed predecessor left, and opens the table of saved values. */
int startup_restore_predecessor(struct manager *manager);
int startup_discover(struct manager *manager);
int startup_start_tracer(struct manager *manager);
/* Acquires the domains; under `auto` a domain that cannot be driven is observed. */
int startup_acquire_domains(struct manager *manager);

/* Sets the policy's energy preference, also after a reload. */
void startup_set_preference(struct manager *manager, uint32_t domain);

/*
 * The user of a run directory holds the one lock, the process that changes the machine's
 * frequencies the other: two would undo each other's work. Returns a descriptor that holds the lock
 * until it is closed; -EBUSY if another wakegovd has it, logged (for the machine: at that level);
 * -ENOENT for a missing directory, or a machine that cannot be changed from here; or a negative
 * errno, logged.
 */
int startup_lock_run_dir(const char *run_dir);
int startup_lock_machine(int level);
