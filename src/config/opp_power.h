/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * opp-power of [domain] and [domain policyN]: a line for each OPP, "1200MHz 340mW". The lines of a
 * section make one table, which replaces that of an earlier file.
 */

#include "config/section.h"

/* Takes one line of the open section. Returns 0, or a negative errno and *ret_message. */
int policy_opp_power_assign(struct policy_draft *draft, struct policy_sections *sections,
			    struct policy_place place, const char *section, const char *text,
			    char **ret_message);
