// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a domain's winning demand to its OPP: limits, the rate limit of rises, the hold time of
 * falls, and the reason. Also the names of a decision's parts.
 */
#include "core/domain.h"

#include <string.h>

#include "core/decision.h"
#include "core/opp.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define RATE_LIMIT_DEFAULT_NS 1000000ULL

void domain_init(struct domain *domain, uint32_t index, const struct topology_domain *info)
{
	*domain = (struct domain){
		.info = *info,
		.scaling_min_khz = info->opp_khz[0],
		.scaling_max_khz = topology_domain_max_khz(info),
		.next_ns = UINT64_MAX,
		.effective_cap = CLAMP_CAP_NONE,
		.last = { .domain = index },
	};
}

uint64_t domain_rate_limit_ns(const struct domain *domain)
{
	uint64_t wanted_ns = domain->policy.rate_limit_ns;
	uint64_t least_ns = 2 * domain->info.transition_latency_ns;

	if (!wanted_ns)
		wanted_ns = RATE_LIMIT_DEFAULT_NS;
	return wanted_ns > least_ns ? wanted_ns : least_ns;
}

static uint32_t policy_khz(const struct domain *domain, struct policy_frequency frequency,
			   uint32_t otherwise_khz)
{
	switch (frequency.kind) {
	case POLICY_FREQUENCY_KHZ:
		return frequency.value;
	case POLICY_FREQUENCY_PERCENT:
		return (uint64_t)topology_domain_max_khz(&domain->info) * frequency.value / 100;
	default:
		return otherwise_khz;
	}
}

static uint32_t clamp_khz(uint32_t khz, uint32_t min_khz, uint32_t max_khz)
{
	if (khz > max_khz)
		return max_khz;
	return khz < min_khz ? min_khz : khz;
}

/*
 * Clamps khz to the limits of the policy, and names the last one that changed it. A maximum wins
 * over a minimum, but the policy's maximum does not win over an override's minimum.
 */
static uint32_t limit(const struct domain *domain, uint32_t khz, enum limiter *limiter)
{
	bool min_wins = domain->policy.min.override && !domain->policy.max.override;
	uint32_t min_khz = policy_khz(domain, domain->policy.min, 0);
	uint32_t max_khz = policy_khz(domain, domain->policy.max, UINT32_MAX);

	if (min_wins && max_khz < min_khz)
		max_khz = min_khz;
	if (khz < min_khz) {
		*limiter = LIMITER_POLICY_MIN;
		khz = min_khz;
	}
	if (khz > max_khz) {
		*limiter = LIMITER_POLICY_MAX;
		khz = max_khz;
	}
	return khz;
}

void domain_limits(const struct domain *domain, uint32_t *ret_min_khz, uint32_t *ret_max_khz)
{
	uint32_t low = domain->scaling_min_khz, high = domain->scaling_max_khz;
	enum limiter limiter;

	*ret_min_khz = clamp_khz(limit(domain, 0, &limiter), low, high);
	*ret_max_khz = clamp_khz(limit(domain, UINT32_MAX, &limiter), low, high);
}

/* The last clamp that changed the outcome; scaling_min/max come after all others. */
static enum limiter name_limiter(const struct domain *domain, uint32_t khz)
{
	enum limiter limiter = LIMITER_NONE;

	khz = limit(domain, khz, &limiter);
	if (khz < domain->scaling_min_khz && domain->scaling_min_khz > domain->info.opp_khz[0])
		return LIMITER_SCALING_MIN;
	if (khz > domain->scaling_max_khz &&
	    domain->scaling_max_khz < topology_domain_max_khz(&domain->info))
		return LIMITER_SCALING_MAX;
	return limiter;
}

void domain_explain(const struct domain *domain, struct explanation *ret)
{
	ret->policy_min_khz = policy_khz(domain, domain->policy.min, 0);
	ret->policy_max_khz = policy_khz(domain, domain->policy.max, UINT32_MAX);
	ret->min_override = domain->policy.min.override;
	ret->max_override = domain->policy.max.override;
	ret->scaling_min_khz = domain->scaling_min_khz;
	ret->scaling_max_khz = domain->scaling_max_khz;
}

