// SPDX-License-Identifier: GPL-2.0-only
/* Overrides of tasks and rules, as rules of a policy. */
#include "test-core.h"

#include <stdio.h>

#include "config/keys.h"
#include "daemon/modules/grants.h"

static struct policy policy;

static void make_policy(uint32_t n_rules)
{
	policy_init(&policy);
	policy.n_rules = n_rules;
	for (uint32_t i = 0; i < n_rules; i++)
		snprintf(policy.rules[i].name, sizeof(policy.rules[i].name), "r%u", i);
	policy.rules[1].domain_cpu = 4;
}

static struct override make(uint32_t id, uint32_t pid, const char *rule)
{
	struct override override = {
		.id = id,
		.target.pid = pid,
		.properties.cap = { POLICY_LEVEL_PERCENT, 30 },
		.end_ns = id * NS_PER_S,
	};

	snprintf(override.target.rule, sizeof(override.target.rule), "%s", rule);
	return override;
}

static void add(struct overrides *overrides, uint32_t id, uint32_t pid, const char *rule)
{
	struct override override = make(id, pid, rule);

	assert_true(overrides_insert(overrides, &override));
}

/* The oldest last, and that of a rule only where its rule holds. */
static void test_fill(void **state)
{
	struct overrides overrides = { 0 };

	make_policy(2);
	add(&overrides, 3, 812, "");
	add(&overrides, 4, 0, "r1");
	overrides_fill(&overrides, &policy);
	assert_int_equal(policy.n_rules, 2);
	assert_int_equal(policy.n_overrides, 2);
	assert_string_equal(policy.rules[63].name, "override-3");
	assert_int_equal(policy.rules[63].domain_cpu, POLICY_ANY_DOMAIN);
	assert_int_equal(policy.rules[63].properties.cap.value, 30);
	assert_string_equal(policy.rules[62].name, "override-4");
	assert_int_equal(policy.rules[62].domain_cpu, 4);
	overrides_remove(&overrides, overrides_find(&overrides, 3));
	overrides_fill(&overrides, &policy);
	assert_int_equal(policy.n_overrides, 1);
	assert_string_equal(policy.rules[63].name, "override-4");
	assert_null(overrides_find(&overrides, 3));
}

static void test_end(void **state)
{
	struct overrides overrides = { 0 };

	make_policy(2);
	assert_true(overrides_next_ns(&overrides) == UINT64_MAX);
	add(&overrides, 5, 0, "r1");
	add(&overrides, 6, 812, "");
	assert_true(overrides_next_ns(&overrides) == 5 * NS_PER_S);
	overrides_check(&overrides, &policy);
	assert_true(overrides_next_ns(&overrides) == 5 * NS_PER_S);
	make_policy(1);
	overrides_check(&overrides, &policy);
	assert_int_equal(overrides.entries[0].ended, OVERRIDE_RULE_GONE);
	assert_int_equal(overrides.entries[1].ended, OVERRIDE_HOLDS);
	assert_true(overrides_next_ns(&overrides) == 0);
	overrides_fill(&overrides, &policy);
	assert_int_equal(policy.n_overrides, 1);
}

/* Rules of files come first where there is no room for both; the newest overrides go. */
static void test_full(void **state)
{
	struct overrides overrides = { 0 };
	struct override one = make(99, 1, "");

	for (uint32_t i = 0; i < TASK_OVERRIDES_MAX; i++)
		add(&overrides, i + 1, 812, "");
	assert_false(overrides_insert(&overrides, &one));
	make_policy(POLICY_RULES_MAX - 2);
	assert_int_equal(overrides_room(&policy, false), 2);
	overrides_check(&overrides, &policy);
	assert_int_equal(overrides.entries[1].ended, OVERRIDE_HOLDS);
	assert_int_equal(overrides.entries[2].ended, OVERRIDE_NO_ROOM);
	overrides_fill(&overrides, &policy);
	assert_int_equal(policy.n_overrides, 2);
	make_policy(0);
	assert_int_equal(overrides_room(&policy, false), TASK_OVERRIDES_MAX);

	/* Those of domains have a room of their own, and stand among the others by id. */
	assert_int_equal(overrides_room(&policy, true), OVERRIDES_MAX);
	for (uint32_t i = 0; i < OVERRIDES_MAX; i++) {
		one = (struct override){ .id = 1000 - i, .of_domain = true };
		assert_true(overrides_insert(&overrides, &one));
	}
	one.id = 1001;
	assert_false(overrides_insert(&overrides, &one));
	assert_int_equal(overrides_count(&overrides, true), OVERRIDES_MAX);
	for (uint32_t i = 1; i < overrides.n; i++)
		assert_true(overrides.entries[i].id > overrides.entries[i - 1].id);
	overrides_fill(&overrides, &policy);
	assert_int_equal(policy.n_overrides, 2);
}

/* What overrides of a domain ask together: of each limit, the newest. */
static void test_limits(void **state)
{
	struct override_limits limits;
	struct overrides overrides = { 0 };
	struct override one = { .id = 3, .of_domain = true, .domain = 1, .min_khz = 300000 };

	assert_true(overrides_insert(&overrides, &one));
	one = (struct override){ .id = 7, .of_domain = true, .domain = 2, .min_khz = 700000 };
	assert_true(overrides_insert(&overrides, &one));
	/* Put late, and older all the same. */
	one = (struct override){ .id = 1, .of_domain = true, .domain = 1, .min_khz = 100000 };
	assert_true(overrides_insert(&overrides, &one));
	limits = overrides_limits(&overrides, 1);
	assert_int_equal(limits.min_khz, 300000);
	assert_int_equal(limits.min_id, 3);
	assert_int_equal(limits.max_khz, 0);

	one = (struct override){
		.id = 9, .of_domain = true, .domain = 1, .max_khz = 500000, .frozen_khz = 400000
	};
	assert_true(overrides_insert(&overrides, &one));
	limits = overrides_limits(&overrides, 1);
	assert_int_equal(limits.min_khz, 300000);
	assert_int_equal(limits.max_khz, 500000);
	assert_int_equal(limits.max_id, 9);
	assert_int_equal(limits.frozen_khz, 400000);
	assert_int_equal(limits.frozen_id, 9);

	/* One of a task is in no domain. */
	one = make(10, 812, "");
	assert_true(overrides_insert(&overrides, &one));
	limits = overrides_limits(&overrides, 0);
	assert_int_equal(limits.min_khz + limits.max_khz + limits.frozen_khz, 0);
}

/* A number that another task has since, or none; the override of the task that is there stays. */
static void test_end_task(void **state)
{
	struct overrides overrides = { 0 };
	struct override other = make(2, 900, "");

	add(&overrides, 1, 812, "");
	overrides.entries[0].target.start_ns = 7;
	assert_true(overrides_insert(&overrides, &other));
	overrides_end_task(&overrides, 812, 7);
	assert_int_equal(overrides.entries[0].ended, OVERRIDE_HOLDS);
	overrides_end_task(&overrides, 812, 8);
	assert_int_equal(overrides.entries[0].ended, OVERRIDE_TASK_GONE);
	assert_int_equal(overrides.entries[1].ended, OVERRIDE_HOLDS);
	assert_true(overrides_next_ns(&overrides) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),	 cmocka_unit_test(test_end),
		cmocka_unit_test(test_full),	 cmocka_unit_test(test_limits),
		cmocka_unit_test(test_end_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
