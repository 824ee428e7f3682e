// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a domain is decided for again, what the kernel side watches until then, and where nothing
 * needs to be watched.
 */
#include "core/engine_state.h"
#include "core/opp.h"
#include "shared/time.h"
#include "wakegov/chain.h"
#include "wakegov/util_acct.h"

/* Most between looks at a chain that stays. With twice the time, a floor outlasts it by as much. */
#define CHAIN_GAP_MOST_NS (400 * NS_PER_MS)
/*
 * By so much what is waited for may take longer without another look; the looks at the domains that
 * it goes through are one, within this time. With twice the time, fewer take a wake-up more, and
 * the frequency stays up for longer.
 */
#define WAITED_STEP_NS (8 * NS_PER_MS)
#define LOOK_NS	       (100 * NS_PER_MS) /* between looks at domains whose target nothing depends on */
/* Utilisation takes as long to grow: what is shorter is no saturation. */
#define FULL_NS (100 * NS_PER_MS)

/* The next OPP below the target, or 0 when the limits allow none. */
static uint32_t lower_khz(const struct domain *domain)
{
	uint32_t min_khz, max_khz, below_khz;

	domain_limits(domain, &min_khz, &max_khz);
	below_khz = opp_below(&domain->info, domain->last.target_khz, max_khz);
	return below_khz >= min_khz ? below_khz : 0;
}

/*
 * The utilisation below which the next lower OPP suffices; 0 when the limits allow none, or when it
 * suffices already and the limits or the timing prevent its use.
 */
static uint32_t low_q(const struct domain *domain, const struct cpu *winner)
{
	uint32_t below_khz = lower_khz(domain), covered_q;

	if (!below_khz)
		return 0;
	covered_q = utilisation_covered_q(&domain->info, below_khz,
					  domain->policy.headroom_percent);
	return account_need_q(winner->util_q, winner->est_q) > covered_q ? covered_q : 0;
}

/*
 * The CPU works now and was idle a moment ago, and goes on so hundreds or thousands of times a
 * second. A record each time would cost more than it saves; a check after the hold time suffices,
 * and after that of the idle time where what runs has not shown that it needs as much.
 */
static bool comes_and_goes(const struct domain *domain, const struct cpu *cpu, uint64_t now_ns)
{
	return cpu->running && now_ns < cpu->idle_since_ns + domain->policy.down_hold_ns;
}

/*
 * An idle CPU causes no event when its utilisation decays, nor an idle domain when its hold time
 * ends, which can be before a held fall is due: computes the time when either matters. The kernel
 * side watches running CPUs.
 */
static void plan_decay(const struct engine *engine, struct domain *domain,
		       const struct demand *demand, uint64_t now_ns)
{
	const struct cpu *winner = &engine->cpus[demand->cpu];
	uint64_t idle_ns = demand->idle_since_ns + domain->policy.down_hold_ns;
	uint64_t at_ns = UINT64_MAX, decay_ns = UINT64_MAX;

	if (demand->reason != REASON_UTILISATION || !lower_khz(domain))
		return;
	if (!winner->running)
		decay_ns = utilisation_decay_ns(winner->util_q, low_q(domain, winner));
	/* Limits checks of a load that crosses the edge of the band again and again. */
	if (decay_ns < domain->policy.down_hold_ns)
		decay_ns = domain->policy.down_hold_ns;
	if (decay_ns != UINT64_MAX)
		at_ns = now_ns + decay_ns;
	if (demand->idle_since_ns != UINT64_MAX && idle_ns > now_ns && idle_ns < at_ns)
		at_ns = idle_ns;
	engine_for_each_cpu(engine, cpu, domain->last.domain) {
		const struct cpu *c = &engine->cpus[cpu];
		uint64_t since_ns = account_is_news(c->util_q, c->est_q) ? c->idle_since_ns
									 : now_ns;

		if (comes_and_goes(domain, c, now_ns) &&
		    since_ns + domain->policy.down_hold_ns < at_ns)
			at_ns = since_ns + domain->policy.down_hold_ns;
	}
	if (at_ns < domain->next_ns)
		domain->next_ns = at_ns;
}

/* The looks at all domains are at once. */
static bool is_look(uint64_t at_ns)
{
	return at_ns % LOOK_NS == 0;
}

