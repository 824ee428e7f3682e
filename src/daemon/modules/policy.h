/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which policy is in force: what the files say, or a client's text while it listens, with one of
 * its profiles.
 */

#include <stdbool.h>

#include "config/load.h"
#include "daemon/module.h"

enum profile_why { PROFILE_BY_DEFAULT, PROFILE_BY_CONDITION, PROFILE_CHOSEN };

/* The profile in force. A name is "" if there is none. */
struct profile_choice {
	char name[POLICY_NAME_SIZE];
	enum profile_why why;
	char chosen[POLICY_NAME_SIZE];
	int power_fd; /* negative: no condition needs it; the same for the next */
	int clock_fd;
	uint32_t rules_met;
	uint64_t rules_due_ns;	 /* when other rules that have tasks are heeded; UINT64_MAX: none */
	uint64_t rules_again_ns; /* not before */
};

struct policies {
	struct core *core;
	char *dropin_dir;
	struct policy_files *files; /* as last read */
	struct policy_files *held;  /* a client's, in their place; NULL: none */
	struct channel hold;	    /* which that client listens to */
	struct profile_choice profile;
	uint32_t reloads;
	char *last_error; /* of a reload; NULL: it was accepted */
};

extern const struct module policies_module;

static inline const struct policy_files *policies_in_force(const struct policies *policies)
{
	return policies->held ?: policies->files;
}

/*
 * profile.c: which profile is in force: the chosen one; else the first whose condition holds; else
 * the default one. It changes when a client chooses or a condition changes. The choice outlasts the
 * daemon in DIRECTORY/profile (see shared/statefile.h), one line:
 *
 *	chosen quiet
 */

/*
 * Applies the profile that should be in force now to the policy, with --observe, and notes it as
 * present. Returns 0 or -ENOMEM.
 */
int profile_apply(struct policies *policies, struct policy *ret);

/* Why the present profile is in force: "chosen", … Static. */
const char *profile_why(const struct policies *policies);

/* Reads the choice from before this daemon; call it before the first profile_apply(). */
void profile_read_choice(struct policies *policies);

/* Gives every subsystem a new policy. The caller makes a round after it. */
void policy_put_into_effect(struct core *core, const struct policy *policy);

/* Listens for changes of conditions; may be called again. Returns 0 or a negative errno. */
int profile_listen(struct policies *policies);

/* For the end of events of tasks: a rule may have got its first task or lost its last. */
void profile_check_rules(void *state);
/* Heeds what that found, if it is time. */
void profile_expire(struct policies *policies, uint64_t now_ns);

/*
 * Chooses a profile, or with NULL lets the conditions decide. Returns 0, or -ENOENT: no profile has
 * the name.
 */
int profile_choose(struct policies *policies, const char *name);

void profile_deinit(struct policies *policies);

/* reload.c: another policy. */

/*
 * Reads the policy again; warn, if not NULL, gets each line of warning. On failure returns a
 * negative errno with the old policy in force, and in *ret_message an allocated message (file:line:
 * error), which the caller frees and which is NULL without memory.
 */
int policy_reload(struct policies *policies, void (*warn)(void *context, const char *line),
		  void *context, char **ret_message);

/*
 * Puts the policy of a text into force while its client listens: wakegovctl benefit compares it
 * with the one of the files. The channel must have its subscriber. The backend, sizes of tables,
 * permissions, and whether a history is kept, stay as they are. A reload ends it. Returns 0, or a
 * negative errno with nothing changed and the error in *ret_message (see policy_files_read()).
 */
int policy_hold_start(struct policies *policies, const char *text, char **ret_message);

/*
 * power_source.c: whether the machine runs on a battery, by the rule of systemd's
 * ConditionACPower=: no supply that is no battery is online, and a battery discharges. Supplies of
 * other devices, such as mice and tablets, do not count, and neither does a USB-C port that
 * supplies another device.
 */
bool power_source_is_battery(void);
