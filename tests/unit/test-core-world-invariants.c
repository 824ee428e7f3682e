// SPDX-License-Identifier: GPL-2.0-only
/* What holds after every decision, whatever the input was. */
#include "test-core-world.h"

#include "core/boosts.h"

static bool domain_is_idle(uint32_t domain, uint64_t *ret_since_ns)
{
	*ret_since_ns = 0;
	topology_for_each_cpu(world->topology, cpu, domain) {
		if (world->cpus[cpu].load.running)
			return false;
		if (world->cpus[cpu].load.idle_since_ns > *ret_since_ns)
			*ret_since_ns = world->cpus[cpu].load.idle_since_ns;
	}
	return true;
}

/*
 * Nobody worked there for the hold time, or half of it once the domain is idle: what runs does so
 * for a moment yet, of which each part takes eight off the idle time, and is none of a task that
 * does what it always does.
 */
static bool was_idle(uint32_t domain, enum reason before)
{
	struct policy_domain policy;
	uint64_t after_ns;

	policy_domain_for(&world->policy, world->topology->domains[domain].name, &policy);
	after_ns = policy.down_hold_ns;
	if (before == REASON_IDLE)
		after_ns /= 2;
	topology_for_each_cpu(world->topology, cpu, domain) {
		const struct account_cpu *load = &world->cpus[cpu].load;
		uint64_t ran_ns = load->running ? world->now_ns - load->busy_since_ns : 0;

		if (load->running && !account_is_news(account_util_q(load), load->est_q))
			return false;
		if (world->now_ns < load->idle_since_ns + ACCOUNT_IDLE_SHARE * ran_ns + after_ns)
			return false;
	}
	return true;
}

