/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Overrides of domains, which the core keeps (core/override.h), and the file in which these and
 * those of tasks (task_override.h) are remembered, so that a restart of the daemon does not end
 * them.
 */

#include <stdbool.h>
#include <stdint.h>

#define OVERRIDE_LONGEST_US (24 * 3600 * 1000000ULL)

struct manager;

/*
 * A call for an override. Something of it is given, and one of domain, pid and rule. kHz: 0 is not
 * given. Levels are as in a policy, NULL: not given.
 */
struct override_request {
	const char *domain;
	uint32_t pid;
	const char *rule;
	bool children; /* of the task: also for what it starts */
	uint32_t min_khz;
	uint32_t max_khz;
	bool freeze; /* at its present OPP */
	const char *floor;
	const char *cap;
	const char *io_boost;
	uint32_t uid; /* who asks for it */
	uint64_t for_us;
};

/*
 * What a predecessor left behind that has not ended: before there is an engine, and after that.
 * Trouble is logged and stops nothing.
 */
void overrides_read(struct manager *manager);
void overrides_resume(struct manager *manager);

/* Says which of those of domains end by now_ns, each once: before engine_advance() to that time. */
void overrides_tell_ended(struct manager *manager, uint64_t now_ns);

/* Writes those in force to the file. */
void overrides_save(struct manager *manager);

/* The OPP that the domain was last told to run at, or the one that it is at. */
uint32_t overrides_present_khz(struct manager *manager, uint32_t domain);

/*
 * Takes one of a domain with this id, or ends it. 0; -ENODEV: there is no such domain; -ENOSPC;
 * -ENOENT: there is none with this id.
 */
int overrides_add(struct manager *manager, const struct override_request *request, uint32_t id);
int overrides_cancel(struct manager *manager, uint32_t id);
