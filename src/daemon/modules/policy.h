/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which policy is in force: what the files say, or a client's text while it listens, with one of
 * its profiles.
 */

#include "daemon/manager.h"

/*
 * profile.c: which profile is in force, and the switch to another one when a client asks for it or
 * a condition changes. It is the one that a listening client holds; else the chosen one; else the
 * first whose condition holds; else the default one. The choice outlasts the daemon in
 * DIRECTORY/profile (see shared/statefile.h), one line:
 *
 *	chosen quiet
 */

/*
 * Applies the profile that should be in force now to the files' policy, with --observe, and notes
 * it as present. Returns 0 or -ENOMEM.
 */
int profile_apply(struct manager *manager, const struct policy_files *files, struct policy *ret);

/* Why the present profile is in force: "chosen", … Static. */
const char *profile_why(const struct manager *manager);

/* Reads the choice from before this daemon; call it before the first profile_apply(). */
void profile_read_choice(struct manager *manager);

/* Gives every subsystem a new policy. The caller makes a round after it. */
void policy_put_into_effect(struct manager *manager, const struct policy *policy);

/* Listens for changes of conditions; may be called again. Returns 0 or a negative errno. */
int profile_listen(struct manager *manager);

/* For the end of events of tasks: a rule may have got its first task or lost its last. */
void profile_check_rules(struct manager *manager);

/*
 * Chooses a profile, or with NULL lets the conditions decide. Returns 0, or -ENOENT: no profile has
 * the name.
 */
int profile_choose(struct manager *manager, const char *name);

/*
 * Holds a profile while the channel manager->profile.hold has a listener. Returns as above, or
 * another negative errno.
 */
int profile_hold(struct manager *manager, const char *name);

void profile_deinit(struct manager *manager);

/* reload.c: another policy. */

/*
 * Reads the policy again; warn, if not NULL, gets each line of warning. On failure returns a
 * negative errno with the old policy in force, and in *ret_message an allocated message (file:line:
 * error), which the caller frees and which is NULL without memory.
 */
int manager_reload(struct manager *manager, void (*warn)(void *context, const char *line),
		   void *context, char **ret_message);

/*
 * Puts the policy of a text into force while its client listens: wakegovctl benefit compares it
 * with the one of the files. The channel must have its subscriber. The backend, sizes of tables,
 * permissions, and whether a history is kept, stay as they are. A reload ends it. Returns 0, or a
 * negative errno with nothing changed and the error in *ret_message (see policy_files_read()).
 */
int policy_hold_start(struct manager *manager, const char *text, char **ret_message);
void policy_hold_deinit(struct manager *manager);
