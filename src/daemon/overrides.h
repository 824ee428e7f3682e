/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Overrides of domains, which the core keeps (core/override.h), and the file of these and of those
 * of tasks (task_override.h), by which they outlast a restart of the daemon.
 */

#include <stdbool.h>
#include <stdint.h>

#define OVERRIDE_LONGEST_US (24 * 3600 * 1000000ULL)

struct manager;

/*
 * A request for an override: at least one limit, and one of domain, pid and rule. kHz: 0 is not
 * given. Levels are as in a policy, NULL: not given.
 */
struct override_request {
	const char *domain;
	uint32_t pid;
	const char *rule;
	bool children; /* for a task: include its later children */
	uint32_t min_khz;
	uint32_t max_khz;
	bool freeze; /* at its present OPP */
	const char *floor;
	const char *cap;
	const char *io_boost;
	const char *idle_latency;
	uint32_t uid; /* user who asks for it */
	uint64_t for_us;
};

/*
 * Load the overrides of a predecessor that have not ended: overrides_read() before there is an
 * engine, the other one after. Failures are logged and stop nothing.
 */
void overrides_read(struct manager *manager);
void overrides_resume(struct manager *manager);

/*
 * Reports the domain overrides that end by now_ns, each once; call it before engine_advance() to
 * that time.
 */
void overrides_tell_ended(struct manager *manager, uint64_t now_ns);

/* Saves the overrides in force to the file. */
void overrides_save(struct manager *manager);

/* The domain's last target, or its present OPP. */
uint32_t overrides_present_khz(struct manager *manager, uint32_t domain);

/*
 * Adds an override of a domain with this id, or ends it. Returns 0; -ENODEV: no such domain;
 * -ENOSPC; -ENOENT: no override with this id.
 */
int overrides_add(struct manager *manager, const struct override_request *request, uint32_t id);
int overrides_cancel(struct manager *manager, uint32_t id);
