// SPDX-License-Identifier: GPL-2.0-only
#include "test-core-world.h"

static struct world the_world;
struct world *const world = &the_world;

int world_tear_down(void **state)
{
	world_deinit();
	return 0;
}

void world_init(struct topology *topology, const struct policy *policy)
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
		world_set_active(i, true);
	}
}

void world_deinit(void)
{
	assert_null(engine_free(world->engine));
	engine_free(world->twin);
	free(world->topology);
	*world = (struct world){ 0 };
}

void world_apply(const struct input *input)
{
	engine_apply(world->engine, input);
	engine_apply(world->twin, input);
}

void world_set_policy(const struct policy *policy)
{
	world->policy = *policy;
	engine_set_policy(world->engine, policy, world->now_ns);
	engine_set_policy(world->twin, policy, world->now_ns);
}

void world_set_active(uint32_t domain, bool active)
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
	world_apply(&input);
}

void world_set_limits(uint32_t domain, uint32_t min_khz, uint32_t max_khz)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_LIMITS,
		.limits = { .domain = domain, .min_khz = min_khz, .max_khz = max_khz },
	};

	world->domains[domain].min_khz = min_khz;
	world->domains[domain].max_khz = max_khz;
	world_apply(&input);
}

void world_forget_target(uint32_t domain)
{
	world->domains[domain].target_khz = 0;
	world->domains[domain].changed_ns = 0;
	engine_forget_target(world->engine, domain);
	engine_forget_target(world->twin, domain);
}

void world_renew_twin(void)
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
static bool is_kernel_bounded(uint32_t domain)
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

uint32_t world_level_q(uint32_t cpu)
{
	uint32_t domain = world->topology->cpu_domain[cpu];
	const struct topology_domain *info = &world->topology->domains[domain];
	uint32_t khz = world->domains[domain].target_khz;

	if (world->domains[domain].kernel_khz > khz && !is_kernel_bounded(domain))
		khz = world->domains[domain].kernel_khz;
	return decay_level_q(info->capacity, khz, topology_domain_max_khz(info));
}

/* A CPU accrues at its domain's present frequency: what was decided comes back as utilisation. */
static void account(uint32_t cpu)
{
	struct world_cpu *c = &world->cpus[cpu];

	c->load.level_q = world_level_q(cpu);
	account_cpu(&c->load, world->now_ns);
}

static void sample(uint32_t cpu)
{
	struct input input = { .now_ns = world->now_ns, .type = INPUT_CPU };

	account(cpu);
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
	world_apply(&input);
}

/* As bpf/cpu.bpf.h: told once, then to be armed again; an idle CPU's memory is no news. */
static void look_at(uint32_t cpu, bool goes_idle)
{
	struct world_cpu *c = &world->cpus[cpu];

	account(cpu);
	if (!c->armed)
		return;
	if (!(c->band.watch && c->load.running && world_is_outside(c, world->now_ns)) &&
	    !(c->band.watch_idle && goes_idle))
		return;
	c->armed = false;
	sample(cpu);
	world_round();
}

void world_switch(uint32_t cpu, bool running)
{
	world_switch_to(cpu, running, 0);
}

void world_switch_to(uint32_t cpu, bool running, uint32_t est_q)
{
	struct account_task task = { .updated_ns = world->now_ns, .est_q = est_q };
	struct world_cpu *c = &world->cpus[cpu];
	bool goes_idle = c->load.running && !running;

	account(cpu);
	if (running)
		account_task_comes(&task, &c->load, 1, world->now_ns);
	account_switch(&c->load, running, world->now_ns);
	look_at(cpu, goes_idle);
}

static void decide(uint32_t domain)
{
	const struct decision *decision, *twin;
	uint32_t cap;

	topology_for_each_cpu(world->topology, cpu, domain)
		sample(cpu);
	cap = world_expected_cap(domain);
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
		world_check(decision, cap);
}

static void run_round(bool may_be_due)
{
	uint32_t handle, twin_handle;

	world->rounds++;
	world_sample_due();
	for (uint32_t i = 0; i < world->topology->n_domains; i++) {
		bool due = engine_is_due(world->engine, i, world->now_ns);

		assert_int_equal(due, engine_is_due(world->twin, i, world->now_ns));
		if (!world->domains[i].active)
			assert_false(due);
		if (due)
			decide(i);
	}
	while (engine_pop_ended(world->engine, &handle)) {
		assert_true(engine_pop_ended(world->twin, &twin_handle));
		assert_int_equal(handle, twin_handle);
		assert_in_range(handle, 0, WORLD_TASKS - 1);
		world->handles_ended++;
	}
	assert_false(engine_pop_ended(world->twin, &twin_handle));
	world_check_due();
	assert_int_equal(engine_next_ns(world->engine), engine_next_ns(world->twin));
	/*
	 * Invariant: no spinning. A task that was looked at seldom and is boosted now may be due at
	 * once; when it was sampled, no more.
	 */
	if (engine_next_ns(world->engine) > world->now_ns)
		return;
	assert_true(may_be_due);
	run_round(false);
}

void world_round(void)
{
	run_round(true);
}

static uint64_t next_tick_ns(void)
{
	for (uint32_t cpu = 0; cpu < world->topology->n_cpus; cpu++)
		if (world->cpus[cpu].load.running)
			return (world->now_ns / WORLD_TICK_NS + 1) * WORLD_TICK_NS;
	return UINT64_MAX;
}

void world_run_until(uint64_t until_ns)
{
	while (world->now_ns < until_ns) {
		uint64_t timer_ns = engine_next_ns(world->engine);
		uint64_t tick_ns = next_tick_ns(), next_ns = until_ns;
		uint64_t watch_ns = world_next_watch_ns();

		if (timer_ns < next_ns)
			next_ns = timer_ns;
		if (tick_ns < next_ns)
			next_ns = tick_ns;
		if (watch_ns < next_ns)
			next_ns = watch_ns;
		/* What is due at once has the time 0, and time does not go back. */
		if (next_ns > world->now_ns)
			world->now_ns = next_ns;
		world_account_io();
		if (next_ns == watch_ns)
			world_check_holds();
		if (next_ns == timer_ns)
			world_round();
		if (next_ns == tick_ns)
			for (uint32_t cpu = 0; cpu < world->topology->n_cpus; cpu++)
				if (world->cpus[cpu].load.running)
					look_at(cpu, false);
	}
}
