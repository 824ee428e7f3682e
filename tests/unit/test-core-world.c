// SPDX-License-Identifier: GPL-2.0-only
#include "test-core-world.h"

void world_init(struct world *world, struct topology *topology, const struct policy *policy)
{
	*world = (struct world){
		.topology = topology,
		.policy = *policy,
		.engine = engine_new(topology, policy),
		.twin = engine_new(topology, policy),
		.now_ns = NS_PER_S,
	};
	assert_non_null(world->engine);
	assert_non_null(world->twin);
	assert_in_range(topology->n_cpus, 1, WORLD_CPUS_MAX);
	assert_in_range(topology->n_domains, 1, WORLD_DOMAINS_MAX);
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		world->domains[i].min_khz = topology->domains[i].opp_khz[0];
		world->domains[i].max_khz = topology_domain_max_khz(&topology->domains[i]);
		world_set_active(world, i, true);
	}
}

void world_deinit(struct world *world)
{
	assert_null(engine_free(world->engine));
	engine_free(world->twin);
	free(world->topology);
}

void world_apply(struct world *world, const struct input *input)
{
	engine_apply(world->engine, input);
	engine_apply(world->twin, input);
}

void world_set_policy(struct world *world, const struct policy *policy)
{
	world->policy = *policy;
	engine_set_policy(world->engine, policy);
	engine_set_policy(world->twin, policy);
}

void world_set_active(struct world *world, uint32_t domain, bool active)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_DOMAIN,
		.domain = { .domain = domain, .active = active },
	};

	if (active && !world->domains[domain].active) {
		world->domains[domain].target_khz = 0;
		world->domains[domain].changed_ns = 0;
	}
	world->domains[domain].active = active;
	world_apply(world, &input);
}

void world_set_limits(struct world *world, uint32_t domain, uint32_t min_khz, uint32_t max_khz)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_LIMITS,
		.limits = { .domain = domain, .min_khz = min_khz, .max_khz = max_khz },
	};

	world->domains[domain].min_khz = min_khz;
	world->domains[domain].max_khz = max_khz;
	world_apply(world, &input);
}

void world_forget_target(struct world *world, uint32_t domain)
{
	world->domains[domain].target_khz = 0;
	world->domains[domain].changed_ns = 0;
	engine_forget_target(world->engine, domain);
	engine_forget_target(world->twin, domain);
}

/* A CPU accrues at its domain's present frequency: what was decided comes back as utilisation. */
static void account(struct world *world, uint32_t cpu)
{
	struct world_cpu *c = &world->cpus[cpu];
	uint32_t domain = world->topology->cpu_domain[cpu];
	const struct topology_domain *info = &world->topology->domains[domain];
	uint32_t level_q = decay_level_q(info->capacity, world->domains[domain].target_khz,
					 topology_domain_max_khz(info));

	c->util_q = decay_toward(c->util_q, c->running ? level_q : 0,
				 world->now_ns - c->updated_ns);
	c->updated_ns = world->now_ns;
}

static void sample(struct world *world, uint32_t cpu)
{
	struct input input = { .now_ns = world->now_ns, .type = INPUT_CPU };

	account(world, cpu);
	input.cpu = (struct input_cpu){
		.cpu = cpu,
		.util_q = world->cpus[cpu].util_q,
		.running = world->cpus[cpu].running,
		.idle_since_ns = world->cpus[cpu].idle_since_ns,
	};
	world_apply(world, &input);
}

static bool outside(const struct world_cpu *cpu)
{
	return cpu->util_q > cpu->band.high_q || cpu->util_q < cpu->band.low_q;
}

/* As bpf/cpu.bpf.h: told once, then to be armed again; an idle CPU's memory is no news. */
static void look_at(struct world *world, uint32_t cpu, bool goes_idle)
{
	struct world_cpu *c = &world->cpus[cpu];

	account(world, cpu);
	if (!c->armed)
		return;
	if (!(c->band.watch && c->running && outside(c)) && !(c->band.watch_idle && goes_idle))
		return;
	c->armed = false;
	sample(world, cpu);
	world_round(world);
}

