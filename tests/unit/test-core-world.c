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
		.io_updated_ns = NS_PER_S,
	};
	assert_non_null(world->engine);
	assert_non_null(world->twin);
	assert_in_range(topology->n_cpus, 1, WORLD_CPUS_MAX);
	assert_in_range(topology->n_domains, 1, WORLD_DOMAINS_MAX);
	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		world->cpus[cpu].load.capacity =
			topology->domains[topology->cpu_domain[cpu]].capacity;
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
	engine_set_policy(world->engine, policy, world->now_ns);
	engine_set_policy(world->twin, policy, world->now_ns);
}

void world_set_active(struct world *world, uint32_t domain, bool active)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_DOMAIN,
		.domain = {
			.domain = domain,
			.active = active,
			.driven = active && !world->domains[domain].observed,
		},
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

void world_renew_twin(struct world *world)
{
	struct policy policy = world->policy;

	policy.max_tasks = io_task_size(engine_tasks(world->engine));
	policy.max_ruled_tasks = task_count_max(engine_tasks(world->engine));
	engine_free(world->twin);
	world->twin = engine_new(world->topology, &policy);
	assert_non_null(world->twin);
	assert_int_equal(engine_load(world->twin, engine_state(world->engine),
				     engine_state_size(world->topology, &policy)),
			 0);
}

/* As schedutil does: the highest maximum of the tasks that run there bounds its own boost. */
static bool is_kernel_bounded(const struct world *world, uint32_t domain)
{
	const struct io_task *task = NULL;
	bool bounded = false;

	while ((task = io_task_next(engine_tasks(world->engine), task))) {
		if (world->topology->cpu_domain[task->cpu] != domain)
			continue;
		if (!engine_task_need_cap(world->engine, task))
			return false;
		bounded = true;
	}
	return bounded;
}

uint32_t world_level_q(const struct world *world, uint32_t cpu)
{
	uint32_t domain = world->topology->cpu_domain[cpu];
	const struct topology_domain *info = &world->topology->domains[domain];
	uint32_t khz = world->domains[domain].target_khz;

	if (world->domains[domain].kernel_khz > khz && !is_kernel_bounded(world, domain))
		khz = world->domains[domain].kernel_khz;
	return decay_level_q(info->capacity, khz, topology_domain_max_khz(info));
}

/* A CPU accrues at its domain's present frequency: what was decided comes back as utilisation. */
static void account(struct world *world, uint32_t cpu)
{
	struct world_cpu *c = &world->cpus[cpu];

	c->load.level_q = world_level_q(world, cpu);
	account_cpu(&c->load, world->now_ns);
}

static void sample(struct world *world, uint32_t cpu)
{
	struct input input = { .now_ns = world->now_ns, .type = INPUT_CPU };

	account(world, cpu);
	input.cpu = (struct input_cpu){
		.cpu = cpu,
		.util_q = world->cpus[cpu].load.util_q,
		.running = world->cpus[cpu].load.running,
		.idle_since_ns = world->cpus[cpu].load.idle_since_ns,
		.est_q = world->cpus[cpu].load.est_q,
		.burst_ns = account_burst_ns(&world->cpus[cpu].load, world->now_ns),
		.chain = world->cpus[cpu].chain,
		.served_pid = world->cpus[cpu].served_pid,
		.served_ns = world->cpus[cpu].served_ns,
	};
	world_apply(world, &input);
}

/* As bpf/cpu.bpf.h: told once, then to be armed again; an idle CPU's memory is no news. */
static void look_at(struct world *world, uint32_t cpu, bool goes_idle)
{
	struct world_cpu *c = &world->cpus[cpu];

	account(world, cpu);
	if (!c->armed)
		return;
	if (!(c->band.watch && c->load.running && world_is_outside(c, world->now_ns)) &&
	    !(c->band.watch_idle && goes_idle))
		return;
	c->armed = false;
	sample(world, cpu);
	world_round(world);
}

void world_switch(struct world *world, uint32_t cpu, bool running)
{
	world_switch_to(world, cpu, running, 0);
}

