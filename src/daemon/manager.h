/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The daemon: its core, its loop, and the states of its modules. Only the start, the end and the
 * methods of the socket know the whole daemon.
 */

#include "daemon/core.h"
#include "daemon/history/past.h"
#include "daemon/loop.h"
#include "daemon/modules/hinting.h"
#include "daemon/modules/modules.h"
#include "daemon/modules/overrides.h"
#include "daemon/modules/policy.h"

#define MODULES_MAX 16

/*
 * One lock is for the run directory, the other for the machine's frequencies: two daemons would
 * undo each other's work.
 */
struct locks {
	int run_dir;
	int machine; /* negative: we change nothing on the machine */
};

struct manager {
	struct daemon_options options;
	struct core core;
	struct loop loop;
	struct locks locks;
	char *socket_path; /* NULL: not bound yet */

	struct module_instance modules[MODULES_MAX + 1];
	struct clamps clamps;
	struct hand_back hand_back;
	struct hinting hinting;
	struct idle_latency idle_latency;
	struct monitor monitor;
	struct overrides overrides;
	struct past past;
	struct placing placing;
	struct policies policies;
	struct recording recording;
	struct saturation saturation;
	struct own_clock own_clock;
	struct watching watching;
};

/*
 * Reads the policy, takes the lock, restores what a crashed predecessor left, loads the tracer,
 * takes the domains and opens the socket. A failure is logged with the remedy, and everything taken
 * so far is released. Returns 0 or a negative errno.
 */
int manager_new(const struct daemon_options *options, struct manager **ret);

/*
 * Governs until SIGTERM or SIGINT, or until a domain's driver is gone (-ENODEV). Returns 0 or a
 * negative errno.
 */
int manager_run(struct manager *manager);

/* Restores every domain, logs that, and frees everything. Returns NULL. */
struct manager *manager_free(struct manager *manager);

/*
 * startup.c: the steps in which the daemon takes the machine over, in order. Each returns 0, or a
 * negative errno after logging the error and the remedy; manager_free() releases everything that
 * was taken.
 */
int startup_read_policy(struct policies *policies);
int startup_find_domains(struct core *core);
/*
 * Takes both locks, that of the machine only if it has domains. A daemon that only observes
 * does without it while another daemon governs.
 */
int startup_lock(const struct core *core, struct locks *locks);
/* Restores what a killed predecessor left, and opens the table of saved values. */
int startup_restore_predecessor(struct core *core, struct locks *locks);
int startup_discover(struct core *core);
int startup_start_tracer(struct core *core);
/* Acquires the domains; under `auto` a domain that cannot be driven is observed. */
int startup_acquire_domains(struct core *core);

/*
 * Returns a descriptor that holds the lock until it is closed; -EBUSY if another wakegovd has it,
 * logged (for the machine: at that level); -ENOENT for a missing directory, or a machine that
 * cannot be changed from here; or a negative errno, logged.
 */
int startup_lock_run_dir(const char *run_dir);
int startup_lock_machine(int level);
