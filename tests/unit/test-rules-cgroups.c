// SPDX-License-Identifier: GPL-2.0-only
/* Which rules can be given to cgroups as a whole, and which cgroup of a task they mean. */
#include "test-core.h"

#include "config/keys.h"
#include "rules/rules.h"

static struct policy policy;
static struct topology *topology;

static int set_up(void **state)
{
	policy_init(&policy);
	topology = test_topology_usual(2, 2);
	return 0;
}

static int tear_down(void **state)
{
	free(topology);
	return 0;
}

/* Caps and floors in per cent; 0: not given. */
static struct policy_rule *add_rule(enum policy_match_key key, uint32_t cap, uint32_t floor)
{
	struct policy_rule *rule = &policy.rules[policy.n_rules++];

	*rule = (struct policy_rule){ .domain_cpu = POLICY_ANY_DOMAIN, .match.given = key };
	if (cap)
		rule->properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, cap };
	if (floor)
		rule->properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, floor };
	return rule;
}

static void test_form(void **state)
{
	struct grouped found;

	add_rule(POLICY_MATCH_CGROUP, 30, 0);
	add_rule(POLICY_MATCH_UNIT, 0, 20);
	add_rule(POLICY_MATCH_UNIT, 50, 20);
	add_rule(POLICY_MATCH_UNIT | POLICY_MATCH_COMM, 30, 0);
	add_rule(POLICY_MATCH_COMM, 30, 0);
	add_rule(0, 30, 0);
	add_rule(POLICY_MATCH_CGROUP, 30, 0)->domain_cpu = 0;
	add_rule(POLICY_MATCH_CGROUP, 100, 0); /* no cap at all */
	found = grouped_find(&policy, topology);
	assert_int_equal(found.caps, 1 << 0 | 1 << 2);
	assert_int_equal(found.floors, 1 << 1 | 1 << 2);
}

static struct grouped wrong_for(uint64_t matched)
{
	struct grouped found = grouped_find(&policy, topology);

	return grouped_find_wrong(&found, &policy, topology, matched);
}

static void test_more_freedom_is_wrong(void **state)
{
	add_rule(POLICY_MATCH_COMM, 60, 5);
	add_rule(POLICY_MATCH_COMM, 20, 30);
	add_rule(POLICY_MATCH_UNIT, 40, 10);
	assert_int_equal(wrong_for(1 << 2).caps, 0);
	assert_int_equal(wrong_for(1 << 2).floors, 0);
	assert_int_equal(wrong_for(1 << 0 | 1 << 2).caps, 1 << 2);
	assert_int_equal(wrong_for(1 << 0 | 1 << 2).floors, 1 << 2);
	assert_int_equal(wrong_for(1 << 1 | 1 << 2).caps, 0);
	assert_int_equal(wrong_for(1 << 1 | 1 << 2).floors, 0);
	/* Rules that the task does not match say nothing of it. */
	assert_int_equal(wrong_for(1 << 0).caps, 0);
}

/* A group's floor is above a task's cap in the kernel; in the policy the cap wins. */
static void test_cap_wins_over_floor_of_group(void **state)
{
	add_rule(POLICY_MATCH_COMM, 20, 0);
	add_rule(POLICY_MATCH_UNIT, 0, 40);
	assert_int_equal(wrong_for(1 << 0 | 1 << 1).floors, 1 << 1);
	assert_int_equal(wrong_for(1 << 1).floors, 0);
}

static void test_nested_groups(void **state)
{
	add_rule(POLICY_MATCH_CGROUP, 50, 0); /* the outer one, first */
	add_rule(POLICY_MATCH_CGROUP, 30, 0);
	add_rule(POLICY_MATCH_CGROUP, 70, 0);
	assert_int_equal(wrong_for(1 << 0 | 1 << 1).caps, 1 << 1);
	assert_int_equal(wrong_for(1 << 0 | 1 << 2).caps, 0);
	assert_int_equal(wrong_for(1 << 1 | 1 << 2).caps, 0);
}

static void test_none_of_an_earlier_rule(void **state)
{
	add_rule(POLICY_MATCH_COMM, 100, 0);
	add_rule(POLICY_MATCH_UNIT, 30, 0);
	assert_int_equal(wrong_for(1 << 0 | 1 << 1).caps, 1 << 1);
}

static void test_length(void **state)
{
	static const struct {
		enum policy_match_key key;
		const char *pattern, *path, *group;
	} cases[] = {
		{ POLICY_MATCH_CGROUP, "/a/b", "/a/b/c", "/a/b" },
		{ POLICY_MATCH_CGROUP, "/a/b", "/a/b", "/a/b" },
		{ POLICY_MATCH_CGROUP, "/a/b", "/a/bc", "" },
		{ POLICY_MATCH_CGROUP, "/a/*", "/a/b/c", "/a/b" },
		{ POLICY_MATCH_CGROUP, "/a/*", "/a", "" },
		{ POLICY_MATCH_CGROUP, "/", "/a", "/" },
		{ POLICY_MATCH_UNIT, "w*.service", "/s.slice/web.service/x",
		  "/s.slice/web.service" },
		{ POLICY_MATCH_UNIT, "*.slice", "/user.slice/user-1.slice", "/user.slice" },
		{ POLICY_MATCH_UNIT, "x", "/user.slice/user-1.slice", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct policy_match match = { .given = cases[i].key };

		strcpy(match.cgroup, cases[i].pattern);
		strcpy(match.unit, cases[i].pattern);
		assert_int_equal(grouped_length(&match, cases[i].path), strlen(cases[i].group));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_form),
		TEST(test_more_freedom_is_wrong),
		TEST(test_cap_wins_over_floor_of_group),
		TEST(test_nested_groups),
		TEST(test_none_of_an_earlier_rule),
		TEST(test_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
