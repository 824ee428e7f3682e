/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What policy files say: the values, the places of those that can contradict each other, and the
 * profiles.
 */

#include "config/error.h"
#include "config/keys.h"
#include "config/origins.h"
#include "config/profile.h"
#include "core/settings.h"

/* The number of a section [domain policyN]; POLICY_NO_DOMAIN_SECTION is the section [domain]. */
#define POLICY_NO_DOMAIN_SECTION UINT32_MAX

/* A min-frequency or max-frequency as written, for messages about the pair. */
struct policy_limit {
	struct policy_place place;
	uint32_t domain_section; /* index, or POLICY_NO_DOMAIN_SECTION */
	uint32_t order;		 /* the larger one was given later */
	char text[32];
};

struct policy_limits {
	struct policy_limit min, max;
};

struct policy_draft {
	struct policy policy;
	struct policy_limits domain_limits;
	struct policy_limits section_limits[POLICY_DOMAIN_SECTIONS_MAX];
	uint32_t n_limits;
	struct policy_profiles profiles;
	struct policy_origins *origins; /* NULL: not wanted */
};

/* The built-in defaults, without profiles. */
void policy_draft_init(struct policy_draft *draft);

/*
 * Stores value, parsed from text at place, as key of the domain section. place.file must live as
 * long as the draft.
 */
void policy_draft_set(struct policy_draft *draft, const struct policy_key *key,
		      uint32_t domain_section, const struct policy_value *value, const char *text,
		      struct policy_place place);

/*
 * Checks that need the whole policy: a min-frequency over its max-frequency in [domain] or for one
 * domain, where both are in Hz or both in per cent. Returns 0, or -EINVAL and adds to *ret_message
 * a line for each, at the place of the later one.
 */
int policy_draft_check(const struct policy_draft *draft, char **ret_message);
