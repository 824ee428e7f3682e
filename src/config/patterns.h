/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Lists of patterns in a rule, "steam wine*", divided by blanks without a backslash before them.
 * They are stored as written.
 */

#include <stdbool.h>

#include "core/settings.h"

/* Takes the next pattern, shorter than POLICY_PATTERN_SIZE, off *list. False: none is left. */
bool policy_patterns_next(const char **list, char ret[static POLICY_PATTERN_SIZE]);

/* Whether the list has a comma without a backslash before it, probably meant as a divider. */
bool policy_patterns_have_comma(const char *list);
