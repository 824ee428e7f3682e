/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which profile of the policy is in force: the one that a listening client holds; else the chosen
 * one; else the first whose condition holds; else the default one. The choice outlasts the daemon
 * in DIRECTORY/profile (see shared/statefile.h), one line:
 *
 *	chosen quiet
 */

#include <time.h>

#include "daemon/state.h"

/* The profile that should be in force now. Borrowed. */
const struct policy_profile *profile_pick(const struct manager *manager,
					  const struct policy_profiles *profiles,
					  enum profile_why *ret_why);

/*
 * Applies that profile to the files' policy, with --observe, and notes it as present. Returns 0 or
 * -ENOMEM.
 */
int profile_apply(struct manager *manager, const struct policy_files *files, struct policy *ret);

/* Why the present profile is in force: "chosen", … Static. */
const char *profile_why(const struct manager *manager);

/* Reads the choice from before this daemon; call it before the first profile_apply(). */
void profile_read_choice(struct manager *manager);
void profile_save_choice(const struct manager *manager);

bool profile_rule_has_task(const struct manager *manager, const char *rule);

struct tm profile_local_time(void);
