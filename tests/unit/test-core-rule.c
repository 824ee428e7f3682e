// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "config/keys.h"
#include "core/rule.h"

static const struct topology_domain big = {
	.name = "policy4",
	.first_cpu = 4,
	.n_opps = 3,
	.opp_khz = { 600000, 1200000, 1800000 },
	.capacity = 1024,
};

static const struct topology_domain little = {
	.name = "policy0",
	.n_opps = 3,
	.opp_khz = { 400000, 800000, 1400000 },
	.capacity = 512,
};

static const struct policy_level capacity_300 = { POLICY_LEVEL_CAPACITY, 300 };

static struct policy *make_policy(void)
{
	static struct policy policy;

	policy_init(&policy);
	policy.n_rules = 4;
	for (uint32_t i = 0; i < POLICY_RULES_MAX; i++)
		policy.rules[i].domain_cpu = POLICY_ANY_DOMAIN;
	policy.rules[0].properties.floor = capacity_300;
	policy.rules[1].properties.cap = capacity_300;
	policy.rules[1].domain_cpu = 4;
	policy.rules[2].properties.cap = capacity_300;
	policy.rules[3].properties.cap = capacity_300;
	policy.rules[3].properties.io_boost = capacity_300;
	return &policy;
}

TEST(test_first_that_gives)
{
	const struct policy *policy = make_policy();

	assert_int_equal(rule_that_gives(policy, 0, RULE_CAP, &big), -1);
	assert_int_equal(rule_that_gives(policy, 1, RULE_CAP, &big), -1);
	assert_int_equal(rule_that_gives(policy, 0xf, RULE_FLOOR, &big), 0);
	assert_int_equal(rule_that_gives(policy, 0xe, RULE_FLOOR, &big), -1);
	assert_int_equal(rule_that_gives(policy, 0xc, RULE_CAP, &big), 2);
	assert_int_equal(rule_that_gives(policy, 0x8, RULE_CAP, &big), 3);
	assert_int_equal(rule_that_gives(policy, 0xf, RULE_IO_BOOST, &little), 3);
}

TEST(test_for_one_domain)
{
	const struct policy *policy = make_policy();

	assert_int_equal(rule_that_gives(policy, 0xf, RULE_CAP, &big), 1);
	assert_int_equal(rule_that_gives(policy, 0xf, RULE_CAP, &little), 2);
	assert_int_equal(rule_that_gives(policy, 0x2, RULE_CAP, &little), -1);
}

/* A replay under another policy may have fewer rules than the task is told to match. */
TEST(test_rules_that_are_gone)
{
	struct policy *policy = make_policy();

	policy->n_rules = 1;
	assert_int_equal(rule_that_gives(policy, UINT64_MAX, RULE_CAP, &big), -1);
	assert_int_equal(rule_that_gives(policy, 1ULL << 63, RULE_CAP, &big), -1);
	policy->n_rules = POLICY_RULES_MAX;
	policy->rules[63].properties.cap = capacity_300;
	assert_int_equal(rule_that_gives(policy, 1ULL << 63, RULE_CAP, &big), 63);
}

/* Overrides stand at the end: the newest that gives the property wins, and over all rules. */
TEST(test_override_win)
{
	struct policy *policy = make_policy();
	const uint64_t oldest = 1ULL << 63, newest = 1ULL << 62, rules = 0xf;

	policy->rules[63].properties.cap = capacity_300;
	policy->rules[62].properties.cap = capacity_300;
	policy->rules[62].domain_cpu = 4;
	assert_int_equal(rule_that_gives(policy, oldest | rules, RULE_CAP, &big), 1);
	policy->n_overrides = 2;
	assert_int_equal(rule_that_gives(policy, oldest | rules, RULE_CAP, &big), 63);
	assert_int_equal(rule_that_gives(policy, oldest | newest | rules, RULE_CAP, &big), 62);
	assert_int_equal(rule_that_gives(policy, oldest | newest | rules, RULE_CAP, &little), 63);
	assert_int_equal(rule_that_gives(policy, UINT64_MAX, RULE_FLOOR, &big), 0);
	assert_true(rule_is_override(policy, 62) && rule_exists(policy, 3));
	assert_false(rule_is_override(policy, 3) || rule_exists(policy, 4) ||
		     rule_exists(policy, 61) || rule_exists(policy, 64) || rule_exists(policy, -1));
	policy->n_rules = 0;
	policy->n_overrides = POLICY_RULES_MAX;
	assert_true(rule_all(policy) == UINT64_MAX && rule_overrides(policy) == UINT64_MAX);
}

TEST(test_levels)
{
	static const struct {
		struct policy_level level;
		uint32_t big, little;
	} cases[] = {
		{ { POLICY_LEVEL_CAPACITY, 0 }, 0, 0 },
		{ { POLICY_LEVEL_CAPACITY, 1024 }, 1024, 1024 },
		{ { POLICY_LEVEL_PERCENT, 30 }, 307, 307 }, /* as uclamp has it */
		{ { POLICY_LEVEL_PERCENT, 45 }, 461, 461 },
		{ { POLICY_LEVEL_PERCENT, 3 }, 31, 31 },
		{ { POLICY_LEVEL_PERCENT, 1 }, 10, 10 },
		{ { POLICY_LEVEL_PERCENT, 100 }, 1024, 1024 },
		{ { POLICY_LEVEL_KHZ, 900000 }, 512, 329 },
		{ { POLICY_LEVEL_KHZ, 1400000 }, 796, 512 },
		{ { POLICY_LEVEL_KHZ, 5000000 }, 1024, 512 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(rule_level_cap(&cases[i].level, &big), cases[i].big);
		assert_int_equal(rule_level_cap(&cases[i].level, &little), cases[i].little);
	}
}

/* Where nothing is asked for, the daemon need not look. */
TEST(test_any_gives)
{
	static const struct {
		enum rule_property property;
		struct policy_level level;
		bool gives;
	} cases[] = {
		{ RULE_PLACEMENT, { POLICY_LEVEL_PLACEMENT, POLICY_PLACEMENT_FORK_SPREAD }, true },
		{ RULE_PLACEMENT, { POLICY_LEVEL_PLACEMENT, POLICY_PLACEMENT_NONE }, false },
		{ RULE_IDLE_LATENCY, { POLICY_LEVEL_IDLE_LATENCY, 0 }, true },
		{ RULE_IDLE_LATENCY,
		  { POLICY_LEVEL_IDLE_LATENCY, POLICY_IDLE_LATENCY_NONE },
		  false },
		{ RULE_IO_BOOST, { POLICY_LEVEL_PERCENT, 1 }, true },
		{ RULE_IO_BOOST, { POLICY_LEVEL_CAPACITY, 0 }, false },
		{ RULE_IO_BOOST, { POLICY_LEVEL_NONE, 0 }, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct policy policy;

		policy_init(&policy);
		policy.n_rules = 1;
		*(struct policy_level *)rule_level(&policy.rules[0].properties,
						   cases[i].property) = cases[i].level;
		assert_int_equal(rule_any_gives(&policy, cases[i].property), cases[i].gives);
	}
}
