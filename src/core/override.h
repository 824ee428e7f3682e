/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Overrides: limits on the frequency of a domain for a while, which replace those of the policy.
 * Each has an id and an end; the table is of fixed size.
 *
 * If a domain has several, the newest that gives a limit gives it. It replaces the policy's limit;
 * scaling_min/max come after both and win.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"

#define OVERRIDES_MAX 64

struct override_table {
	struct input_override entries[OVERRIDES_MAX]; /* by id, ascending */
	uint32_t n;
};

/* The limits of a domain; 0: not given. */
struct override_limits {
	uint32_t min_khz;
	uint32_t max_khz;
	uint32_t frozen_khz; /* replaces the others */
	uint32_t min_id;     /* id of the override that gave it */
	uint32_t max_id;
	uint32_t frozen_id;
};

/*
 * Adds an override, or replaces the one with its id, or removes it if end_ns is not after now_ns.
 * Returns false when the table is full.
 */
bool override_table_put(struct override_table *table, const struct input_override *override,
			uint64_t now_ns);

/* Removes one override that has ended into *ret. Returns false when there is none. */
bool override_table_expire(struct override_table *table, uint64_t now_ns,
			   struct input_override *ret);

/* NULL when there is none with the id. */
const struct input_override *override_table_find(const struct override_table *table, uint32_t id);

/* When the first override ends; UINT64_MAX: none. */
uint64_t override_table_next_ns(const struct override_table *table);

void override_table_merge(const struct override_table *table, uint32_t domain,
			  struct override_limits *ret);