/* When a domain that is waited for until then is decided for again: with others. */
static uint64_t end_with_others(const struct engine *engine, uint64_t until_ns)
{
	uint64_t at_ns = UINT64_MAX;

	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		if (engine->due_ns[i] >= until_ns && engine->due_ns[i] < at_ns &&
		    !is_look(engine->due_ns[i]))
			at_ns = engine->due_ns[i];
	/* One that was raised a moment later is due a moment after this one would be. */
	return at_ns < until_ns + WAITED_STEP_NS * 5 / 4 ? at_ns : until_ns + WAITED_STEP_NS;
}

/*
 * A chain that is still there causes no event, nor does one that is gone, or a kernel thread that
 * no longer ends waits: decides again at the end of the hold time of the one that asks for most, if
 * that is above the lowest OPP. As long as the same floor comes of it, and no CPU asks for more by
 * itself, the time to the next look doubles: each wakes up the daemon. What is waited for is over
 * soon, and then costs power; a look before that would end it early, and the next piece be slow.
 */
static void plan_chains(const struct engine *engine, struct domain *domain,
			const struct demand *demand, uint64_t now_ns)
{
	uint32_t before_khz = engine->domains[domain->last.domain].floor_khz;
	uint32_t most_q = utilisation_covered_q(&domain->info, domain->info.opp_khz[0],
						domain->policy.headroom_percent);
	uint64_t until_ns = 0, served_ns = 0;
	bool waited_for = false;

	engine_for_each_cpu(engine, cpu, domain->last.domain) {
		const struct cpu *c = &engine->cpus[cpu];
		const struct io_task *served = engine_served_on(engine, cpu);

		if (served && served->io_boost.granted)
			served_ns = c->served_ns + ENGINE_CHAIN_HOLD_NS;
		if (!engine->policy.chains || !engine_chain_until_ns(c, now_ns) ||
		    c->chain.util_q <= most_q)
			continue;
		most_q = c->chain.util_q;
		waited_for = !c->chain.waker;
		until_ns = engine_chain_until_ns(c, now_ns);
	}
	if (served_ns > until_ns)
		until_ns = served_ns;
	if (!until_ns || waited_for || domain->floor_khz != before_khz ||
	    demand->reason == REASON_UTILISATION)
		domain->chain_gap_ns = 0;
	else
		domain->chain_gap_ns = 2 * domain->chain_gap_ns + until_ns - now_ns;
	if (domain->chain_gap_ns > CHAIN_GAP_MOST_NS)
		domain->chain_gap_ns = CHAIN_GAP_MOST_NS;
	if (waited_for)
		until_ns = end_with_others(engine, until_ns);
	if (until_ns < now_ns + domain->chain_gap_ns)
		until_ns = now_ns + domain->chain_gap_ns;
	if (until_ns > now_ns &&
	    (until_ns < domain->next_ns || (waited_for && is_look(domain->next_ns))))
		domain->next_ns = until_ns;
}

/*
 * Whether the domain is looked at now and then, instead of being watched: nothing depends on its
 * target, which is only shown and counted. At the same times as others, so that the looks of all
 * take one wake-up.
 */
static bool is_looked_at(const struct engine *engine, const struct domain *domain)
{
	return domain->last.reason != REASON_IDLE &&
	       !engine_uses_target(engine, domain->last.domain);
}

void engine_mark_due(struct engine *engine, uint32_t cpu)
{
	uint32_t index = topology_domain_of(engine->topology, cpu);

	if (index != TOPOLOGY_NO_DOMAIN)
		engine_mark_domain(engine, index);
}

void engine_plan_next(const struct engine *engine, struct domain *domain,
		      const struct demand *demand, uint64_t now_ns)
{
	bool floor_is_late = domain->last.timing == TIMING_RATE_LIMITED &&
			     domain->floor_khz > domain->last.target_khz;

	if (!is_looked_at(engine, domain))
		plan_decay(engine, domain, demand, now_ns);
	else if (!floor_is_late)
		domain->next_ns = now_ns - now_ns % LOOK_NS + LOOK_NS;
	plan_chains(engine, domain, demand, now_ns);
}

/* What this domain runs at, or more, as far as is known. */
static uint32_t known_khz(const struct engine *engine, const struct domain *domain, uint32_t cpu)
{
	const struct decision *last = &domain->last;

	if (domain->floor_khz)
		return domain->floor_khz;
	/* A target of the last look is of the past; the kernel side knows this CPU's need. */
	if (is_looked_at(engine, domain) && last->cpu == cpu)
		return domain->info.opp_khz[0];
	return last->target_khz;
}