/* A task that flips is boosted on both sides. */
static uint32_t boost_cap(const struct io_task *task, uint32_t domain)
{
	if (world->topology->cpu_domain[task->cpu] == domain)
		return engine_task_boost_cap(world->engine, task);
	if (!task->flip.holds || task->flip.domain != domain || !io_boost_is_held(&task->io_boost))
		return 0;
	return opp_cap_at_khz(&world->topology->domains[domain], task->flip.khz);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* By use or memory with headroom, or by the length of the burst. */
static uint32_t cpu_cap(uint32_t cpu, const struct policy_domain *policy)
{
	const struct account_cpu *load = &world->cpus[cpu].load;
	uint64_t burst_ns = account_burst_ns(load, world->now_ns);
	uint32_t burst_cap = load->capacity;

	if (burst_ns < policy->rise_time_ns)
		burst_cap = load->capacity * burst_ns / policy->rise_time_ns;
	return larger(burst_cap, utilisation_demand_cap(larger(load->util_q, load->est_q),
							policy->headroom_percent));
}

static uint32_t chain_cap(uint32_t cpu, const struct policy_domain *policy)
{
	const struct input_chain *chain = &world->cpus[cpu].chain;

	if (!chain->util_q || world->now_ns >= chain->seen_ns + ENGINE_CHAIN_HOLD_NS)
		return 0;
	return utilisation_demand_cap(chain->util_q, policy->headroom_percent);
}

/* Of the task whose waits end there, wherever it is. */
static uint32_t served_cap(uint32_t cpu)
{
	const struct world_cpu *c = &world->cpus[cpu];
	const struct io_task *task = io_task_find(engine_tasks(world->engine), c->served_pid);

	if (!task || world->now_ns >= c->served_ns + ENGINE_CHAIN_HOLD_NS)
		return 0;
	return boost_cap(task, world->topology->cpu_domain[task->cpu]);
}

/* The demand as the design states it, in the plainest way. */
uint32_t world_expected_cap(uint32_t domain)
{
	const struct io_task *task = NULL;
	struct policy_domain policy;
	uint32_t cap = 0;

	policy_domain_for(&world->policy, world->topology->domains[domain].name, &policy);
	topology_for_each_cpu(world->topology, cpu, domain) {
		uint32_t demand = was_idle(domain, world_last(domain)->reason)
					  ? utilisation_demand_cap(world->cpus[cpu].load.est_q,
								   policy.headroom_percent)
					  : cpu_cap(cpu, &policy);

		cap = larger(cap, larger(demand, chain_cap(cpu, &policy)));
		cap = larger(cap, served_cap(cpu));
	}
	while ((task = io_task_next(engine_tasks(world->engine), task)))
		if (boost_cap(task, domain) > cap)
			cap = boost_cap(task, domain);
	return cap;
}

static bool is_opp(const struct topology_domain *info, uint32_t khz)
{
	for (uint32_t i = 0; i < info->n_opps; i++)
		if (info->opp_khz[i] == khz)
			return true;
	return false;
}

/* Invariant: a target is an OPP that the limits allow, or the nearest when they allow none. */
static void check_target(const struct decision *decision)
{
	const struct topology_domain *info = &world->topology->domains[decision->domain];
	uint32_t min_khz, max_khz;

	engine_limits(world->engine, decision->domain, &min_khz, &max_khz);
	assert_true(min_khz <= max_khz);
	assert_true(is_opp(info, decision->target_khz));
	assert_true(is_opp(info, decision->wanted_khz));
	assert_int_equal(
		decision->wanted_khz,
		opp_at_or_above(info, opp_khz_for_cap(info, decision->want_cap), min_khz, max_khz));
	if (decision->timing == TIMING_RATE_LIMITED)
		return;
	if (decision->target_khz > max_khz)
		assert_int_equal(decision->target_khz, info->opp_khz[0]);
	if (decision->target_khz < min_khz)
		assert_true(opp_at_or_above(info, min_khz, 0, UINT32_MAX) > max_khz ||
			    decision->target_khz == topology_domain_max_khz(info));
}

static uint64_t rate_limit_ns(uint32_t domain)
{
	const struct topology_domain *info = &world->topology->domains[domain];
	struct policy_domain policy;

	policy_domain_for(&world->policy, info->name, &policy);
	if (!policy.rate_limit_ns)
		policy.rate_limit_ns = NS_PER_MS;
	return policy.rate_limit_ns > 2 * info->transition_latency_ns
		       ? policy.rate_limit_ns
		       : 2 * info->transition_latency_ns;
}

/* Invariant: not written more often than the rate limit; down only after the hold. */
static void check_change(const struct decision *decision)
{
	struct world_domain *domain = &world->domains[decision->domain];

	assert_int_equal(decision->previous_khz, domain->target_khz);
	if (decision->target_khz == domain->target_khz)
		return;
	assert_int_equal(decision->timing, TIMING_NOW);
	assert_int_equal(decision->target_khz, decision->wanted_khz);
	if (domain->changed_ns)
		assert_true(world->now_ns - domain->changed_ns >= rate_limit_ns(decision->domain));
	domain->target_khz = decision->target_khz;
	domain->changed_ns = world->now_ns;
	domain->changes++;
}

/*
 * Invariant: what is watched for has not happened already, or a time is set for it. Only what a CPU
 * of a domain past its hold remembers may be too much: it counts when the CPU runs for longer.
 */
static void check_band(uint32_t cpu, const struct decision *decision)
{
	const struct engine_band *band = &world->cpus[cpu].band;

	if (!band->watch && !engine_uses_target(world->engine, decision->domain))
		assert_true(engine_next_ns(world->engine) != UINT64_MAX);
	else if (!band->watch)
		assert_int_equal(decision->timing, TIMING_RATE_LIMITED);
	else if (world_is_outside(&world->cpus[cpu], world->now_ns))
		/* Whether the domain counted as idle before this decision is not known any more. */
		assert_true(was_idle(decision->domain, REASON_IDLE) &&
			    world->cpus[cpu].load.util_q >= band->low_q);
	if (decision->timing != TIMING_NOW)
		assert_true(engine_next_ns(world->engine) != UINT64_MAX);
}

/* Invariant: an idle domain above its lowest OPP has a time when that ends, or a boost. */
static void check_planned(const struct decision *decision)
{
	const struct topology_domain *info = &world->topology->domains[decision->domain];
	uint32_t min_khz, max_khz;
	uint64_t idle_since_ns;

	engine_limits(world->engine, decision->domain, &min_khz, &max_khz);
	if (!domain_is_idle(decision->domain, &idle_since_ns))
		return;
	if (decision->target_khz > opp_at_or_above(info, 0, min_khz, max_khz))
		assert_true(engine_next_ns(world->engine) != UINT64_MAX);
}

void world_check(const struct decision *decision, uint32_t cap)
{
	assert_int_equal(decision->now_ns, world->now_ns);
	assert_int_equal(decision->want_cap, cap);
	check_target(decision);
	check_change(decision);
	topology_for_each_cpu(world->topology, cpu, decision->domain)
		check_band(cpu, decision);
	check_planned(decision);
}

/* Of one task; the domains are looked at by world_expected_cap(). */
static uint64_t task_next_ns(const struct io_task *task)
{
	uint64_t next_ns = UINT64_MAX;

	if (!io_boost_is_over(&task->io_boost))
		next_ns = task->io_boost.next_ns;
	if (task->flip.holds && task->flip.until_ns < next_ns)
		next_ns = task->flip.until_ns;
	return next_ns;
}

void world_check_due(void)
{
	const struct engine *engine = world->engine;
	uint32_t n_with[DUE_TRAITS] = { 0 }, n_on[INPUT_DEVICES_MAX] = { 0 };
	uint64_t next_ns = UINT64_MAX;
	const struct io_task *task = NULL;

	while ((task = io_task_next(engine->tasks, task))) {
		uint32_t place = io_task_place(engine->tasks, task);
		uint32_t device = task->io_boost.device;

		/* Invariant: no boost outlasts its hold. */
		if (io_boost_is_held(&task->io_boost) && world->now_ns > task->io_boost.next_ns)
			assert_true(world->now_ns < task->io_boost.hold_end_ns);
		if (task_next_ns(task) < next_ns)
			next_ns = task_next_ns(task);
		for (uint32_t trait = 0; trait < DUE_TRAITS; trait++)
			n_with[trait] += boosts_traits(&task->io_boost) >> trait & 1;
		if (device == IO_BOOST_NO_DEVICE)
			continue;
		assert_int_equal(due_find(engine->due, DUE_ON_DEVICE, device, place), place);
		n_on[device]++;
	}
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		while ((task = engine_find_due(engine, DUE_ON_DEVICE, i, task)))
			n_on[i]--;
		assert_int_equal(n_on[i], 0);
	}
	assert_int_equal(due_next_ns(engine->due), next_ns);
	for (uint32_t trait = 0; trait < DUE_TRAITS; trait++)
		assert_int_equal(due_has(engine->due, 1u << trait), n_with[trait] > 0);
	/* After a round, the ends of all were told. */
	assert_null(engine_find_due(engine, DUE_ENDED, 0, NULL));
}
