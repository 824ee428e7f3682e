/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which profile of the policy holds. That which a client holds, while it listens; else the one that
 * was chosen; else the first whose condition holds; else the default one. What was chosen outlasts
 * the daemon, in DIRECTORY/profile (see shared/statefile.h), one line:
 *
 *	chosen quiet
 */

#include <time.h>

#include "daemon/state.h"

/* The one that is to hold now. Borrowed. */
const struct policy_profile *profile_pick(const struct manager *manager,
					  const struct policy_profiles *profiles,
					  enum profile_why *ret_why);

/* The files' policy under that one, which is noted as present, and with --observe. 0 or -ENOMEM. */
int profile_apply(struct manager *manager, const struct policy_files *files, struct policy *ret);

/* Why the present one is that: "chosen", … Static. */
const char *profile_why(const struct manager *manager);

/* What was chosen before this daemon: before the first profile_apply(). */
void profile_read_choice(struct manager *manager);
void profile_save_choice(const struct manager *manager);

bool profile_rule_has_task(const struct manager *manager, const char *rule);

struct tm profile_local_time(void);
