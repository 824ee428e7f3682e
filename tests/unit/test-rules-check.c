// SPDX-License-Identifier: GPL-2.0-only
/* What is odd about rules is said, each thing once, and nothing of rules that are fine. */
#include "test-core.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "config/keys.h"
#include "rules/rules.h"

static struct policy policy;
static struct topology *topology;
static char said[8][512];
static int n_said;

/* As "NAME: …": each is of the line of its rule. */
static void hear(void *userdata, const char *line)
{
	unsigned int number;
	char name[32];
	int n = 0;

	assert_int_equal(sscanf(line, "x.conf:%u: [rule %31[^]]] %n", &number, name, &n), 2);
	assert_string_equal(policy.rules[number - 1].name, name);
	assert_true(n_said < 8);
	snprintf(said[n_said++], sizeof(said[0]), "%s: %s", name, line + n);
}

static struct policy_rule *add_rule(const char *name)
{
	struct policy_rule *rule = &policy.rules[policy.n_rules++];

	*rule = (struct policy_rule){ .domain_cpu = POLICY_ANY_DOMAIN, .line = policy.n_rules };
	strcpy(rule->name, name);
	strcpy(rule->file, "x.conf");
	rule->properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 100 };
	rule->match.given = POLICY_MATCH_COMM;
	strcpy(rule->match.comm, "fio");
	return rule;
}

static void check(bool on_machine)
{
	n_said = 0;
	rules_check(&policy, on_machine ? topology : NULL, hear, NULL);
}

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

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

FIXTURE_TEST(test_good)
{
	add_rule("a");
	add_rule("b")->domain_cpu = topology->domains[1].first_cpu;
	check(true);
	assert_int_equal(n_said, 0);
	check(false);
	assert_int_equal(n_said, 0);
}

static void expect(bool on_machine, const char *start)
{
	check(on_machine);
	if (n_said != 1)
		fail_msg("%d instead of 1: %s", n_said, said[0]);
	assert_int_equal(strncmp(said[0], start, strlen(start)), 0);
}

FIXTURE_TEST(test_can_never_match)
{
	strcpy(add_rule("a")->match.comm, "sixteen-letters-");
	expect(false, "a: comm = sixteen-letters- can never match");
	strcpy(policy.rules[0].match.comm, "steam sixteen-letters- b");
	expect(false, "a: comm = sixteen-letters- can never match");
	/* By the shortest name that a pattern fits, of which 15 bytes are kept. */
	strcpy(policy.rules[0].match.comm, "victoria-metrics-prod*");
	expect(false,
	       "a: comm = victoria-metrics-prod* can never match: the kernel keeps 15 bytes of a "
	       "name; write victoria-metric*");
	strcpy(policy.rules[0].match.comm, "a?[bc]d\\*fghijklmn[]o]*p");
	expect(false,
	       "a: comm = a?[bc]d\\*fghijklmn[]o]*p can never match: the kernel keeps 15 bytes of a "
	       "name; write a shorter one");
	strcpy(policy.rules[0].match.comm,
	       "fifteen-letters* a?[bc]d\\*fghijklmn[]o]* *[abcdefghijklmnop]");
	check(false);
	assert_int_equal(n_said, 0);
	assert_int_equal(rules_check(&policy, NULL, hear, NULL), 0);
	strcpy(policy.rules[0].match.comm, "sixteen-letters- sixteen-letters+*");
	assert_int_equal(rules_check(&policy, NULL, hear, NULL), 2);
	policy.n_rules = 0;
	add_rule("a")->match = (struct policy_match){ .given = POLICY_MATCH_EXE |
							       POLICY_MATCH_KERNEL_THREAD,
						      .exe = "*",
						      .kernel_thread = true };
	expect(false, "a: it can never match: kernel threads");
	policy.n_rules = 0;
	add_rule("a")->match = (struct policy_match){ .given = POLICY_MATCH_USER,
						      .user = "nosuchuser" };
	expect(true, "a: user = nosuchuser does not exist here");
	policy.n_rules = 0;
	add_rule("a")->domain_cpu = 77;
	expect(true, "a: domain = policy77 has no effect");
}

