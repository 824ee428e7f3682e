/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The file and line that gave each key its value, for `wakegovd --show-config`. */

#include <stdbool.h>
#include <stddef.h>

#include "config/error.h"

struct policy_origin {
	char *section, *key, *value; /* as written */
	struct policy_place place;
};

/* All zero is an empty table. */
struct policy_origins {
	struct policy_origin *entries;
	size_t n;
};

/*
 * Replaces the section's value of the key, unless it is a further line of a key that may be given
 * several times (is_more). Returns 0 or -ENOMEM.
 */
int policy_origins_note(struct policy_origins *origins, const char *section, const char *key,
			const char *value, struct policy_place place, bool is_more);

/* NULL: no file gave it. */
const struct policy_origin *policy_origins_find(const struct policy_origins *origins,
						const char *section, const char *key);

void policy_origins_deinit(struct policy_origins *origins);
