/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What somebody wants for a while, whatever the policy says: limits on the frequency of a domain,
 * each for a while. Each has a number and an end; the table is of fixed size.
 *
 * Where several are about one domain the newest that gives a limit gives it. It stands in the place
 * of the policy's; scaling_min/max come after both, and nobody wins over them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"

#define OVERRIDES_MAX 64

struct override_table {
	struct input_override entries[OVERRIDES_MAX]; /* by id, ascending */
	uint32_t n;
};

/* What holds for a domain; 0: not given. */
struct override_limits {
	uint32_t min_khz;
	uint32_t max_khz;
	uint32_t frozen_khz; /* instead of the others */
	uint32_t min_id;     /* which override gave it */
	uint32_t max_id;
	uint32_t frozen_id;
};

/*
 * Puts one, in place of that with its id if there is one; one whose end_ns is not after now_ns is
 * taken out. False when the table is full.
 */
bool override_table_put(struct override_table *table, const struct input_override *override,
			uint64_t now_ns);

/* Takes out one whose end is over; *ret is that one. False when there is none. */
bool override_table_expire(struct override_table *table, uint64_t now_ns,
			   struct input_override *ret);

/* NULL when there is none with the id. */
const struct input_override *override_table_find(const struct override_table *table, uint32_t id);

/* When the first of them ends; UINT64_MAX: there is none. */
uint64_t override_table_next_ns(const struct override_table *table);

void override_table_merge(const struct override_table *table, uint32_t domain,
			  struct override_limits *ret);
