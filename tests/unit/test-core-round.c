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

/* An override makes its domain due, when it begins and when it ends, and no other. */
static void test_override(void **state)
{
	struct topology *topology = test_topology_usual(2, 1);
	struct input input = { .type = INPUT_OVERRIDE };
	struct policy policy, other;
	struct engine *engine;

	policy_init(&policy);
	engine = engine_new(topology, &policy);
	assert_non_null(engine);
	for (uint32_t domain = 0; domain < 2; domain++) {
		apply(engine,
		      (struct input){ .type = INPUT_DOMAIN, .domain = { domain, true, true } }, 1);
		assert_int_equal(decide(engine, domain, NS_PER_S), 800000);
	}

	input.override = (struct input_override){ 1, { .min_khz = 1200000, .min_id = 4 } };
	apply(engine, input, 2 * NS_PER_S);
	assert_false(engine_is_due(engine, 0, 2 * NS_PER_S));
	assert_int_equal(decide(engine, 1, 2 * NS_PER_S), 1200000);
	assert_int_equal(engine_last(engine, 1)->limiter, LIMITER_OVERRIDE_MIN);

	/* A new policy is no reason for it to go. */
	policy_init(&other);
	other.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1000000 };
	engine_set_policy(engine, &other);
	assert_int_equal(decide(engine, 1, 3 * NS_PER_S), 1200000);

	input.override.limits = (struct override_limits){ 0 };
	apply(engine, input, 4 * NS_PER_S);
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
