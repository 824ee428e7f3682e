/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A query source with made-up, always equal data, of any size; for tests. */

#include "varlink/view.h"

#define CANNED_OVERRIDES_MAX 4

struct canned_source {
	struct query_source source;
	uint32_t n_domains;
	uint32_t n_tasks;
	uint32_t n_devices;
	uint32_t n_decisions; /* at 1000, 2000, 3000 … microseconds */
	uint32_t reloads;
	uint64_t (*count_wakeups)(void); /* NULL: 0 */
	/* NULL, or told of events: a reload makes n_events decisions of it, and then one change. */
	void (*publish)(const struct event_view *event);
	uint32_t n_events;
	const char *policy_error; /* what a reload says; NULL if it is to work */
	struct override_view overrides[CANNED_OVERRIDES_MAX];
	uint32_t n_overrides;
	uint32_t next_override;
	int error; /* what all other queries fail with, 0 for none */
};

/* Sets source up to point back at the struct, which must not move. */
void canned_source_init(struct canned_source *canned);
