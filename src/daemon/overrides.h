/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Overrides as the manager handles them: asked for over the socket, kept by the core
 * (core/override.h) or, of tasks and rules, as a part of the policy (leasing.h), and remembered in
 * a file so that a restart of the daemon does not end them.
 */

#include "varlink/view.h"

#define OVERRIDE_LONGEST_US (24 * 3600 * 1000000ULL)

struct manager;

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

/* As struct query_source describes them; userdata is the manager. */
int overrides_add(void *userdata, const struct override_request *request, uint32_t *ret_id,
		  uint32_t *ret_max, const char **ret_wrong);
int overrides_cancel(void *userdata, uint32_t id);
int overrides_list(void *userdata, override_emit_t emit, void *context);