void world_switch_to(struct world *world, uint32_t cpu, bool running, uint32_t est_q)
{
	struct account_task task = { .updated_ns = world->now_ns, .est_q = est_q };
	struct world_cpu *c = &world->cpus[cpu];
	bool goes_idle = c->load.running && !running;

	account(world, cpu);
	if (running)
		account_task_comes(&task, &c->load, 1, world->now_ns);
	account_switch(&c->load, running, world->now_ns);
	look_at(world, cpu, goes_idle);
}

static void decide(struct world *world, uint32_t domain)
{
	const struct decision *decision, *twin;
	uint32_t cap;

	topology_for_each_cpu(world->topology, cpu, domain)
		sample(world, cpu);
	cap = world_expected_cap(world, domain);
	decision = engine_decide(world->engine, domain, world->now_ns);
	twin = engine_decide(world->twin, domain, world->now_ns);
	assert_memory_equal(decision, twin, sizeof(*decision));
	engine_commit(world->engine, domain, world->refuses ? ENGINE_NOT_SET : ENGINE_SET);
	engine_commit(world->twin, domain, world->refuses ? ENGINE_NOT_SET : ENGINE_SET);
	topology_for_each_cpu(world->topology, cpu, domain) {
		engine_band(world->engine, cpu, &world->cpus[cpu].band);
		world->cpus[cpu].armed = true;
	}
	if (!world->refuses)
		world_check(world, decision, cap);
}

static void run_round(struct world *world, bool may_be_due)
{
	uint32_t handle, twin_handle;

	world->rounds++;
	world_sample_due(world);
	for (uint32_t i = 0; i < world->topology->n_domains; i++) {
		bool due = engine_is_due(world->engine, i, world->now_ns);

		assert_int_equal(due, engine_is_due(world->twin, i, world->now_ns));
		if (!world->domains[i].active)
			assert_false(due);
		if (due)
			decide(world, i);
	}
	while (engine_pop_ended(world->engine, &handle)) {
		assert_true(engine_pop_ended(world->twin, &twin_handle));
		assert_int_equal(handle, twin_handle);
		assert_in_range(handle, 0, WORLD_TASKS - 1);
		world->handles_ended++;
	}
	assert_false(engine_pop_ended(world->twin, &twin_handle));
	world_check_due(world);
	assert_int_equal(engine_next_ns(world->engine), engine_next_ns(world->twin));
	/*
	 * Invariant: no spinning. A task that was looked at seldom and is boosted now may be due at
	 * once; when it was sampled, no more.
	 */
	if (engine_next_ns(world->engine) > world->now_ns)
		return;
	assert_true(may_be_due);
	run_round(world, false);
}

void world_round(struct world *world)
{
	run_round(world, true);
}

static uint64_t next_tick_ns(const struct world *world)
{
	for (uint32_t cpu = 0; cpu < world->topology->n_cpus; cpu++)
		if (world->cpus[cpu].load.running)
			return (world->now_ns / WORLD_TICK_NS + 1) * WORLD_TICK_NS;
	return UINT64_MAX;
}

void world_run_until(struct world *world, uint64_t until_ns)
{
	while (world->now_ns < until_ns) {
		uint64_t timer_ns = engine_next_ns(world->engine);
		uint64_t tick_ns = next_tick_ns(world), next_ns = until_ns;
		uint64_t watch_ns = world_next_watch_ns(world);

		if (timer_ns < next_ns)
			next_ns = timer_ns;
		if (tick_ns < next_ns)
			next_ns = tick_ns;
		if (watch_ns < next_ns)
			next_ns = watch_ns;
		/* What is due at once has the time 0, and time does not go back. */
		if (next_ns > world->now_ns)
			world->now_ns = next_ns;
		world_account_io(world);
		if (next_ns == watch_ns)
			world_check_holds(world);
		if (next_ns == timer_ns)
			world_round(world);
		if (next_ns == tick_ns)
			for (uint32_t cpu = 0; cpu < world->topology->n_cpus; cpu++)
				if (world->cpus[cpu].load.running)
					look_at(world, cpu, false);
	}
}
