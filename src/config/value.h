/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One value of one key: parses it, checks its range, or says what it must be. */

#include <stdbool.h>

#include "config/keys.h"

/* Returns -EINVAL for what key does not take, and -ERANGE for what is out of its range. */
int policy_value_parse(const struct policy_key *key, const char *text, struct policy_value *ret);

/*
 * Whether key takes the value; what its load() returns always is allowed if the field was stored
 * from policy_value_parse().
 */
bool policy_value_allowed(const struct policy_key *key, const struct policy_value *value);

/*
 * "auto or a duration from 100us to 1s with its unit (ns, us, ms, s, min)", allocated; NULL when
 * memory is short.
 */
char *policy_value_describe(const struct policy_key *key);

/*
 * value as a file may have it, in the largest unit that takes it whole: "20ms", "auto"; allocated,
 * or NULL when memory is short. Of a group, its number. policy_value_allowed() must hold.
 */
char *policy_value_format(const struct policy_key *key, const struct policy_value *value);
