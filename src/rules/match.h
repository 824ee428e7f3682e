/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Matches patterns of a rule with facts of a task, and nothing else. */

#include "core/settings.h"
#include "tracer/facts.h"

/* Reads facts from files, which is done only when all cheaper ones match. */
struct match_texts {
	/* The text for POLICY_MATCH_EXE, _COMMAND or _CGROUP; NULL: the task has none. */
	const char *(*get)(void *userdata, const struct task_facts *facts,
			   enum policy_match_key key);
	void *userdata;
};

#define MATCH_NO_UID UINT32_MAX /* no such user: no task matches */

/* The first key that does not match, or 0: the rule matches. uid is that of match->user. */
uint32_t match_find_mismatch(const struct policy_match *match, uint32_t uid,
			     const struct task_facts *facts, const struct match_texts *texts);

/*
 * Patterns are those of fnmatch(3), in lists (policy_patterns_next()), of which one must match. A
 * cgroup pattern must match the path or one above it, and its * does not match /. Units are found
 * as systemd does: the outermost one and its slices, of the system's manager or, below
 * user@UID.service, of a user's. They are read from the path, since libsystemd only gives the units
 * of pids, and a clamp of the cgroup needs the unit's place in the path. No path: false.
 */
bool match_cgroup(const char *patterns, const char *path);
bool match_unit(const char *patterns, const char *path);
bool match_user_unit(const char *patterns, const char *path);

/* Whether a single text, the pattern itself, can match. */
static inline bool match_is_literal(const char *pattern)
{
	for (; *pattern; pattern++)
		if (*pattern == '*' || *pattern == '?' || *pattern == '[' || *pattern == '\\')
			return false;
	return true;
}
