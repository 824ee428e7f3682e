// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "config/keys.h"
#include "core/engine_private.h"

static struct input_override make(uint32_t id, uint32_t domain, uint64_t end_ns)
{
	return (struct input_override){
		.id = id, .domain = domain, .min_khz = id * 100000, .end_ns = end_ns
	};
}

static void put(struct override_table *table, uint32_t id, uint32_t domain, uint64_t end_ns)
{
	const struct input_override override = make(id, domain, end_ns);

	assert_true(override_table_put(table, &override, 0));
}

static void test_newest_wins(void **state)
{
	struct override_table table = { 0 };
	struct override_limits limits;
	struct input_override override = make(9, 1, 50);

	put(&table, 3, 1, 100);
	put(&table, 7, 2, 100);
	put(&table, 1, 1, 100); /* put late, and older all the same */
	override_table_merge(&table, 1, &limits);
	assert_int_equal(limits.min_khz, 300000);
	assert_int_equal(limits.min_id, 3);
	assert_int_equal(limits.max_khz, 0);

	override.min_khz = 0;
	override.max_khz = 500000;
	override.frozen_khz = 400000;
	assert_true(override_table_put(&table, &override, 0));
	override_table_merge(&table, 1, &limits);
	assert_int_equal(limits.min_khz, 300000);
	assert_int_equal(limits.max_khz, 500000);
	assert_int_equal(limits.max_id, 9);
	assert_int_equal(limits.frozen_khz, 400000);
	assert_int_equal(limits.frozen_id, 9);

	override_table_merge(&table, 0, &limits);
	assert_int_equal(limits.min_khz + limits.max_khz + limits.frozen_khz, 0);
}

static void test_overrides(void **state)
{
	struct override_table table = { 0 };
	struct input_override ended;

	assert_int_equal(override_table_next_ns(&table), UINT64_MAX);
	put(&table, 1, 0, 300);
	put(&table, 2, 0, 100);
	put(&table, 3, 0, 200);
	assert_int_equal(override_table_next_ns(&table), 100);
	assert_false(override_table_expire(&table, 99, &ended));
	assert_true(override_table_expire(&table, 200, &ended));
	assert_int_equal(ended.id, 2);
	assert_true(override_table_expire(&table, 200, &ended));
	assert_int_equal(ended.id, 3);
	assert_false(override_table_expire(&table, 200, &ended));
	assert_int_equal(override_table_next_ns(&table), 300);
	assert_int_equal(table.n, 1);
}

static void test_cancel_and_replace(void **state)
{
	struct override_table table = { 0 };
	struct input_override override = make(2, 0, 500);

	put(&table, 1, 0, 300);
	put(&table, 2, 0, 300);
	override.min_khz = 700000;
	assert_true(override_table_put(&table, &override, 0));
	assert_int_equal(table.n, 2);
	assert_int_equal(override_table_find(&table, 2)->min_khz, 700000);
	override.end_ns = 0;
	assert_true(override_table_put(&table, &override, 10));
	assert_null(override_table_find(&table, 2));
	assert_non_null(override_table_find(&table, 1));
	/* Nothing is there to cancel: nothing happens. */
	assert_true(override_table_put(&table, &override, 10));
	assert_int_equal(table.n, 1);
}

static void test_full(void **state)
{
	struct override_table table = { 0 };
	struct input_override override = make(OVERRIDES_MAX + 1, 0, 100);

	for (uint32_t id = OVERRIDES_MAX; id; id--)
		put(&table, id, 0, 100);
	assert_false(override_table_put(&table, &override, 0));
	assert_int_equal(table.n, OVERRIDES_MAX);
	for (uint32_t i = 0; i < OVERRIDES_MAX; i++)
		assert_int_equal(table.entries[i].id, i + 1);
	/* A known one can still be changed. */
	override.id = 5;
	assert_true(override_table_put(&table, &override, 0));
}

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

/* Through the engine: it makes the domain due, asks to be called at its end, and ends by itself. */
static void test_in_engine(void **state)
{
	struct topology *topology = test_topology_usual(2, 1);
	struct input input = { .type = INPUT_OVERRIDE };
	struct policy policy, other;
	struct engine *engine;

	policy_init(&policy);
	engine = engine_new(topology, &policy);
	assert_non_null(engine);
	apply(engine, (struct input){ .type = INPUT_DOMAIN, .domain = { 1, true, true } }, 1);
	assert_int_equal(decide(engine, 1, NS_PER_S), 800000);

	input.override = (struct input_override){
		.id = 4, .domain = 1, .min_khz = 1200000, .end_ns = 9 * NS_PER_S
	};
	apply(engine, input, 2 * NS_PER_S);
	assert_int_equal(decide(engine, 1, 2 * NS_PER_S), 1200000);
	assert_int_equal(engine_last(engine, 1)->limiter, LIMITER_OVERRIDE_MIN);
	assert_int_equal(engine->overrides.n, 1);
	assert_int_equal(engine_next_ns(engine), 9 * NS_PER_S);

	/* A new policy is no reason for it to go. */
	policy_init(&other);
	other.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1000000 };
	engine_set_policy(engine, &other);
	assert_int_equal(decide(engine, 1, 3 * NS_PER_S), 1200000);

	/* The same number for another domain: the first is free again. */
	input.override.domain = 0;
	apply(engine, input, 4 * NS_PER_S);
	assert_int_equal(decide(engine, 1, 5 * NS_PER_S), 800000);

	engine_advance(engine, 9 * NS_PER_S);
	assert_int_equal(engine->overrides.n, 0);
	engine_free(engine);
	free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_wins),	   cmocka_unit_test(test_overrides),
		cmocka_unit_test(test_cancel_and_replace), cmocka_unit_test(test_full),
		cmocka_unit_test(test_in_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