FIXTURE_TEST(test_never_reached)
{
	struct policy_rule *all = add_rule("all");

	all->match.given = 0;
	add_rule("b");
	expect(false, "b: it is never reached: [rule all] at x.conf:1");
	/* It gives something more, or is for all domains and the other is not. */
	policy.rules[1].properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, 1 };
	check(false);
	assert_int_equal(n_said, 0);
	policy.rules[1].properties.floor.kind = POLICY_LEVEL_NONE;
	all->domain_cpu = topology->domains[1].first_cpu;
	check(false);
	assert_int_equal(n_said, 0);
}

FIXTURE_TEST(test_levels)
{
	struct policy_rule *rule = add_rule("a");

	rule->properties.cap = (struct policy_level){ POLICY_LEVEL_KHZ, 1000 };
	expect(true, "a: cap is below the lowest frequency of a, 800 MHz");
	rule->properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 80 };
	rule->properties.floor = (struct policy_level){ POLICY_LEVEL_CAPACITY, 900 };
	expect(true, "a: floor is above cap in a: the cap wins");
	rule->properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, 81 };
	expect(false, "a: floor is above cap: the cap wins");
}

FIXTURE_TEST(test_empty)
{
	struct policy_rule *rule = add_rule("a");

	rule->properties.cap.kind = POLICY_LEVEL_NONE;
	expect(false, "a: it has no effect");
	rule->is_filled = true;
	check(false);
	assert_int_equal(n_said, 0);
}

FIXTURE_TEST(test_unit_that_is_not_there)
{
	add_rule("a")->match = (struct policy_match){ .given = POLICY_MATCH_UNIT,
						      .unit = "no-such-unit.service" };
	expect(true, "a: unit = no-such-unit.service has no cgroup now");
	strcpy(policy.rules[0].match.unit, "no-such-unit.service no-such-other.service");
	check(true);
	assert_int_equal(n_said, 2);
	/* What a pattern stands for may be there. */
	strcpy(policy.rules[0].match.unit, "no-such-unit.service no-such-*.service");
	check(true);
	assert_int_equal(n_said, 0);
	policy.n_rules = 0;
	add_rule("a")->match = (struct policy_match){ .given = POLICY_MATCH_CGROUP,
						      .cgroup = "/no-such /" };
	check(true);
	assert_int_equal(n_said, 0);
}

/* As in a container of podman's with the host's numbers of tasks: paths are others there. */
FIXTURE_TEST(test_cgroup_namespace)
{
	int before = open("/proc/self/ns/cgroup", O_RDONLY | O_CLOEXEC);

	add_rule("a")->match = (struct policy_match){ .given = POLICY_MATCH_UNIT,
						      .unit = "no-such-unit.service" };
	assert_int_equal(unshare(CLONE_NEWCGROUP), 0);
	expect(true, "a: it cannot match here: this is a cgroup namespace");
	assert_int_equal(rules_check(&policy, topology, hear, NULL), 1);
	assert_int_equal(setns(before, CLONE_NEWCGROUP), 0);
	close(before);
	expect(true, "a: unit = no-such-unit.service has no cgroup now");
}

FIXTURE_TEST(test_crossed_after_merging)
{
	struct policy_rule *floor = add_rule("floor"), *cap;
	uint32_t of_cap = 77;

	floor->properties.cap.kind = POLICY_LEVEL_NONE;
	floor->properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, 60 };
	cap = add_rule("cap");
	cap->properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 50 };
	assert_int_equal(rules_find_crossed(&policy, topology, 1, &of_cap), -1);
	assert_int_equal(rules_find_crossed(&policy, topology, 3, &of_cap), 0);
	assert_int_equal(of_cap, 1);
	cap->properties.cap.value = 60;
	assert_int_equal(rules_find_crossed(&policy, topology, 3, &of_cap), -1);
}