void world_switch(struct world *world, uint32_t cpu, bool running)
{
	struct world_cpu *c = &world->cpus[cpu];
	bool goes_idle = c->running && !running;

	account(world, cpu);
	if (goes_idle)
		c->idle_since_ns = world->now_ns;
	c->running = running;
	look_at(world, cpu, goes_idle);
}

void world_io(struct world *world, uint32_t task, uint64_t n)
{
	world->tasks[task].io_waits += n;
	world->tasks[task].last_io_ns = world->now_ns;
}

void world_tell_task(struct world *world, uint32_t task)
{
	const struct world_task *t = &world->tasks[task];
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_TASK,
		.task = {
			.pid = t->pid,
			.tgid = t->pid,
			.handle = task,
			.cpu = t->cpu,
			.comm = "task",
			.io_waits = t->io_waits,
			.io_starts = t->io_waits,
			.last_io_ns = t->last_io_ns,
		},
	};

	world_apply(world, &input);
}

void world_start_task(struct world *world, uint32_t task, uint32_t pid, uint32_t cpu)
{
	world->tasks[task] = (struct world_task){
		.pid = pid,
		.cpu = cpu,
		.io_waits = 10,
		.last_io_ns = world->now_ns,
	};
	world_tell_task(world, task);
}

void world_end_task(struct world *world, uint32_t task)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_TASK_END,
		.ended_pid = world->tasks[task].pid,
	};

	world->tasks[task] = (struct world_task){ 0 };
	world_apply(world, &input);
}

static void renew_leases(struct world *world)
{
	const struct task_table *tasks = engine_tasks(world->engine);
	const struct task *task = NULL;

	while ((task = task_table_next(tasks, task)))
		if (world->now_ns >= task->io_boost.lease_end_ns &&
		    world->tasks[task->handle].pid == task->pid)
			world_tell_task(world, task->handle);
	engine_advance(world->engine, world->now_ns);
	engine_advance(world->twin, world->now_ns);
}

static bool domain_is_idle(const struct world *world, uint32_t domain, uint64_t *ret_since_ns)
{
	*ret_since_ns = 0;
	topology_for_each_cpu(world->topology, cpu, domain) {
		if (world->cpus[cpu].running)
			return false;
		if (world->cpus[cpu].idle_since_ns > *ret_since_ns)
			*ret_since_ns = world->cpus[cpu].idle_since_ns;
	}
	return true;
}

