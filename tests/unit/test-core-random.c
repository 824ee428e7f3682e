// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any machine, any policy, any order of events: the invariants that world_round() checks hold, and
 * whatever happened, a machine that is left alone comes to rest at its lowest OPPs.
 */
#include "test-core-world.h"

#include "config/keys.h"
#include "core/io_model.h"

#define SEEDS 60
#define STEPS 2000

static uint32_t pick(struct test_random *random, uint32_t least, uint32_t most)
{
	return least + test_random_below(random, most - least + 1);
}

static void make_opps(struct test_random *random, struct topology_domain *domain)
{
	uint32_t khz = pick(random, 100000, 1000000);

	domain->n_opps = pick(random, 1, 12);
	for (uint32_t i = 0; i < domain->n_opps; i++) {
		domain->opp_khz[i] = khz;
		khz += pick(random, 1, 500000);
	}
}

static struct topology *make_topology(struct test_random *random)
{
	struct topology *topology = test_topology_new(pick(random, 1, WORLD_DOMAINS_MAX),
						      pick(random, 1, 4));

	for (uint32_t i = 0; i < topology->n_domains; i++) {
		struct topology_domain *domain = &topology->domains[i];

		domain->name[0] = 'a' + i;
		make_opps(random, domain);
		/* One in four is as weak as can be, where rounding is at its worst. */
		domain->capacity = pick(random, 1, pick(random, 0, 3) ? TOPOLOGY_CAPACITY_MAX : 20);
		domain->transition_latency_ns = pick(random, 0, 2) * pick(random, 0, 2000000);
	}
	return topology;
}

static struct policy_frequency make_frequency(struct test_random *random)
{
	struct policy_frequency frequency = { .kind = pick(random, 0, 6) };

	if (frequency.kind > POLICY_FREQUENCY_PERCENT)
		frequency.kind = POLICY_FREQUENCY_NONE;
	if (frequency.kind == POLICY_FREQUENCY_KHZ)
		frequency.value = pick(random, 1, 5000000);
	if (frequency.kind == POLICY_FREQUENCY_PERCENT)
		frequency.value = pick(random, 1, 100);
	return frequency;
}

static struct policy make_policy(struct test_random *random)
{
	struct policy policy;

	policy_init(&policy);
	policy.max_tasks = 8;
	policy.domain = (struct policy_domain){
		.min = make_frequency(random),
		.max = make_frequency(random),
		.headroom_percent = pick(random, 100, 400),
		.rate_limit_ns = pick(random, 0, 1) * pick(random, 1, 20000000),
		.down_hold_ns = pick(random, 0, 3) * pick(random, 0, 30000000),
		.rise_time_ns = pick(random, 1, 4) * pick(random, 1000000, 30000000),
	};
	policy.io_boost.enabled = pick(random, 0, 9) > 0;
	policy.io_boost.slack_percent = pick(random, 1, 50);
	return policy;
}

static void change_limits(struct test_random *random)
{
	uint32_t domain = pick(random, 0, world->topology->n_domains - 1);
	const struct topology_domain *info = &world->topology->domains[domain];
	uint32_t one_khz = pick(random, info->opp_khz[0], topology_domain_max_khz(info));
	uint32_t other_khz = pick(random, info->opp_khz[0], topology_domain_max_khz(info));

	if (one_khz < other_khz)
		world_set_limits(domain, one_khz, other_khz);
	else
		world_set_limits(domain, other_khz, one_khz);
	world_round();
}

/* Limits by overrides of a domain, or none any more. */
static void do_override(struct test_random *random)
{
	uint32_t domain = pick(random, 0, world->topology->n_domains - 1);
	const struct topology_domain *info = &world->topology->domains[domain];
	struct policy_frequency limit = {
		POLICY_FREQUENCY_KHZ,
		info->opp_khz[pick(random, 0, info->n_opps - 1)],
		1,
	};
	struct policy policy = world->policy;
	struct policy_domain_section *section = &policy.domain_overrides[0];

	/* A minimum, a maximum, both, or neither. */
	policy.n_domain_overrides = 1;
	*section = (struct policy_domain_section){ .values = { .min = limit, .max = limit } };
	strcpy(section->name, info->name);
	if (pick(random, 0, 1))
		section->given |= POLICY_DOMAIN_BIT(min);
	if (pick(random, 0, 1))
		section->given |= POLICY_DOMAIN_BIT(max);
	world_set_policy(&policy);
	world_round();
}

/* Any kind of I/O: up to 1 ms of the device, and half of one at the highest level. */
static struct fake_io make_io(struct test_random *random)
{
	struct fake_io io = {
		.kind = pick(random, FAKE_IO_SYNC, FAKE_IO_COUNTED),
		.device = pick(random, 0, 2),
		.device_ns = pick(random, 1000, 1000000),
		.work = (uint64_t)pick(random, 0, 500000) * IO_LEVEL_MAX,
		.think_ns = pick(random, 0, 3) ? 0 : pick(random, 0, 500000),
		.interrupt_work = (uint64_t)pick(random, 0, 50000) * IO_LEVEL_MAX,
		.variation_percent = pick(random, 0, 50),
		.random = test_random_next(random),
	};

