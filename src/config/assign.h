/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One "name = text" of a file into the draft, or what is wrong with it. */

#include "config/draft.h"
#include "config/section.h"

/* Needs an open section. Returns 0, or a negative errno and *ret_message. */
int policy_assign(struct policy_draft *draft, struct policy_sections *sections,
		  struct policy_place place, const char *name, const char *text,
		  char **ret_message);
