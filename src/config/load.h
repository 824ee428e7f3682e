/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reads the policy: one main file, then the *.conf drop-ins of a directory in the order of their
 * names, later ones over earlier ones. Strict, and whole or not at all.
 */

#include <stdbool.h>

#include "config/origins.h"
#include "config/profile.h"
#include "core/settings.h"

#define POLICY_DROPINS_MAX   128		 /* files in the directory */
#define POLICY_BUILT_IN_FILE "built-in profiles" /* the place of those */

/* What the files say: a policy for each profile. */
struct policy_files;

/*
 * Reads path and, where dropin_dir is not NULL, its drop-ins, over the built-in defaults and
 * profiles.
 *
 * A missing drop-in directory is no error; a missing main file is one unless may_be_missing. On
 * success returns 0, and the caller frees *ret. On failure returns a negative errno and sets
 * *ret_message to allocated lines, "file:line: what was found, what was expected", one for each
 * fault, that the caller frees; it is NULL only when memory is short.
 */
int policy_files_read(const char *path, bool may_be_missing, const char *dropin_dir,
		      struct policy_files **ret, char **ret_message);

/* Also notes where each value came from; the places are borrowed from *ret. */
int policy_files_read_noting(const char *path, bool may_be_missing, const char *dropin_dir,
			     struct policy_origins *origins, struct policy_files **ret,
			     char **ret_message);

/* Takes NULL. Returns NULL. */
struct policy_files *policy_files_free(struct policy_files *files);

/* Borrowed; with the default one at least. */
const struct policy_profiles *policy_files_profiles(const struct policy_files *files);

/*
 * The policy while a profile of the files holds. Where it makes a min-frequency cross a
 * max-frequency, the latter wins. Returns 0 or -ENOMEM.
 */
int policy_files_apply(const struct policy_files *files, const struct policy_profile *profile,
		       struct policy *ret);

/* Reads as policy_files_read() the policy under the default profile. */
int policy_load(const char *path, bool may_be_missing, const char *dropin_dir, struct policy *ret,
		char **ret_message);
