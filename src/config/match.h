/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The conditions by which a rule matches tasks. A key is a field of struct policy_match with its
 * bit, and a row in match.c.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/keys.h"
#include "core/rule.h"
#include "core/settings.h"

/* Reads facts from files, which is done only when all cheaper ones match. */
struct match_texts {
	/*
	 * The text for POLICY_MATCH_EXE, _COMMAND or _CGROUP. NULL if there is none, as for a
	 * kernel thread, or it is not known: then *ret_unknown is the reason, else NULL.
	 */
	const char *(*get)(void *userdata, const struct task_facts *facts,
			   enum policy_match_key key, const char **ret_unknown);
	void *userdata;
};

#define MATCH_NO_UID UINT32_MAX /* no such user: no task matches */

/* The first key that does not match, or 0: the rule matches. uid is that of match->user. */
uint32_t match_find_mismatch(const struct policy_match *match, uint32_t uid,
			     const struct task_facts *facts, const struct match_texts *texts);

/* A condition as the policy has it, and what the task is. */
struct match_shown {
	const char *key, *fact; /* unit compares the fact cgroup; others are alike */
	const char *found;	/* the task's text; NULL: it has none, or … */
	const char *unknown;	/* … it is not known for this reason */
	char wanted[POLICY_PATTERN_SIZE];
	char text[121]; /* a command line may be long; its beginning says what it is */
};

/* facts and texts are NULL for the policy's part alone. */
void match_show(const struct policy_match *match, enum policy_match_key key,
		const struct task_facts *facts, const struct match_texts *texts,
		struct match_shown *ret);

/*
 * patterns.c: the patterns of rules, those of fnmatch(3), in lists of which one must match: "steam
 * wine*". No text never matches.
 */

/* The length up to the first of `stops` without a backslash before it. */
size_t policy_patterns_length(const char *text, const char *stops);

/*
 * Pops the next pattern, shorter than POLICY_PATTERN_SIZE, off *list, whose patterns are divided
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