static enum timing time_change(struct domain *domain, const struct demand *demand, uint32_t max_khz,
			       uint64_t now_ns)
{
	const struct decision *last = &domain->last;
	uint64_t allowed_ns = domain->changed_ns + domain_rate_limit_ns(domain);

	domain->next_ns = UINT64_MAX;
	if (last->wanted_khz >= last->previous_khz)
		domain->lower_since_ns = 0;
	if (!last->previous_khz || last->wanted_khz == last->previous_khz)
		return TIMING_NOW;
	/* A cap takes effect at once, as every limit does. */
	if (last->wanted_khz < last->previous_khz && last->previous_khz <= max_khz &&
	    !demand->capped_pid) {
		if (!domain->lower_since_ns)
			domain->lower_since_ns = now_ns;
		/* The merge has already held idle for this time: see merge(). */
		domain->next_ns = domain->lower_since_ns + domain->policy.down_hold_ns;
		if (demand->reason != REASON_IDLE && !domain->falls_at_once &&
		    now_ns < domain->next_ns)
			return TIMING_HELD;
	}
	domain->next_ns = allowed_ns;
	if (domain->changed_ns && now_ns < allowed_ns)
		return TIMING_RATE_LIMITED;
	domain->next_ns = UINT64_MAX;
	return TIMING_NOW;
}

static void set_winner(struct decision *decision, const struct demand *demand)
{
	decision->reason = demand->reason;
	decision->want_cap = demand->uncapped_cap;
	decision->cpu = demand->cpu;
	decision->pid = demand->pid;
	decision->rule = demand->rule < 0 ? 0 : demand->rule + 1;
	decision->capped_pid = demand->capped_pid;
	memset(decision->comm, 0, sizeof(decision->comm));
	if (demand->comm)
		memcpy(decision->comm, demand->comm, sizeof(decision->comm));
}

/* Many tasks that share CPUs leave each CPU with less work for a moment now and then. */
#define MOMENT_NS (100 * NS_PER_MS)

uint64_t domain_full_since_ns(const struct domain *domain, uint64_t now_ns)
{
	if (domain->less_since_ns && now_ns > domain->less_since_ns + MOMENT_NS)
		return 0;
	return domain->full_since_ns;
}

static void set_full(struct domain *domain, bool is_full, uint64_t now_ns)
{
	domain->full_since_ns = domain_full_since_ns(domain, now_ns);
	if (is_full) {
		domain->less_since_ns = 0;
		if (!domain->full_since_ns)
			domain->full_since_ns = now_ns;
	} else if (!domain->less_since_ns) {
		domain->less_since_ns = now_ns;
	}
}

void domain_decide(struct domain *domain, const struct demand *demand, uint64_t now_ns)
{
	struct decision *last = &domain->last;
	uint32_t khz = opp_khz_for_cap(&domain->info, demand->cap);
	uint32_t min_khz, max_khz;

	domain_limits(domain, &min_khz, &max_khz);
	set_winner(last, demand);
	last->now_ns = now_ns;
	last->previous_khz = last->target_khz;
	last->limiter = name_limiter(domain, khz);
	if (last->limiter == LIMITER_NONE && demand->capped_pid)
		last->limiter = demand->rule >= 0		 ? LIMITER_CAP
				: demand->rule == CLAMP_BY_GROUP ? LIMITER_GROUP_CAP
								 : LIMITER_OWN_CAP;
	last->wanted_khz = opp_at_or_above(&domain->info, khz, min_khz, max_khz);
	if (demand->explanation)
		demand->explanation->lowest_khz = opp_lowest_at_or_above(&domain->info, khz,
									 min_khz, max_khz);
	khz = opp_khz_for_cap(&domain->info, demand->floor_cap);
	domain->floor_khz = khz ? opp_at_or_above(&domain->info, khz, min_khz, max_khz) : 0;
	khz = opp_at_or_above(&domain->info, opp_khz_for_cap(&domain->info, demand->own_cap),
			      min_khz, max_khz);
	set_full(domain, khz >= opp_at_or_above(&domain->info, max_khz, min_khz, max_khz), now_ns);
	last->timing = time_change(domain, demand, max_khz, now_ns);
	if (last->timing == TIMING_NOW && last->wanted_khz != last->previous_khz) {
		last->target_khz = last->wanted_khz;
		domain->changed_ns = now_ns;
		domain->lower_since_ns = 0;
	}
	if (last->timing == TIMING_NOW)
		domain->falls_at_once = demand->is_waited_for;
	domain->due = false;
}

/* Names of a decision's parts, and the note of what it rested on. */

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
