// SPDX-License-Identifier: GPL-2.0-only
/* Overrides of tasks and rules, as rules of a policy. */
#include "test-core.h"

#include <stdio.h>

#include "daemon/task_override_table.h"

static struct policy policy;

static void make_policy(uint32_t n_rules)
{
	policy_init(&policy);
	policy.n_rules = n_rules;
	for (uint32_t i = 0; i < n_rules; i++)
		snprintf(policy.rules[i].name, sizeof(policy.rules[i].name), "r%u", i);
	policy.rules[1].domain_cpu = 4;
}

static struct lease make(uint32_t id, uint32_t pid, const char *rule)
{
	struct lease lease = {
		.target = { .id = id, .pid = pid },
		.properties.cap = { POLICY_LEVEL_PERCENT, 30 },
		.end_ns = id * NS_PER_S,
	};

	snprintf(lease.target.rule, sizeof(lease.target.rule), "%s", rule);
	return lease;
}

static void add(struct leases *leases, uint32_t id, uint32_t pid, const char *rule)
{
	struct lease lease = make(id, pid, rule);

	assert_true(leases_add(leases, &lease));
}

/* The oldest last, and that of a rule only where its rule holds. */
static void test_fill(void **state)
{
	struct leases leases = { 0 };

	make_policy(2);
	add(&leases, 3, 812, "");
	add(&leases, 4, 0, "r1");
	leases_fill(&leases, &policy);
	assert_int_equal(policy.n_rules, 2);
	assert_int_equal(policy.n_leases, 2);
	assert_string_equal(policy.rules[63].name, "override-3");
	assert_int_equal(policy.rules[63].domain_cpu, POLICY_ANY_DOMAIN);
	assert_int_equal(policy.rules[63].properties.cap.value, 30);
	assert_string_equal(policy.rules[62].name, "override-4");
	assert_int_equal(policy.rules[62].domain_cpu, 4);
	leases_remove(&leases, leases_find(&leases, 3));
	leases_fill(&leases, &policy);
	assert_int_equal(policy.n_leases, 1);
	assert_string_equal(policy.rules[63].name, "override-4");
	assert_null(leases_find(&leases, 3));
}

static void test_end(void **state)
{
	struct leases leases = { 0 };

	make_policy(2);
	assert_true(leases_next_ns(&leases) == UINT64_MAX);
	add(&leases, 5, 0, "r1");
	add(&leases, 6, 812, "");
	assert_true(leases_next_ns(&leases) == 5 * NS_PER_S);
	leases_check(&leases, &policy);
	assert_true(leases_next_ns(&leases) == 5 * NS_PER_S);
	make_policy(1);
	leases_check(&leases, &policy);
	assert_int_equal(leases.entries[0].ended, LEASE_RULE_GONE);
	assert_int_equal(leases.entries[1].ended, LEASE_HOLDS);
	assert_true(leases_next_ns(&leases) == 0);
	leases_fill(&leases, &policy);
	assert_int_equal(policy.n_leases, 1);
}

/* Rules of files come first where there is no room for both; the newest overrides go. */
static void test_full(void **state)
{
	struct leases leases = { 0 };
	struct lease one = make(99, 1, "");

	for (uint32_t i = 0; i < LEASES_MAX; i++)
		add(&leases, i + 1, 812, "");
	assert_false(leases_add(&leases, &one));
	make_policy(POLICY_RULES_MAX - 2);
	assert_int_equal(leases_room(&policy), 2);
	leases_check(&leases, &policy);
	assert_int_equal(leases.entries[1].ended, LEASE_HOLDS);
	assert_int_equal(leases.entries[2].ended, LEASE_NO_ROOM);
	leases_fill(&leases, &policy);
	assert_int_equal(policy.n_leases, 2);
	make_policy(0);
	assert_int_equal(leases_room(&policy), LEASES_MAX);
}

/* A number that another task has since, or none; the lease of the task that is there stays. */
static void test_end_task(void **state)
{
	struct leases leases = { 0 };
	struct lease other = make(2, 900, "");

	add(&leases, 1, 812, "");
	leases.entries[0].target.start_ns = 7;
	assert_true(leases_add(&leases, &other));
	leases_end_task(&leases, 812, 7);
	assert_int_equal(leases.entries[0].ended, LEASE_HOLDS);
	leases_end_task(&leases, 812, 8);
	assert_int_equal(leases.entries[0].ended, LEASE_TASK_GONE);
	assert_int_equal(leases.entries[1].ended, LEASE_HOLDS);
	assert_true(leases_next_ns(&leases) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_end_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
