/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reads the policy: one main file, then the *.conf drop-ins of a directory in the order of their
 * names, later ones over earlier ones. Strict, and whole or not at all.
 */

#include <stdbool.h>

#include "core/settings.h"

#define POLICY_DROPINS_MAX 128 /* files in the directory */

/*
 * Reads path and, where dropin_dir is not NULL, its drop-ins, over the built-in defaults.
 *
 * A missing drop-in directory is no error; a missing main file is one unless may_be_missing. On
 * success returns 0. On failure returns a negative errno, leaves *ret untouched and sets
 * *ret_message to allocated lines, "file:line: what was found, what was expected", one for each
 * fault, that the caller frees; it is NULL only when memory is short.
 */
int policy_load(const char *path, bool may_be_missing, const char *dropin_dir, struct policy *ret,
		char **ret_message);
