/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Overrides as the manager handles them: asked for over the socket, kept by the core
 * (core/override.h), and remembered in a file so that a restart of the daemon does not end them.
 */

#include "query/view.h"

#define OVERRIDE_LONGEST_US (24 * 3600 * 1000000ULL)

struct manager;

/* What a predecessor left behind that has not ended. Trouble is logged and stops nothing. */
void overrides_resume(struct manager *manager);

/* As struct query_source describes them; userdata is the manager. */
int overrides_add(void *userdata, const struct override_request *request, uint32_t *ret_id);
int overrides_cancel(void *userdata, uint32_t id);
int overrides_list(void *userdata, override_emit_t emit, void *context);
