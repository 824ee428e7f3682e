// SPDX-License-Identifier: GPL-2.0-only
/*
 * The caps and floors at work in a domain. A task is at work until the hold time after it last ran.
 *
 *	ceiling = the highest cap among the tasks that count
 *
 * A task counts when its bursts are long enough for a change of frequency to come in time. The
 * short ones never lift the ceiling, and their demand is bounded by it like any other. Without a
 * capped task at work there is none; and while none of those at work counts, the capped ones among
 * them are what there is.
 */
#include <string.h>

#include "core/engine_private.h"
#include "core/opp.h"
#include "shared/time.h"
#include "wakegov/decay.h"

/* A running task is seen at the next tick; ticks are 10 ms apart at most. */
#define RUN_HOLD_NS (12 * NS_PER_MS)
/* A ceiling is looked at again after that, for nobody tells that a capped task has stopped. */
#define RECHECK_NS (100 * NS_PER_MS)
/*
 * What ran under a cap looks smaller than it is: its demand is as much as it may have, until its
 * utilisation has grown for two half-lives.
 */
#define LIFT_NS (2 * DECAY_HALF_LIFE_NS)

uint64_t ceiling_hold_ns(const struct engine *engine, uint32_t domain)
{
	uint64_t hold_ns = engine->domains[domain].policy.down_hold_ns;

	return hold_ns > RUN_HOLD_NS ? hold_ns : RUN_HOLD_NS;
}

/* The end of its work; 0: it has none. */
static uint64_t end_ns(uint64_t last_ns, uint64_t hold_ns, uint64_t now_ns)
{
	return last_ns && now_ns < last_ns + hold_ns ? last_ns + hold_ns : 0;
}

static void raise_clamp(struct clamp_at_work *best, uint32_t cap, uint32_t cpu, uint32_t pid,
			int32_t rule, uint64_t until_ns)
{
	if (best->until_ns && (cap < best->cap || (cap == best->cap && until_ns <= best->until_ns)))
		return;
	*best = (struct clamp_at_work){ cap, cpu, pid, rule, until_ns };
}

/* One set on one CPU. */
static void add_run(const struct set_run *run, const struct set_clamp *clamp, uint32_t cpu,
		    uint64_t hold_ns, uint64_t now_ns, struct ceiling *ceiling)
{
	uint64_t ran_until_ns = end_ns(run->ran_ns, hold_ns, now_ns);
	uint64_t counted_until_ns = end_ns(run->counted_ns, hold_ns, now_ns);

	if (!ran_until_ns)
		return;
	if (counted_until_ns)
		raise_clamp(&ceiling->counted, clamp->cap, cpu, run->counted_pid, clamp->cap_rule,
			    counted_until_ns);
	if (clamp->cap != CLAMP_CAP_NONE)
		raise_clamp(&ceiling->capped, clamp->cap, cpu, run->ran_pid, clamp->cap_rule,
			    ran_until_ns);
	if (clamp->cap < ceiling->lowest_cap)
		ceiling->lowest_cap = clamp->cap;
	if (clamp->floor)
		raise_clamp(&ceiling->floor, clamp->floor, cpu, run->ran_pid, clamp->floor_rule,
			    ran_until_ns);
}

void ceiling_find(const struct engine *engine, uint32_t domain, uint64_t now_ns,
		  struct ceiling *ret)
{
	const struct topology_domain *info = engine->domains[domain].info;
	uint64_t hold_ns = ceiling_hold_ns(engine, domain);
	struct set_clamp clamp;

	*ret = (struct ceiling){ .lowest_cap = CLAMP_CAP_NONE };
	for (uint32_t set = 0; set < engine->sets.n; set++) {
		clamp_sets_in(&engine->sets, &engine->policy, set, info, &clamp);
		engine_for_each_cpu(engine, cpu, domain)
			add_run(&engine->cpus[cpu].runs[set], &clamp, cpu, hold_ns, now_ns, ret);
	}
	ret->bound = (struct clamp_at_work){ .cap = CLAMP_CAP_NONE };
	if (ret->capped.until_ns)
		ret->bound = ret->counted.until_ns ? ret->counted : ret->capped;
}

/*
 * When a task that counts lifts the ceiling of one or more capped ones, it gets all that it may
 * have at once.
 */
void ceiling_lift(struct domain *domain, const struct ceiling *ceiling, uint64_t now_ns)
{
	uint32_t before = domain->ceiling_cap;

	domain->ceiling_cap = ceiling->bound.cap;
	if (ceiling->bound.cap > before && ceiling->counted.until_ns && ceiling->capped.until_ns) {
		domain->lift = ceiling->counted;
		domain->lift.until_ns = now_ns + LIFT_NS;
	}
	/* The one that lifted it is over, or may have less now. */
	if (!ceiling->counted.until_ns || domain->lift.cap > ceiling->counted.cap)
		domain->lift.until_ns = 0;
}

/* The OPP that serves a cap. */
static uint32_t khz_of(const struct topology_domain *info, uint32_t cap)
{
	return opp_at_or_above(info, opp_khz_for_cap(info, cap), 0, UINT32_MAX);
}

uint32_t ceiling_khz(const struct domain *domain)
{
	if (domain->ceiling_cap == CLAMP_CAP_NONE)
		return UINT32_MAX;
	return khz_of(domain->info, domain->ceiling_cap);
}

uint32_t engine_ceiling_khz(const struct engine *engine, uint32_t domain)
{
	return ceiling_khz(&engine->domains[domain]);
}

/*
 * What the kernel side is to wait for: tasks that count and would lift the ceiling, capped ones
 * where there is more than they may have, and floors that are not given.
 */
void ceiling_watch(const struct engine *engine, uint32_t domain, const struct ceiling *ceiling)
{
	struct domain *d = &engine->domains[domain];
	struct set_clamp clamp;

	d->watch_ran = 0;
	d->watch_counted = 0;
	for (uint32_t set = 0; set < engine->sets.n; set++) {
		clamp_sets_in(&engine->sets, &engine->policy, set, d->info, &clamp);
		if (clamp.cap > ceiling->bound.cap)
			d->watch_counted |= 1ULL << set;
		if (clamp.cap != CLAMP_CAP_NONE && !ceiling->capped.until_ns &&
		    khz_of(d->info, clamp.cap) < d->last.target_khz)
			d->watch_ran |= 1ULL << set;
		if (clamp.floor && khz_of(d->info, clamp.floor) > d->last.target_khz)
			d->watch_ran |= 1ULL << set;
	}
}

static void look_by(struct domain *domain, uint64_t at_ns)
{
	if (at_ns < domain->next_ns)
		domain->next_ns = at_ns;
}

void ceiling_plan(struct domain *domain, const struct ceiling *ceiling, uint64_t now_ns)
{
	const struct decision *last = &domain->last;

	if (ceiling->capped.until_ns) {
		/* Others than those of the lowest cap hold it up: until they are over. */
		if (ceiling->bound.cap > ceiling->lowest_cap)
			look_by(domain, ceiling->bound.until_ns);
		else if (last->target_khz >= khz_of(domain->info, ceiling->bound.cap))
			look_by(domain, now_ns + RECHECK_NS);
	}
	if (domain->lift.until_ns > now_ns)
		look_by(domain, domain->lift.until_ns);
	if (last->reason == REASON_FLOOR || last->reason == REASON_OWN_FLOOR)
		look_by(domain, ceiling->floor.until_ns);
}
