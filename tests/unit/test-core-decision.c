// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "config/keys.h"
#include "core/engine.h"

static void note(struct explanation *explanation, uint32_t cap, uint32_t cpu)
{
	const struct contender contender = { .cap = cap, .cpu = cpu };

	explanation_note(explanation, &contender);
}

/* Whatever the order in which they come: the highest, the first of equals first; all counted. */
TEST(test_highest_first)
{
	struct test_random random = { 7 };

	for (int round = 0; round < 200; round++) {
		struct explanation explanation = { 0 };
		uint32_t n = test_random_below(&random, 20), asked = 0, highest = 0, first = 0;

		for (uint32_t cpu = 0; cpu < n; cpu++) {
			uint32_t cap = test_random_below(&random, 6) * 100;

			note(&explanation, cap, cpu);
			asked += cap > 0;
			if (cap > highest) {
				highest = cap;
				first = cpu;
			}
		}
		assert_int_equal(explanation.n_contenders, asked);
		if (asked) {
			assert_int_equal(explanation.contenders[0].cap, highest);
			assert_int_equal(explanation.contenders[0].cpu, first);
		}
		for (uint32_t i = 1; i < asked && i < EXPLANATION_CONTENDERS_MAX; i++)
			assert_true(explanation.contenders[i].cap <=
				    explanation.contenders[i - 1].cap);
	}
}

static void apply(struct engine *engine, struct input input)
{
	input.now_ns = NS_PER_S;
	engine_apply(engine, &input);
}

/* The explanation names the winner of the merge, the other contenders, and the limits. */
TEST(test_of_a_decision)
{
	struct topology *topology = test_topology_usual(1, 3);
	const struct decision *decision;
	struct explanation explanation;
	struct engine *engine;
	struct policy policy;

	policy_init(&policy);
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 2000000 };
	engine = engine_new(topology, &policy);
	apply(engine, (struct input){ .type = INPUT_DOMAIN, .domain = { 0, true, true } });
	apply(engine, (struct input){ .type = INPUT_LIMITS, .limits = { 0, 800000, 1600000 } });
	for (uint32_t cpu = 1; cpu < 3; cpu++)
		apply(engine, (struct input){ .type = INPUT_CPU,
					      .cpu = { .cpu = cpu,
						       .util_q = (cpu * 400) << 20,
						       .est_q = (cpu * 400) << 20,
						       .running = true } });
	engine_advance(engine, NS_PER_S);
	decision = engine_decide(engine, 0, NS_PER_S);
	engine_commit(engine, 0, ENGINE_SET);
	explanation = *engine_explanation(engine, 0);
	assert_int_equal(explanation.n_contenders, 2);
	assert_int_equal(explanation.contenders[0].cap, decision->want_cap);
	assert_int_equal(explanation.contenders[0].cpu, decision->cpu);
	assert_int_equal(explanation.contenders[0].reason, decision->reason);
	assert_int_equal(explanation.contenders[1].cpu, 1);
	assert_int_equal(explanation.contenders[1].cap, 500);
	assert_int_equal(explanation.policy_min_khz, 0);
	assert_int_equal(explanation.policy_max_khz, 2000000);
	assert_int_equal(explanation.scaling_max_khz, 1600000);
	assert_false(explanation.has_io);
	engine_free(engine);
	free(topology);
}