	return io;
}

static void do_task(struct test_random *random)
{
	const struct fake_io io = make_io(random);
	uint32_t task = pick(random, 0, WORLD_TASKS - 1);
	uint32_t cpu = pick(random, 0, world->topology->n_cpus - 1);

	if (!world->tasks[task].pid) {
		uint32_t pid = 1 + task + WORLD_TASKS * pick(random, 0, 9);

		if (pick(random, 0, 2))
			world_start_io(task, pid, cpu, &io);
		else
			world_start_task(task, pid, cpu);
	} else if (pick(random, 0, 3) == 0) {
		world_end_task(task);
	} else if (pick(random, 0, 9) == 0) {
		/* Another of the same number, without a word. */
		world->tasks[task].io = io;
		world->tasks[task].io.last_io_ns = world->now_ns;
		world_tell_task(task);
	} else {
		world->tasks[task].cpu = cpu;
		world_io(task, pick(random, 0, 20));
		world_tell_task(task);
	}
	world_round();
}

static void do_io(struct test_random *random)
{
	for (uint32_t i = 0; i < WORLD_TASKS; i++)
		if (world->tasks[i].pid && pick(random, 0, 1))
			world_io(i, pick(random, 1, 10));
}

/* It goes, counts anew, completes elsewhere, or comes to be. */
static void do_device(struct test_random *random)
{
	uint32_t device = pick(random, 0, 2);

	switch (pick(random, 0, 3)) {
	case 0:
		world_end_device(device);
		break;
	case 1:
		world->devices[device].completions = 0;
		break;
	case 2:
		world->devices[device].completion_cpu = pick(random, 0,
							     world->topology->n_cpus - 1);
		break;
	default:
		world->devices[device].present = true;
	}
	world_round();
}

static void step(struct test_random *random)
{
	uint32_t domain = pick(random, 0, world->topology->n_domains - 1);
	uint32_t cpu = pick(random, 0, world->topology->n_cpus - 1);
	struct policy policy;

	switch (pick(random, 0, 40)) {
	case 0:
		policy = make_policy(random);
		world_set_policy(&policy);
		world_round();
		break;
	case 1:
		if (pick(random, 0, 1))
			change_limits(random);
		else
			do_override(random);
		break;
	case 2:
		world->domains[domain].observed = pick(random, 0, 3) == 0;
		world_set_active(domain, pick(random, 0, 2) > 0);
		world_round();
		break;
	case 3:
		world_forget_target(domain);
		world_round();
		break;
	case 4 ... 8:
		do_task(random);
		break;
	case 9 ... 15:
		do_io(random);
		break;
	case 16:
		do_device(random);
		break;
	case 17:
		world_renew_twin();
		break;
	default:
		world_switch_to(cpu, !world->cpus[cpu].load.running,
				pick(random, 0, 2) * pick(random, 0, DECAY_Q(512)));
	}
}

/* At most a hundred looks, for a hundred OPPs of four domains: no storm, and then silence. */
static void come_to_rest(void)
{
	uint64_t rounds = world->rounds;

	for (uint32_t cpu = 0; cpu < world->topology->n_cpus; cpu++)
		if (world->cpus[cpu].load.running)
			world_switch(cpu, false);
	for (uint32_t task = 0; task < WORLD_TASKS; task++)
		world_stop_io(task);
	world_run_until(world->now_ns + 2 * NS_PER_S);
	assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
	assert_int_equal(world_count_tasks(), 0);
	assert_in_range(world->rounds - rounds, 0, 100);
	for (uint32_t i = 0; i < world->topology->n_domains; i++) {
		uint32_t min_khz, max_khz;

		engine_limits(world->engine, i, &min_khz, &max_khz);
		if (world->domains[i].active)
			assert_int_equal(
				world_last(i)->target_khz,
				opp_at_or_above(&world->topology->domains[i], 0, min_khz, max_khz));
	}
}

WORLD_TEST(test_random, NULL)
{
	uint64_t changes = 0, rounds = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct test_random random = { seed * 0x9e3779b97f4a7c15ULL };
		struct policy policy = make_policy(&random);

		print_message("seed %llu\n", (unsigned long long)seed);
		world_init(make_topology(&random), &policy);
		world_round();
		for (int i = 0; i < STEPS; i++) {
			step(&random);
			world_run_until(world->now_ns +
					pick(&random, 0, 1) * pick(&random, 0, 5000000));
			if (i % 500 == 499)
				come_to_rest();
		}
		for (uint32_t i = 0; i < world->topology->n_domains; i++)
			changes += world->domains[i].changes;
		rounds += world->rounds;
		world_deinit();
	}
	print_message("%llu rounds, %llu changes\n", (unsigned long long)rounds,
		      (unsigned long long)changes);
	assert_true(changes > SEEDS * 10);
}
