/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Lists of patterns in a rule, "steam wine*": blanks divide them that no backslash stands before.
 * They are kept as they were written.
 */

#include <stdbool.h>

#include "core/settings.h"

/* Takes the next pattern off *list, which is shorter than POLICY_PATTERN_SIZE. False: none is left.
 */
bool policy_patterns_next(const char **list, char ret[static POLICY_PATTERN_SIZE]);

/* Whether the list has a comma without a backslash before it, probably meant as a divider. */
bool policy_patterns_have_comma(const char *list);
