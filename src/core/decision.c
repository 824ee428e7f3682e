// SPDX-License-Identifier: GPL-2.0-only
/* Names of a decision's parts, and the note of what it rested on. */
#include "core/decision.h"

#include "shared/cleanup.h"

const char *const reason_names[] = {
	[REASON_IDLE] = "idle",		[REASON_UTILISATION] = "utilisation",
	[REASON_IO_BOOST] = "io-boost", [REASON_FLOOR] = "floor",
	[REASON_UNCAPPED] = "uncapped", [REASON_OWN_FLOOR] = "own-floor",
	[REASON_CHAIN] = "chain",
};
_Static_assert(ARRAY_SIZE(reason_names) == REASON_LAST + 1, "each has a name");

const char *const limiter_names[] = {
	[LIMITER_NONE] = "none",
	[LIMITER_POLICY_MIN] = "policy-min",
	[LIMITER_POLICY_MAX] = "policy-max",
	[LIMITER_SCALING_MIN] = "scaling-min",
	[LIMITER_SCALING_MAX] = "scaling-max",
	[LIMITER_CAP] = "cap",
	[LIMITER_OWN_CAP] = "own-cap",
	[LIMITER_GROUP_CAP] = "group-cap",
};
_Static_assert(ARRAY_SIZE(limiter_names) == LIMITER_LAST + 1, "each has a name");

const char *const timing_names[] = {
	[TIMING_NOW] = "now",
	[TIMING_HELD] = "held",
	[TIMING_RATE_LIMITED] = "rate-limited",
};
_Static_assert(ARRAY_SIZE(timing_names) == TIMING_RATE_LIMITED + 1, "each has a name");

void explanation_note(struct explanation *explanation, const struct contender *contender)
{
	uint32_t n = explanation->n_contenders, i;

	if (!contender->cap)
		return;
	explanation->n_contenders++;
	if (n > EXPLANATION_CONTENDERS_MAX)
		n = EXPLANATION_CONTENDERS_MAX;
	/* Equals keep their order, as in the merge. */
	for (i = n; i > 0 && explanation->contenders[i - 1].cap < contender->cap; i--)
		if (i < EXPLANATION_CONTENDERS_MAX)
			explanation->contenders[i] = explanation->contenders[i - 1];
	if (i < EXPLANATION_CONTENDERS_MAX)
		explanation->contenders[i] = *contender;
}
