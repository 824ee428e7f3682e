// SPDX-License-Identifier: GPL-2.0-only
/* What a chain asks of the domain where it comes to a CPU, and for how long. */
#include "test-core.h"

#include "config/keys.h"
#include "core/engine.h"
#include "wakegov/decay.h"

#define START_NS (1000 * NS_PER_S)
#define HOLD_NS	 (50 * NS_PER_MS)
#define LOW_KHZ	 800000
#define HALF_KHZ 1600000 /* at or above 1.25 · 0.5 · 2.4 GHz */
#define HIGH_KHZ 2400000
#define CAP_30	 0x1
#define CAP_KHZ	 800000

static struct machine {
	struct topology *topology;
	struct policy policy;
	struct engine *engine;
	uint64_t now_ns, burst_ns;
} machine;

/* Two domains of two CPUs, and a rule with a cap of 30 %. */
static int set_up(void **state)
{
	machine.topology = test_topology_usual(2, 2);
	policy_init(&machine.policy);
	machine.policy.chains = true;
	machine.policy.n_rules = 1;
	machine.policy.rules[0].domain_cpu = POLICY_ANY_DOMAIN;
	machine.policy.rules[0].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 30 };
	machine.engine = engine_new(machine.topology, &machine.policy);
	assert_non_null(machine.engine);
	machine.now_ns = START_NS;
	machine.burst_ns = 0;
	for (uint32_t i = 0; i < 2; i++)
		engine_apply(machine.engine,
			     &(struct input){
				     .now_ns = START_NS,
				     .type = INPUT_DOMAIN,
				     .domain = { .domain = i, .active = true, .driven = true },
			     });
	return 0;
}