/*
 * The utilisation of a chain above which it asks for more; UINT32_MAX: there is no more. A chain
 * that was found to ask for no floor is no news.
 */
static uint32_t chain_covered_q(const struct engine *engine, const struct domain *domain,
				uint32_t cpu, uint32_t min_khz, uint32_t max_khz)
{
	const struct input_chain *chain = &engine->cpus[cpu].chain;
	uint32_t khz = known_khz(engine, domain, cpu), covered_q;

	if (opp_at_or_above(&domain->info, khz + 1, min_khz, max_khz) <= khz)
		return UINT32_MAX;
	covered_q = utilisation_covered_q(&domain->info, khz, domain->policy.headroom_percent);
	if (!domain->floor_khz && engine_chain_until_ns(&engine->cpus[cpu], domain->last.now_ns) &&
	    chain->util_q > covered_q)
		return chain->util_q + chain->util_q / CHAIN_NEAR;
	return covered_q;
}

uint64_t engine_full_ns(const struct engine *engine, uint64_t now_ns)
{
	uint64_t full_ns = 0;

	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		const struct domain *domain = &engine->domains[i];
		uint64_t since_ns = domain_full_since_ns(domain, now_ns);

		if (!domain->active)
			continue;
		if (!since_ns)
			return UINT64_MAX;
		if (since_ns + FULL_NS > full_ns)
			full_ns = since_ns + FULL_NS;
	}
	return full_ns;
}

bool engine_keeps_full(const struct engine *engine, uint32_t domain, uint32_t share)
{
	const struct domain *d = &engine->domains[domain];
	uint32_t min_khz, max_khz, util_q;

	if (!d->active)
		return true;
	domain_limits(d, &min_khz, &max_khz);
	max_khz = opp_at_or_above(&d->info, max_khz, min_khz, max_khz);
	util_q = (uint64_t)DECAY_Q(opp_cap_at_khz(&d->info, max_khz)) * share / 1024;
	return opp_khz_for_cap(&d->info, utilisation_demand_cap(
						 util_q, d->policy.headroom_percent)) >= max_khz;
}

void engine_band(const struct engine *engine, uint32_t cpu, struct engine_band *ret)
{
	const struct domain *domain = engine_domain_of(engine, cpu);
	const struct decision *last;
	uint32_t min_khz, max_khz, cap_khz;

	*ret = (struct engine_band){ .high_q = UINT32_MAX, .chain_q = UINT32_MAX };
	if (domain)
		ret->long_burst_ns = domain_rate_limit_ns(domain) +
				     engine->policy.caps.burst_margin_ns;
	if (!domain || !domain->active || !domain->last.target_khz)
		return;
	last = &domain->last;
	domain_limits(domain, &min_khz, &max_khz);
	cap_khz = engine_effective_cap_khz(engine, last->domain);
	if (cap_khz < max_khz)
		max_khz = cap_khz;
	ret->watch_ran = domain->watch_ran;
	ret->watch_long_running = domain->watch_long_running;
	if (engine->policy.chains && last->timing != TIMING_RATE_LIMITED)
		ret->chain_q = chain_covered_q(engine, domain, cpu, min_khz, max_khz);
	if (engine->policy.chains && engine->policy.waiting_uw)
		ret->waiting_q = utilisation_covered_q(
			&domain->info, opp_worth_waiting(&domain->info, engine->policy.waiting_uw),
			domain->policy.headroom_percent);
	if (is_looked_at(engine, domain))
		return;
	ret->watch = last->timing != TIMING_RATE_LIMITED;
	if (opp_at_or_above(&domain->info, last->target_khz + 1, min_khz, max_khz) >
	    last->target_khz) {
		ret->burst_ns = utilisation_covered_burst_ns(&domain->info, last->target_khz,
							     domain->policy.rise_time_ns);
		ret->high_q = utilisation_covered_q(&domain->info, last->target_khz,
						    domain->policy.headroom_percent);
	}
	if (last->timing != TIMING_NOW || last->reason != REASON_UTILISATION ||
	    last->target_khz == opp_at_or_above(&domain->info, 0, 0, UINT32_MAX))
		return;
	ret->watch_idle = engine->cpus[cpu].running &&
			  !comes_and_goes(domain, &engine->cpus[cpu], last->now_ns);
	if (last->cpu == cpu && engine->cpus[cpu].running)
		ret->low_q = low_q(domain, &engine->cpus[cpu]);
}
