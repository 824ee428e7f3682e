/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/*
 * Prints the policy that the files make, every key with its value, and behind a semicolon the line
 * that gave it or "built in". What is printed is a policy file. Profiles are not applied: they
 * stand at the end. Arguments, return value and *ret_message as of policy_load().
 */
int policy_show(const char *path, bool may_be_missing, const char *dropin_dir, FILE *out,
		char **ret_message);
