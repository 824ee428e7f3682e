// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "sim/schedutil.h"

static uint32_t capacity_of(const struct sim *sim, uint32_t domain)
{
	return sim->domains[domain].info->capacity;
}

/* A change of the limits is obeyed at once. */
static bool should_update(const struct sim *sim, struct schedutil *su, uint32_t domain)
{
	struct schedutil_domain *d = &su->domains[domain];
	uint64_t rate_limit_ns = sim->domains[domain].info->schedutil_rate_limit_ns;

	if (d->limit_changed) {
		d->limit_changed = false;
		return true;
	}
	return !d->changed_ns || sim->now_ns - d->changed_ns >= rate_limit_ns;
}

static uint32_t largest_need_cap(struct schedutil *su, struct sim *sim, uint32_t domain)
{
	uint32_t capacity = capacity_of(sim, domain), most = 0;

	sim_for_each_cpu(sim, cpu, domain) {
		uint32_t need, boost = 0;

		pelt_update_cpu(&su->pelt, sim, cpu);
		need = pelt_need_cap(&su->pelt, cpu, capacity);
		if (su->boosts)
			boost = schedutil_boost_cap(su, sim, cpu);
		if (boost > capacity)
			boost = capacity;
		if (boost > need)
			need = boost;
		if (need > most)
			most = need;
	}
	return most;
}

/* f = f_ref · 1.25 · need / capacity */
static uint32_t next_khz(struct schedutil *su, struct sim *sim, uint32_t domain)
{
	uint64_t reference_khz = su->invariant ? platform_max_khz(sim->domains[domain].info)
					       : sim_khz(sim, domain);
	uint64_t need = largest_need_cap(su, sim, domain);

	return reference_khz * (need + need / 4) / capacity_of(sim, domain);
}

static void evaluate(struct sim *sim, uint32_t cpu, const struct sim_thread *from_io_wait)
{
	struct schedutil *su = sim->governor_data;
	uint32_t domain = sim->cpus[cpu].domain, khz;
	const struct platform_domain *info = sim->domains[domain].info;
	struct schedutil_domain *d = &su->domains[domain];

	if (su->boosts)
		schedutil_boost_update(su, sim, cpu, from_io_wait);
	su->cpus[cpu].updated_ns = sim->now_ns;
	if (!should_update(sim, su, domain))
		return;
	khz = info->opps[platform_opp_at_or_above(info, next_khz(su, sim, domain))].khz;
	if (khz == d->khz)
		return;
	d->khz = khz;
	d->changed_ns = sim->now_ns;
	sim_request_khz(sim, domain, khz);
}

static void on_wake(struct sim *sim, struct sim_thread *thread)
{
	struct schedutil *su = sim->governor_data;
	bool period_ended;

	if (thread->in_iowait)
		evaluate(sim, thread->cpu, thread);
	period_ended = pelt_update_cpu(&su->pelt, sim, thread->cpu);
	pelt_on_wake(&su->pelt, sim, thread);
	if (period_ended)
		evaluate(sim, thread->cpu, NULL);
}

static void on_sleep(struct sim *sim, struct sim_thread *thread)
{
	struct schedutil *su = sim->governor_data;
	bool period_ended = pelt_update_cpu(&su->pelt, sim, thread->cpu);

	pelt_on_sleep(&su->pelt, sim, thread);
	if (period_ended)
		evaluate(sim, thread->cpu, NULL);
}

static void on_switch(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *prev)
{
	struct schedutil *su = sim->governor_data;

	pelt_on_switch(&su->pelt, sim, prev);
}

static void on_move(struct sim *sim, struct sim_thread *thread, uint32_t from)
{
	struct schedutil *su = sim->governor_data;

	pelt_on_move(&su->pelt, sim, thread, from);
}

static void on_fork(struct sim *sim, struct sim_thread *thread, struct sim_thread *parent)
{
	struct schedutil *su = sim->governor_data;

	pelt_on_fork(&su->pelt, sim, thread);
	evaluate(sim, thread->cpu, NULL);
}

static void on_exit_of(struct sim *sim, struct sim_thread *thread, struct sim_thread *parent)
{
	struct schedutil *su = sim->governor_data;

	pelt_on_exit(&su->pelt, sim, thread);
}

static void on_tick(struct sim *sim, struct sim_cpu *cpu)
{
	struct schedutil *su = sim->governor_data;

	pelt_on_switch(&su->pelt, sim, cpu->current);
	evaluate(sim, cpu->index, NULL);
}

static void on_frequency(struct sim *sim, uint32_t domain)
{
	struct schedutil *su = sim->governor_data;

	pelt_on_frequency(&su->pelt, sim, domain);
}

static void on_limit(struct sim *sim, uint32_t domain)
{
	struct schedutil *su = sim->governor_data;

	su->domains[domain].limit_changed = true;
}

static void stop(struct sim *sim)
{
	struct schedutil *su = sim->governor_data;

	pelt_deinit(&su->pelt);
	free(su);
}

static int start(struct sim *sim, bool boosts, bool invariant)
{
	struct schedutil *su = calloc(1, sizeof(*su));

	if (!su)
		return -ENOMEM;
	sim->governor_data = su;
	su->boosts = boosts;
	su->invariant = invariant;
	if (pelt_init(&su->pelt, sim, invariant) == 0)
		return 0;
	stop(sim);
	return -ENOMEM;
}

static int start_mainline(struct sim *sim, const uint32_t *fixed_khz)
{
	return start(sim, true, true);
}

static int start_no_boost(struct sim *sim, const uint32_t *fixed_khz)
{
	return start(sim, false, true);
}

static int start_raw(struct sim *sim, const uint32_t *fixed_khz)
{
	return start(sim, true, false);
}

#define SCHEDUTIL(symbol, name_, summary_, start_) \
	const struct sim_governor symbol = {       \
		.name = name_,                     \
		.summary = summary_,               \
		.start = start_,                   \
		.stop = stop,                      \
		.on_switch = on_switch,            \
		.on_wake = on_wake,                \
		.on_sleep = on_sleep,              \
		.on_move = on_move,                \
		.on_fork = on_fork,                \
		.on_exit = on_exit_of,             \
		.on_tick = on_tick,                \
		.on_frequency = on_frequency,      \
		.on_limit = on_limit,              \
	}

SCHEDUTIL(sim_governor_schedutil, "schedutil", "the kernel's, with its io-wait boost",
	  start_mainline);
SCHEDUTIL(sim_governor_schedutil_no_boost, "schedutil-no-boost", "without the io-wait boost",
	  start_no_boost);
SCHEDUTIL(sim_governor_schedutil_raw, "schedutil-raw",
	  "with the boost, on a CPU without frequency invariance", start_raw);