static int tear_down(void **state)
{
	engine_free(machine.engine);
	free(machine.topology);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

/* The CPU is this busy; a chain of this share was there at seen_ns. */
static void sample(uint32_t cpu, uint32_t util_cap, uint32_t chain_cap, uint64_t seen_ns)
{
	const struct input input = {
		.now_ns = machine.now_ns,
		.type = INPUT_CPU,
		.cpu = { .cpu = cpu,
			 .util_q = DECAY_Q(util_cap),
			 .est_q = DECAY_Q(util_cap),
			 .running = util_cap,
			 .burst_ns = machine.burst_ns,
			 .idle_since_ns = machine.now_ns,
			 .chain = { .util_q = DECAY_Q(chain_cap),
				    .pid = 812,
				    .waker = 811,
				    .seen_ns = seen_ns } },
	};

	engine_apply(machine.engine, &input);
}

static const struct decision *decide(uint32_t domain)
{
	engine_decide(machine.engine, domain, machine.now_ns);
	engine_commit(machine.engine, domain, ENGINE_SET);
	return engine_last(machine.engine, domain);
}

static uint32_t chain_q(uint32_t cpu)
{
	struct engine_band band;

	engine_band(machine.engine, cpu, &band);
	return band.chain_q;
}

/* On a CPU that is idle by itself the chain has what it would have on one CPU. */
FIXTURE_TEST(test_demand)
{
	const struct explanation *explanation;
	const struct decision *decision;

	sample(0, 100, 512, machine.now_ns);
	decision = decide(0);
	assert_int_equal(decision->target_khz, HALF_KHZ);
	assert_int_equal(decision->want_cap, 640);
	assert_int_equal(decision->pid, 812);
	assert_string_equal(reason_names[decision->reason], "chain");
	assert_int_equal(engine_floor_khz(machine.engine, 0), HALF_KHZ);
	explanation = engine_explanation(machine.engine, 0);
	assert_int_equal(explanation->contenders[0].partner, 811);
	assert_int_equal(explanation->contenders[0].share_permille, 500);
	assert_int_equal(explanation->contenders[1].reason, REASON_UTILISATION);
	/* What is covered is no news, what is not is. */
	assert_in_range(chain_q(0), DECAY_Q(513), DECAY_Q(600));
	assert_int_equal(decide(1)->target_khz, LOW_KHZ);
}

/* It is a floor also where the CPU asks for as much, after so long without a break. */
FIXTURE_TEST(test_highest_is_no_news)
{
	machine.burst_ns = NS_PER_S;
	sample(0, 100, 760, machine.now_ns);
	assert_int_equal(decide(0)->target_khz, HIGH_KHZ);
	assert_int_equal(chain_q(0), UINT32_MAX);
	assert_int_equal(engine_floor_khz(machine.engine, 0), HIGH_KHZ);
}

/* It is looked at when the hold time ends, and is over when the chain was not there again. */
FIXTURE_TEST(test_hold)
{
	sample(0, 0, 1000, machine.now_ns);
	assert_int_equal(decide(0)->target_khz, HIGH_KHZ);
	decide(1);
	assert_int_equal(engine_next_ns(machine.engine), START_NS + HOLD_NS);
	machine.now_ns = START_NS + HOLD_NS;
	sample(0, 0, 1000, machine.now_ns - NS_PER_MS);
	assert_int_equal(decide(0)->target_khz, HIGH_KHZ);
	assert_int_equal(engine_next_ns(machine.engine), machine.now_ns - NS_PER_MS + HOLD_NS);
	machine.now_ns += HOLD_NS;
	sample(0, 0, 1000, machine.now_ns - HOLD_NS);
	decide(0);
	machine.now_ns += 20 * NS_PER_MS;
	assert_int_equal(decide(0)->target_khz, LOW_KHZ);
	assert_int_equal(engine_floor_khz(machine.engine, 0), 0);
}

/* Each look at a chain that stays comes later, unless its CPU asks for more by itself. */
FIXTURE_TEST(test_looks)
{
	uint64_t gaps_ns[2][4];

	for (int own = 0; own < 2; own++) {
		RENEW();
		decide(1);
		for (int look = 0; look < 4; look++) {
			sample(0, own ? 1000 : 100, 960, machine.now_ns);
			decide(0);
			gaps_ns[own][look] = engine_next_ns(machine.engine) - machine.now_ns;
			machine.now_ns += gaps_ns[own][look];
		}
	}
	assert_int_equal(gaps_ns[0][1], HOLD_NS);
	assert_int_equal(gaps_ns[0][2], 3 * HOLD_NS);
	assert_int_equal(gaps_ns[0][3], 7 * HOLD_NS);
	assert_in_range(gaps_ns[1][3], 1, HOLD_NS);
}

FIXTURE_TEST(test_off)
{
	machine.policy.chains = false;
	engine_set_policy(machine.engine, &machine.policy, machine.now_ns);
	sample(0, 100, 1000, machine.now_ns);
	assert_int_equal(decide(0)->target_khz, LOW_KHZ);
	assert_int_equal(chain_q(0), UINT32_MAX);
}

/* A cap holds for a chain as for any utilisation, also where it is a floor. */
FIXTURE_TEST(test_cap)
{
	engine_apply(machine.engine,
		     &(struct input){ .now_ns = machine.now_ns,
				      .type = INPUT_CLASS_RUN,
				      .class_run = { .cpu = 0,
						     .matched = CAP_30,
						     .ran_ns = machine.now_ns,
						     .ran_pid = 812,
						     .long_running_ns = machine.now_ns,
						     .long_running_pid = 812 } });
	sample(0, 100, 1000, machine.now_ns);
	assert_int_equal(decide(0)->target_khz, CAP_KHZ);
	assert_int_equal(engine_floor_khz(machine.engine, 0), CAP_KHZ);
}

/* The cap of a task, or of the one that wakes it, holds where no capped task has run, or not
 * lately. */
FIXTURE_TEST(test_cap_elsewhere)
{
	for (uint32_t capped = 811; capped <= 812; capped++) {
		RENEW();
		engine_apply(machine.engine,
			     &(struct input){ .now_ns = machine.now_ns,
					      .type = INPUT_TASK_RULES,
					      .task_rules = { .pid = capped, .matched = CAP_30 } });
		sample(2, 100, 1000, machine.now_ns);
		assert_int_equal(decide(1)->target_khz, CAP_KHZ);
		assert_int_equal(engine_floor_khz(machine.engine, 1), CAP_KHZ);
		assert_int_equal(engine_last(machine.engine, 1)->capped_pid, capped);
	}
}

/* Where every CPU's own utilisation takes the highest OPP, chains could change nothing. */
FIXTURE_TEST(test_saturation)
{
	uint64_t full_ns;

	for (uint32_t domain = 0; domain < 2; domain++) {
		sample(2 * domain, 1000, 1000, machine.now_ns);
		decide(domain);
	}
	full_ns = engine_full_ns(machine.engine, machine.now_ns);
	assert_int_equal(full_ns, machine.now_ns + 100 * NS_PER_MS);
	machine.now_ns = full_ns;
	/* Four fifths of the time, with a headroom of a quarter. */
	assert_true(engine_keeps_full(machine.engine, 0, 1024 * 82 / 100));
	assert_false(engine_keeps_full(machine.engine, 0, 1024 * 40 / 100));
	/* By a chain alone it does not count, but for a moment. */
	for (int look = 0; look < 2; look++) {
		assert_int_equal(engine_full_ns(machine.engine, machine.now_ns), full_ns);
		sample(2, 300, 1000, machine.now_ns);
		assert_int_equal(decide(1)->target_khz, HIGH_KHZ);
		machine.now_ns += 100 * NS_PER_MS;
	}
	assert_int_equal(engine_full_ns(machine.engine, machine.now_ns), UINT64_MAX);
}

/* A domain that has nothing more to do is not decided for again, and no longer kept full. */
FIXTURE_TEST(test_saturation_ends)
{
	for (uint32_t domain = 0; domain < 2; domain++) {
		sample(2 * domain, 1000, 1000, machine.now_ns);
		decide(domain);
	}
	machine.now_ns += NS_PER_S;
	sample(0, 0, 0, 0);
	decide(0);
	assert_true(engine_full_ns(machine.engine, machine.now_ns) <= machine.now_ns);
	machine.now_ns += 100 * NS_PER_MS + 1;
	assert_int_equal(engine_full_ns(machine.engine, machine.now_ns), UINT64_MAX);
}

/* The price of waiting sets the frequency of work that is waited for, until that work ends. */
FIXTURE_TEST(test_waited_for)
{
	struct input input = {
		.type = INPUT_CPU,
		.cpu = { .running = true, .util_q = DECAY_Q(100), .est_q = DECAY_Q(100) },
	};
	struct engine_band band;
	uint64_t look_ns;

	machine.policy.waiting_uw = 4000000;
	engine_set_policy(machine.engine, &machine.policy, machine.now_ns);
	sample(0, 10, 0, 0);
	decide(0);
	decide(1);
	engine_band(machine.engine, 0, &band);
	assert_int_equal(band.waiting_q, (uint64_t)DECAY_Q(1024) * 100 / 125);
	machine.now_ns += 10 * NS_PER_MS;
	input.now_ns = machine.now_ns;
	input.cpu.chain = (struct input_chain){ band.waiting_q, 812, 0, machine.now_ns };
	engine_apply(machine.engine, &input);
	assert_int_equal(decide(0)->target_khz, HIGH_KHZ);
	look_ns = engine_next_ns(machine.engine);
	assert_int_equal(look_ns, machine.now_ns + HOLD_NS + 8 * NS_PER_MS);

	/* A domain to which it goes on is looked at with the first one. */
	machine.now_ns += NS_PER_MS;
	input.now_ns = machine.now_ns;
	input.cpu.cpu = 2;
	input.cpu.chain.seen_ns = machine.now_ns;
	engine_apply(machine.engine, &input);
	assert_int_equal(decide(1)->target_khz, HIGH_KHZ);
	assert_int_equal(engine_next_ns(machine.engine), look_ns);
	machine.now_ns = look_ns;
	assert_int_equal(decide(0)->target_khz, LOW_KHZ);
	assert_int_equal(decide(1)->target_khz, LOW_KHZ);
	assert_true(engine_next_ns(machine.engine) > look_ns + NS_PER_MS);

	machine.policy.waiting_uw = 0;
	engine_set_policy(machine.engine, &machine.policy, machine.now_ns);
	engine_band(machine.engine, 0, &band);
	assert_int_equal(band.waiting_q, 0);
}

/* A rise that comes too soon after a fall is made as soon as it may be, by whatever backend. */
FIXTURE_TEST(test_rate_limited)
{
	for (int clamps = 0; clamps < 2; clamps++) {
		uint64_t fell_ns;

		RENEW();
		engine_apply(machine.engine, &(struct input){ .now_ns = START_NS,
							      .type = INPUT_DOMAIN,
							      .domain = { .active = true,
									  .driven = true,
									  .clamps = clamps } });
		sample(0, 100, 512, START_NS);
		assert_int_equal(decide(0)->target_khz, HALF_KHZ);
		machine.now_ns += 2 * HOLD_NS;
		sample(0, 100, 0, 0);
		decide(0);
		decide(1);
		fell_ns = machine.now_ns += 2 * HOLD_NS;
		assert_int_equal(decide(0)->target_khz, LOW_KHZ);
		machine.now_ns += NS_PER_MS / 4;
		sample(0, 100, 512, machine.now_ns);
		assert_int_equal(decide(0)->target_khz, LOW_KHZ);
		assert_int_equal(engine_next_ns(machine.engine), fell_ns + NS_PER_MS);
	}
}

/* The rule's level is the most that its tasks get for work that is waited for; 0 is nothing. */
FIXTURE_TEST(test_waiting_of_rule)
{
	const struct {
		struct policy_level level;
		uint32_t khz;
	} cases[] = {
		{ { POLICY_LEVEL_NONE, 0 }, HIGH_KHZ },
		{ { POLICY_LEVEL_CAPACITY, TOPOLOGY_CAPACITY_MAX }, HIGH_KHZ },
		{ { POLICY_LEVEL_PERCENT, 60 }, HALF_KHZ },
		{ { POLICY_LEVEL_CAPACITY, 0 }, LOW_KHZ },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct input input = {
			.type = INPUT_CPU,
			.now_ns = START_NS,
			.cpu = { .chain = { DECAY_Q(819), 812, 0, START_NS } },
		};

		RENEW();
		machine.policy.rules[0].properties =
			(struct policy_properties){ .waiting = cases[i].level };
		engine_set_policy(machine.engine, &machine.policy, START_NS);
		engine_apply(machine.engine,
			     &(struct input){ .now_ns = START_NS,
					      .type = INPUT_TASK_RULES,
					      .task_rules = { .pid = 812, .matched = CAP_30 } });
		engine_apply(machine.engine, &input);
		assert_int_equal(decide(0)->target_khz, cases[i].khz);
		/* A chain that is not waited for has no such bound. */
		input.cpu.chain.waker = 811;
		engine_apply(machine.engine, &input);
		assert_int_equal(decide(0)->want_cap, 1024);
	}
}
