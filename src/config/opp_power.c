// SPDX-License-Identifier: GPL-2.0-only
#include "config/opp_power.h"

#include <errno.h>
#include <string.h>

#include "config/text.h"
#include "shared/cleanup.h"

#define KHZ_LEAST 1000	     /* 1 MHz … */
#define KHZ_MOST  100000000  /* … to 100 GHz, as other frequencies of a policy */
#define UW_MOST	  1000000000 /* 1000W */

_Static_assert(POLICY_NO_DOMAIN_SECTION + 1 == 0, "[domain] is section 0 of opp_powers");

static int parse(const char *text, struct policy_opp_power *ret)
{
	size_t length = strcspn(text, " \t");
	_cleanup_free_ char *frequency = strndup(text, length);
	uint64_t khz, uw;

	if (!frequency)
		return -ENOMEM;
	text += length;
	text += strspn(text, " \t");
	if (policy_units_parse(&policy_units_frequency, frequency, &khz) < 0 ||
	    policy_units_parse(&policy_units_power, text, &uw) < 0 || khz < KHZ_LEAST ||
	    khz > KHZ_MOST || uw < 1 || uw > UW_MOST)
		return -EINVAL;
	ret->khz = khz;
	ret->uw = uw;
	return 0;
}

static void forget_section(struct policy *policy, uint32_t section)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < policy->n_opp_powers; i++)
		if (policy->opp_powers[i].section != section)
			policy->opp_powers[n++] = policy->opp_powers[i];
	policy->n_opp_powers = n;
}

int policy_opp_power_assign(struct policy_draft *draft, struct policy_sections *sections,
			    struct policy_place place, const char *section, const char *text,
			    char **ret_message)
{
	struct policy *policy = &draft->policy;
	struct policy_opp_power opp = { .section = sections->domain_section + 1 };
	const struct policy_opp_power *before;
	char shown[POLICY_TEXT_SIZE];
	int r = parse(text, &opp);

	if (r == -ENOMEM)
		return r;
	policy_text_escape(text, shown);
	if (r < 0)
		return policy_error_set(ret_message, r, place,
					"[%s] " POLICY_OPP_POWER_KEY
					": found '%s', expected a frequency from 1MHz to 100GHz "
					"and what a busy CPU takes at it, from 1uW to 1000W, such "
					"as 1200MHz 340mW",
					section, shown);
	if (!sections->has_powers)
		forget_section(policy, opp.section);
	before = sections->has_powers ? &policy->opp_powers[policy->n_opp_powers - 1] : NULL;
	if (before && opp.khz <= before->khz)
		return policy_error_set(ret_message, -EINVAL, place,
					"[%s] " POLICY_OPP_POWER_KEY
					": found '%s', expected a frequency above the %g MHz of "
					"the line before",
					section, shown, before->khz / 1000.0);
	if (policy->n_opp_powers == POLICY_OPP_POWERS_MAX)
		return policy_error_set(ret_message, -E2BIG, place,
					"[%s] " POLICY_OPP_POWER_KEY
					": found one more, expected at most %d in all",
					section, POLICY_OPP_POWERS_MAX);
	sections->has_powers = true;
	policy->opp_powers[policy->n_opp_powers++] = opp;
	return 0;
}
