/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stddef.h>

/*
 * Whether typed looks like a slip for meant: at most two letters missing, added, wrong or swapped,
 * and less than half of it, or a beginning of it.
 */
int suggest_matches(const char *typed, const char *meant);
