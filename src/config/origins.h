/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Which line of which file gave each key its value: what `wakegovd --show-config` prints. */

#include <stdbool.h>
#include <stddef.h>

#include "config/error.h"

struct policy_origin {
	char *section, *key, *value; /* as written */
	struct policy_place place;
};

/* All zero is none. */
struct policy_origins {
	struct policy_origin *entries;
	size_t n;
};

/*
 * Takes the place of what the section's key had before, unless it is one more line of a key that
 * may stand several times (is_more). Returns 0 or -ENOMEM.
 */
int policy_origins_note(struct policy_origins *origins, const char *section, const char *key,
			const char *value, struct policy_place place, bool is_more);

/* NULL: no file gave it. */
const struct policy_origin *policy_origins_find(const struct policy_origins *origins,
						const char *section, const char *key);

void policy_origins_deinit(struct policy_origins *origins);