/* The demand as the design states it, in the plainest way. */
static uint32_t expected_cap(const struct world *world, uint32_t domain)
{
	const struct task *task = NULL;
	struct policy_domain policy;
	uint64_t idle_since_ns;
	uint32_t cap = 0;

	policy_domain_for(&world->policy, world->topology->domains[domain].name, &policy);
	if (!domain_is_idle(world, domain, &idle_since_ns) ||
	    world->now_ns < idle_since_ns + policy.down_hold_ns) {
		topology_for_each_cpu(world->topology, cpu, domain) {
			uint32_t demand = utilisation_demand_cap(world->cpus[cpu].util_q,
								 policy.headroom_percent);

			if (demand > cap)
				cap = demand;
		}
	}
	while ((task = task_table_next(engine_tasks(world->engine), task)))
		if (world->topology->cpu_domain[task->cpu] == domain &&
		    engine_task_boost_cap(world->engine, task) > cap)
			cap = engine_task_boost_cap(world->engine, task);
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
static void check_target(const struct world *world, const struct decision *decision)
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

static uint64_t rate_limit_ns(const struct world *world, uint32_t domain)
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
static void check_change(struct world *world, const struct decision *decision)
{
	struct world_domain *domain = &world->domains[decision->domain];

	assert_int_equal(decision->previous_khz, domain->target_khz);
	if (decision->target_khz == domain->target_khz)
		return;
	assert_int_equal(decision->timing, TIMING_NOW);
	assert_int_equal(decision->target_khz, decision->wanted_khz);
	if (domain->changed_ns)
		assert_true(world->now_ns - domain->changed_ns >=
			    rate_limit_ns(world, decision->domain));
	domain->target_khz = decision->target_khz;
	domain->changed_ns = world->now_ns;
	domain->changes++;
}

/*
 * Invariant: what is watched for has not happened already, or a time is set for it. Only what an
 * idle CPU of a domain past its hold remembers may be too much: it counts when the CPU next runs.
 */
static void check_band(const struct world *world, uint32_t cpu, const struct decision *decision)
{
	const struct engine_band *band = &world->cpus[cpu].band;
	uint64_t idle_since_ns;

	if (!band->watch)
		assert_int_equal(decision->timing, TIMING_RATE_LIMITED);
	else if (outside(&world->cpus[cpu]))
		assert_true(domain_is_idle(world, decision->domain, &idle_since_ns) &&
			    world->cpus[cpu].util_q >= band->low_q);
	if (decision->timing != TIMING_NOW)
		assert_true(engine_next_ns(world->engine) != UINT64_MAX);
}

/* Invariant: an idle domain above its lowest OPP has a time when that ends, or a boost. */
static void check_planned(const struct world *world, const struct decision *decision)
{
	const struct topology_domain *info = &world->topology->domains[decision->domain];
	uint32_t min_khz, max_khz;
	uint64_t idle_since_ns;

	engine_limits(world->engine, decision->domain, &min_khz, &max_khz);
	if (!domain_is_idle(world, decision->domain, &idle_since_ns))
		return;
	if (decision->target_khz > opp_at_or_above(info, 0, min_khz, max_khz))
		assert_true(engine_next_ns(world->engine) != UINT64_MAX);
}

static void decide(struct world *world, uint32_t domain)
{
	const struct decision *decision, *twin;
	uint32_t cap;

	topology_for_each_cpu(world->topology, cpu, domain)
		sample(world, cpu);
	cap = expected_cap(world, domain);
	decision = engine_decide(world->engine, domain, world->now_ns);
	twin = engine_decide(world->twin, domain, world->now_ns);
	assert_memory_equal(decision, twin, sizeof(*decision));

	assert_int_equal(decision->now_ns, world->now_ns);
	assert_int_equal(decision->want_cap, cap);
	check_target(world, decision);
	check_change(world, decision);
	topology_for_each_cpu(world->topology, cpu, domain) {
		engine_band(world->engine, cpu, &world->cpus[cpu].band);
		world->cpus[cpu].armed = true;
		check_band(world, cpu, decision);
	}
	check_planned(world, decision);
}

void world_round(struct world *world)
{
	uint32_t handle, twin_handle;

	world->rounds++;
	renew_leases(world);
	for (uint32_t i = 0; i < world->topology->n_domains; i++) {
		bool due = engine_is_due(world->engine, i, world->now_ns);

		assert_int_equal(due, engine_is_due(world->twin, i, world->now_ns));
		if (!world->domains[i].active)
			assert_false(due);
		if (due)
			decide(world, i);
	}
	while (engine_take_ended(world->engine, &handle)) {
		assert_true(engine_take_ended(world->twin, &twin_handle));
		assert_int_equal(handle, twin_handle);
		assert_in_range(handle, 0, WORLD_TASKS - 1);
		world->handles_ended++;
	}
	assert_false(engine_take_ended(world->twin, &twin_handle));
	/* Invariant: no spinning. */
	assert_true(engine_next_ns(world->engine) > world->now_ns);
	assert_int_equal(engine_next_ns(world->engine), engine_next_ns(world->twin));
}

static uint64_t next_tick_ns(const struct world *world)
{
	for (uint32_t cpu = 0; cpu < world->topology->n_cpus; cpu++)
		if (world->cpus[cpu].running)
			return (world->now_ns / WORLD_TICK_NS + 1) * WORLD_TICK_NS;
	return UINT64_MAX;
}

void world_run_until(struct world *world, uint64_t until_ns)
{
	while (world->now_ns < until_ns) {
		uint64_t timer_ns = engine_next_ns(world->engine);
		uint64_t tick_ns = next_tick_ns(world), next_ns = until_ns;

		if (timer_ns < next_ns)
			next_ns = timer_ns;
		if (tick_ns < next_ns)
			next_ns = tick_ns;
		world->now_ns = next_ns;
		if (next_ns == timer_ns)
			world_round(world);
		if (next_ns == tick_ns)
			for (uint32_t cpu = 0; cpu < world->topology->n_cpus; cpu++)
				if (world->cpus[cpu].running)
					look_at(world, cpu, false);
	}
}
