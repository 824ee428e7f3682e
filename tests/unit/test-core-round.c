// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "config/keys.h"
#include "core/engine.h"

static void apply(struct engine *engine, struct input input, uint64_t now_ns)
{
	input.now_ns = now_ns;
	engine_apply(engine, &input);
}

static uint32_t decide(struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	engine_advance(engine, now_ns);
	assert_true(engine_is_due(engine, domain, now_ns));
	engine_decide(engine, domain, now_ns);
	engine_commit(engine, domain, ENGINE_SET);
	return engine_last(engine, domain)->target_khz;
}

/* An override of a domain wins over a policy that comes later, until it is gone. */
static void test_override(void **state)
{
	struct topology *topology = test_topology_usual(2, 1);
	struct engine *engine;
	struct policy policy;

	policy_init(&policy);
	engine = engine_new(topology, &policy);
	assert_non_null(engine);
	for (uint32_t domain = 0; domain < 2; domain++) {
		apply(engine,
		      (struct input){ .type = INPUT_DOMAIN, .domain = { domain, true, true } }, 1);
		assert_int_equal(decide(engine, domain, NS_PER_S), 800000);
	}

	policy.n_domain_overrides = 1;
	policy.domain_overrides[0] = (struct policy_domain_section){
		.given = POLICY_DOMAIN_BIT(min),
		.values.min = { POLICY_FREQUENCY_KHZ, 1200000, 4 },
	};
	strcpy(policy.domain_overrides[0].name, topology->domains[1].name);
	engine_set_policy(engine, &policy, 2 * NS_PER_S);
	assert_int_equal(decide(engine, 0, 2 * NS_PER_S), 800000);
	assert_int_equal(decide(engine, 1, 2 * NS_PER_S), 1200000);
	assert_int_equal(engine_last(engine, 1)->limiter, LIMITER_POLICY_MIN);
	assert_int_equal(engine_explanation(engine, 1)->min_override, 4);

	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1000000 };
	engine_set_policy(engine, &policy, 3 * NS_PER_S);
	assert_int_equal(decide(engine, 1, 3 * NS_PER_S), 1200000);

	policy.n_domain_overrides = 0;
	engine_set_policy(engine, &policy, 4 * NS_PER_S);
	assert_int_equal(decide(engine, 1, 5 * NS_PER_S), 800000);
	engine_free(engine);
	free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_override),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
