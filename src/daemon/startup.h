/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The steps in which the manager takes the machine over, in the order in which it takes them. Each
 * returns 0 or a negative errno, and has then logged what is wrong and what to do about it;
 * manager_free() gives back whatever was taken.
 */

#include <stdint.h>

struct manager;

int startup_read_policy(struct manager *manager);
int startup_find_domains(struct manager *manager);
/*
 * Both locks below; of the machine where it has domains. Who only observes does without that while
 * another daemon governs.
 */
int startup_lock(struct manager *manager);
/* Puts back what a killed predecessor left, and opens the table of saved values. */
int startup_restore_predecessor(struct manager *manager);
int startup_discover(struct manager *manager);
int startup_start_tracer(struct manager *manager);
/* From here on domains are ours: under `auto` one that cannot be driven is observed. */
int startup_acquire_domains(struct manager *manager);

/* What the policy says of the energy preference; after a reload as well. */
void startup_set_preference(struct manager *manager, uint32_t domain);

/*
 * Who uses the files of a run directory holds the one lock, who changes what the machine runs at
 * the other: two would undo each other's work. Returns a descriptor that holds it until it is
 * closed; -EBUSY where another wakegovd does, logged (of the machine: at that level); -ENOENT for a
 * directory that is not there, or a machine that cannot be changed from here; or a negative errno,
 * logged.
 */
int startup_lock_run_dir(const char *run_dir);
int startup_lock_machine(int level);
