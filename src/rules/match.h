/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Whether a rule is for a task: patterns against facts, and nothing else. */

#include "core/settings.h"
#include "tracer/facts.h"

/* The facts that cost a file to read are asked for when all cheaper ones hold. */
struct match_texts {
	/* The text that POLICY_MATCH_EXE, _COMMAND, _CGROUP look at; NULL: the task has none. */
	const char *(*get)(void *userdata, const struct task_facts *facts,
			   enum policy_match_key key);
	void *userdata;
};

#define MATCH_NO_UID UINT32_MAX /* there is no such user: nobody is it */

/* The first key that does not hold, or 0: the rule is for the task. uid is that of match->user. */
uint32_t match_find_mismatch(const struct policy_match *match, uint32_t uid,
			     const struct task_facts *facts, const struct match_texts *texts);

/*
 * Patterns are those of fnmatch(3), in lists of config/patterns.h; one of them is to match. Of a
 * cgroup the path or one above it is to match, where * does not stand for /. Units are what systemd
 * says that the path is in: the outermost one and its slices, of the system's manager or, below
 * user@UID.service, of a user's. Read from the path, since libsystemd tells units of pids only, and
 * whose cgroup is to be clamped needs the place of the unit in it. No path: false.
 */
bool match_cgroup(const char *patterns, const char *path);
bool match_unit(const char *patterns, const char *path);
bool match_user_unit(const char *patterns, const char *path);

/* A pattern that one text only can match, which is its own. */
static inline bool match_is_literal(const char *pattern)
{
	for (; *pattern; pattern++)
		if (*pattern == '*' || *pattern == '?' || *pattern == '[' || *pattern == '\\')
			return false;
	return true;
}
