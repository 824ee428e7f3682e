// SPDX-License-Identifier: GPL-2.0-only
/*
 * The caps and floors at work in a domain. A task is at work until the hold time after it last ran.
 *
 *	effective cap = the highest cap among the long-running tasks at work
 *
 * A task is long-running when its bursts last long enough for a change of frequency to come in
 * time. Short-running tasks do not raise the effective cap, and it bounds their demand as well. A
 * domain where no capped task is at work has no effective cap. Where no long-running task is at
 * work, the highest cap of the capped tasks is the effective one.
 */
#include <string.h>

#include "core/engine_state.h"
#include "core/opp.h"
#include "shared/time.h"
#include "wakegov/decay.h"

/* A running task is seen at the next tick; ticks are 10 ms apart at most. */
#define RUN_HOLD_NS (12 * NS_PER_MS)
/*
 * A write comes tenths of a millisecond after the wake-up that causes it, which is a large part of
 * a burst: the floor is held for the next of several bursts per second.
 */
#define RESPONSE_HOLD_NS (100 * NS_PER_MS)
/* An effective cap is checked again after this time: no event says that a capped task stopped. */
#define RECHECK_NS (100 * NS_PER_MS)
/*
 * The utilisation of a task that ran under a cap is too low: its demand is its whole cap until the
 * utilisation has grown for two half-lives.
 */
#define UNCAP_NS (2 * DECAY_HALF_LIFE_NS)

/* When the task's work ends; 0: no work. */
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

/* One clamp class on one CPU. */
static void add_run(const struct class_run *run, const struct class_clamp *clamp, uint32_t cpu,
		    uint64_t hold_ns, uint64_t now_ns, struct effective_cap *cap)
{
	uint64_t ran_until_ns = end_ns(run->ran_ns, hold_ns, now_ns);
	uint64_t long_running_until_ns = end_ns(run->long_running_ns, hold_ns, now_ns);

	if (!ran_until_ns)
		return;
	if (long_running_until_ns)
		raise_clamp(&cap->long_running, clamp->cap, cpu, run->long_running_pid,
			    clamp->cap_rule, long_running_until_ns);
	if (clamp->cap != CLAMP_CAP_NONE)
		raise_clamp(&cap->capped, clamp->cap, cpu, run->ran_pid, clamp->cap_rule,
			    ran_until_ns);
	if (clamp->cap < cap->lowest_cap)
		cap->lowest_cap = clamp->cap;
}

static void add_floor(const struct class_run *run, const struct class_clamp *clamp, uint32_t cpu,
		      uint64_t hold_ns, uint64_t now_ns, struct effective_cap *cap)
{
	uint64_t until_ns;

	if (clamp->response_us && hold_ns < RESPONSE_HOLD_NS)
		hold_ns = RESPONSE_HOLD_NS;
	until_ns = end_ns(run->ran_ns, hold_ns, now_ns);
	if (until_ns && clamp->floor)
		raise_clamp(&cap->floor, clamp->floor, cpu, run->ran_pid, clamp->floor_rule,
			    until_ns);
}

void effective_cap_find(const struct engine *engine, uint32_t domain, uint64_t now_ns,
			struct effective_cap *ret)
{
	const struct topology_domain *info = &engine->domains[domain].info;
	uint64_t hold_ns = engine->domains[domain].policy.down_hold_ns;
	struct class_clamp clamp;

	if (hold_ns < RUN_HOLD_NS)
		hold_ns = RUN_HOLD_NS;
	*ret = (struct effective_cap){ .lowest_cap = CLAMP_CAP_NONE };
	for (uint32_t class = 0; class < engine->clamp_classes.n; class ++) {
		clamp_classes_in(&engine->clamp_classes, &engine->policy, class, info, &clamp);
		engine_for_each_cpu(engine, cpu, domain) {
			const struct class_run *run = &engine->cpus[cpu].runs[class];

			add_run(run, &clamp, cpu, hold_ns, now_ns, ret);
			add_floor(run, &clamp, cpu, hold_ns, now_ns, ret);
		}
	}
	ret->bound = (struct clamp_at_work){ .cap = CLAMP_CAP_NONE };
	if (ret->capped.until_ns)
		ret->bound = ret->long_running.until_ns ? ret->long_running : ret->capped;
}

