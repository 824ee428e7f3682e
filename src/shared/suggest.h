/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Suggestions for a mistyped word. */

#include <stdbool.h>

/*
 * Whether typed looks like a slip for meant: at most two letters missing, added, wrong or swapped,
 * and less than half of it, or a beginning of it.
 */
bool suggest_matches(const char *typed, const char *meant);

/*
 * Keeps in *closest, NULL at first, the one of the names seen that typed is a slip for: at most two
 * letters apart, and nearer than the others.
 */
void suggest_closest(const char *typed, const char *name, const char **closest);
