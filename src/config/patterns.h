/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The patterns of rules, those of fnmatch(3), in lists of which one must match: "steam wine*".
 * No text never matches.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/settings.h"

/* The length up to the first of `stops` without a backslash before it. */
size_t policy_patterns_length(const char *text, const char *stops);

/*
 * Takes the next pattern, shorter than POLICY_PATTERN_SIZE, off *list, whose patterns are divided
 * by blanks without a backslash before them. False: none is left.
 */
bool policy_patterns_next(const char **list, char ret[static POLICY_PATTERN_SIZE]);

bool match_text(const char *patterns, const char *text);

/*
 * Of cgroups, as paths from the root; systemd's escapes stand for themselves. A
 * cgroup pattern must match the path or one above it, and its * does not match /. Units are found
 * as systemd does: the outermost one and its slices, of the system's manager or, below
 * user@UID.service, of a user's. They are read from the path, since libsystemd only gives the units
 * of pids.
 */
bool match_cgroup(const char *patterns, const char *path);
bool match_unit(const char *patterns, const char *path);
bool match_user_unit(const char *patterns, const char *path);
/* The length of an escape of systemd's (\x2d for a dash), which is part of a name; 0: it is none.
 */
size_t match_unit_escape(const char *text);