/*
 * A long-running task that raises the effective cap above that of the capped tasks gets its whole
 * cap at once: its utilisation was held down by the lower cap and does not show what it needs.
 */
void effective_cap_set(struct domain *domain, const struct effective_cap *cap, uint64_t now_ns)
{
	uint32_t before = domain->effective_cap;

	domain->effective_cap = cap->bound.cap;
	if (cap->bound.cap > before && cap->long_running.until_ns && cap->capped.until_ns) {
		domain->uncap = cap->long_running;
		domain->uncap.until_ns = now_ns + UNCAP_NS;
	}
	/* The task that raised the cap is gone, or its own cap is lower now. */
	if (!cap->long_running.until_ns || domain->uncap.cap > cap->long_running.cap)
		domain->uncap.until_ns = 0;
}

/* The OPP that serves a cap. */
static uint32_t khz_of(const struct topology_domain *info, uint32_t cap)
{
	return opp_at_or_above(info, opp_khz_for_cap(info, cap), 0, UINT32_MAX);
}

/* The proposed one, while a decision is made. */
static const struct domain *domain_of(const struct engine *engine, uint32_t domain)
{
	bool is_proposed = engine->is_deciding && engine->proposed.last.domain == domain;

	return is_proposed ? &engine->proposed : &engine->domains[domain];
}

uint32_t engine_effective_cap_khz(const struct engine *engine, uint32_t domain)
{
	const struct domain *d = domain_of(engine, domain);

	return d->effective_cap == CLAMP_CAP_NONE ? UINT32_MAX : khz_of(&d->info, d->effective_cap);
}

uint32_t engine_floor_khz(const struct engine *engine, uint32_t domain)
{
	return domain_of(engine, domain)->floor_khz;
}

/*
 * What the kernel side watches for: long-running tasks that would raise the effective cap, capped
 * tasks where the domain runs above their cap, and tasks whose floor is above the domain's OPP.
 */
void effective_cap_watch(const struct engine *engine, struct domain *domain,
			 const struct effective_cap *cap)
{
	struct class_clamp clamp;

	domain->watch_ran = 0;
	domain->watch_long_running = 0;
	for (uint32_t class = 0; class < engine->clamp_classes.n; class ++) {
		clamp_classes_in(&engine->clamp_classes, &engine->policy, class, &domain->info,
				 &clamp);
		if (clamp.cap > cap->bound.cap)
			domain->watch_long_running |= 1ULL << class;
		if (clamp.cap != CLAMP_CAP_NONE && !cap->capped.until_ns &&
		    khz_of(&domain->info, clamp.cap) < domain->last.target_khz)
			domain->watch_ran |= 1ULL << class;
		if (clamp.floor && khz_of(&domain->info, clamp.floor) > domain->last.target_khz)
			domain->watch_ran |= 1ULL << class;
	}
}

static void decide_by(struct domain *domain, uint64_t at_ns)
{
	if (at_ns < domain->next_ns)
		domain->next_ns = at_ns;
}

void effective_cap_plan(struct domain *domain, const struct effective_cap *cap, uint64_t now_ns)
{
	const struct decision *last = &domain->last;

	if (cap->capped.until_ns) {
		/* A task with a higher cap holds the effective cap up until it is done. */
		if (cap->bound.cap > cap->lowest_cap)
			decide_by(domain, cap->bound.until_ns);
		else if (last->target_khz >= khz_of(&domain->info, cap->bound.cap))
			decide_by(domain, now_ns + RECHECK_NS);
	}
	if (domain->uncap.until_ns > now_ns)
		decide_by(domain, domain->uncap.until_ns);
	if (last->reason == REASON_FLOOR || last->reason == REASON_OWN_FLOOR)
		decide_by(domain, cap->floor.until_ns);
}
