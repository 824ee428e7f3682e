/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reads the policy: one main file, then the *.conf drop-ins of a directory in the order of their
 * names, which override earlier files. Strict, and whole or not at all.
 */

#include <stdbool.h>
#include <stdio.h>

#include "config/error.h"
#include "core/settings.h"
#include "core/topology.h"

/*
 * The sections [profile NAME]: keys of other sections, as "domain.headroom = 110%", that apply
 * while the profile is in force, and conditions under which it comes into force by itself. A later
 * file's section of the same name continues the profile, key by key.
 */
#define POLICY_PROFILES_MAX 16

enum policy_power {
	POLICY_POWER_ANY,
	POLICY_POWER_BATTERY,
	POLICY_POWER_MAINS,
};

/* All given conditions must hold. */
struct policy_when {
	bool given;
	char text[POLICY_LINE_MAX + 1]; /* as written */
	enum policy_power power;
	bool by_time;
	uint32_t from_min, until_min; /* of the local day; exclusive */
	char rule[POLICY_NAME_SIZE];  /* the rule that must have a task; "": none */
};

struct policy_profile {
	char name[POLICY_NAME_SIZE];
	struct policy_when when;
};

/* All zero is an empty table. */
struct policy_profiles {
	struct policy_profile entries[POLICY_PROFILES_MAX];
	uint32_t n;
};

/* The profile that is in force when no other is: the first. */
#define POLICY_PROFILE_DEFAULT "balanced"

/* NULL: there is no profile with this name. */
const struct policy_profile *policy_profiles_find(const struct policy_profiles *profiles,
						  const char *name);

#define POLICY_BUILT_IN_FILE "built-in profiles" /* named as their file */

/* The contents of policy files, with a policy for each profile. */
struct policy_files;
struct policy_origins;

/*
 * Reads path and, where dropin_dir is not NULL, its drop-ins, over the built-in defaults and
 * profiles.
 *
 * Where dropin_dir is that of the installed policy, WAKEGOV_POLICY_PATH, drop-ins of the
 * directories of /run and of packages are read as well, each in its place by name; of one name the
 * first counts, by /etc, /run, /usr/lib.
 *
 * A missing drop-in directory is no error; a missing main file is one unless may_be_missing. On
 * success returns 0, and the caller frees *ret. On failure returns a negative errno and sets
 * *ret_message to allocated lines, "file:line: what was found, what was expected", one for each
 * fault, that the caller frees; it is NULL only when memory is short.
 */
int policy_files_read(const char *path, bool may_be_missing, const char *dropin_dir,
		      struct policy_files **ret, char **ret_message);

/* Takes NULL. Returns NULL. */
struct policy_files *policy_files_free(struct policy_files *files);

/* Where each value was given. Borrowed. */
const struct policy_origins *policy_files_origins(const struct policy_files *files);

/* Borrowed; has at least the default profile. */
const struct policy_profiles *policy_files_profiles(const struct policy_files *files);

/*
 * The policy with a profile of the files. If the profile makes a min-frequency exceed a
 * max-frequency, the latter wins. Returns 0 or -ENOMEM.
 */
int policy_files_apply(const struct policy_files *files, const struct policy_profile *profile,
		       struct policy *ret);

/* Reads the policy with the default profile. Returns as policy_files_read(). */
int policy_load(const char *path, bool may_be_missing, const char *dropin_dir, struct policy *ret,
		char **ret_message);

/*
 * Prints the policy that the files make, every key with its value, and behind a semicolon the line
 * that gave it or "built in". What is printed is a policy file. Profiles are not applied: they
 * stand at the end. Arguments, return value and *ret_message as of policy_load().
 */
int policy_show(const char *path, bool may_be_missing, const char *dropin_dir, FILE *out,
		char **ret_message);

/*
 * Warns of settings of a valid policy that do not fit this machine: a [domain policyN] without such
 * a domain, a frequency that is no OPP. They are applied, with the next OPP.
 *
 * line: "[domain policy0] max-frequency = 1500 MHz: …", once for each key of a section.
 */
void policy_machine_check(const struct policy *policy, const struct topology *topology,
			  void (*warn)(void *userdata, const char *line), void *userdata);
