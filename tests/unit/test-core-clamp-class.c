// SPDX-License-Identifier: GPL-2.0-only
/* Clamp sets: which tasks are one set, and what it means in a domain. */
#include "test-core.h"

#include "config/keys.h"
#include "core/clamp_class.h"
#include "wakegov/abi.h"

#define CAP_30	 0x1 /* bits of the rules below */
#define FLOOR_50 0x2
#define NO_CAP	 0x4
#define HINT	 0x8 /* gives neither a cap nor a floor */

static struct clamp_classes classes;
static struct policy policy;
static struct topology *topology;

static int set_up(void **state)
{
	policy_init(&policy);
	policy.n_rules = 4;
	for (uint32_t i = 0; i < policy.n_rules; i++)
		policy.rules[i].domain_cpu = POLICY_ANY_DOMAIN;
	policy.rules[0].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 30 };
	policy.rules[1].properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, 50 };
	policy.rules[2].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 100 };
	classes = (struct clamp_classes){ 0 };
	clamp_classes_reset(&classes, &policy);
	topology = test_topology_usual(1, 1);
	return 0;
}

static int tear_down(void **state)
{
	free(topology);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

FIXTURE_TEST(test_same_rules_same_set)
{
	assert_int_equal(clamp_classes_find_or_add(&classes, 0, 0), 0);
	assert_int_equal(clamp_classes_find_or_add(&classes, HINT, 0), 0);
	assert_int_equal(clamp_classes_find_or_add(&classes, CAP_30, 0), 1);
	assert_int_equal(clamp_classes_find_or_add(&classes, CAP_30 | HINT, 0), 1);
	assert_int_equal(clamp_classes_find_or_add(&classes, CAP_30 | FLOOR_50, 0), 2);
	assert_int_equal(classes.n, 3);
	clamp_classes_reset(&classes, &policy);
	assert_int_equal(classes.n, 1);
	assert_int_equal(classes.epoch, 2);
}

FIXTURE_TEST(test_one_too_many)
{
	policy.n_rules = 7;
	for (uint32_t i = 0; i < policy.n_rules; i++)
		policy.rules[i].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 30 };
	clamp_classes_reset(&classes, &policy);
	for (uint64_t matched = 0; matched < CLAMP_CLASSES_MAX; matched++)
		assert_int_equal(clamp_classes_find_or_add(&classes, matched, 0), matched);
	assert_int_equal(clamp_classes_find_or_add(&classes, CLAMP_CLASSES_MAX, 0), 0);
	assert_int_equal(classes.refused, 1);
	/* Those that are known are still found. */
	assert_int_equal(clamp_classes_find_or_add(&classes, CLAMP_CLASSES_MAX - 1, 0),
			 CLAMP_CLASSES_MAX - 1);
	assert_int_equal(classes.refused, 1);
}

/* What a task asks for itself narrows what its rules give, rounded up. */
FIXTURE_TEST(test_meaning)
{
	static const struct {
		uint64_t matched;
		uint32_t own_min, own_max;
		uint32_t cap, floor;
		int32_t cap_rule, floor_rule;
	} rows[] = {
		{ 0, 0, 1024, CLAMP_CAP_NONE, 0, -1, -1 },
		{ CAP_30, 0, 1024, 307, 0, 0, -1 },
		{ FLOOR_50, 0, 1024, CLAMP_CAP_NONE, 512, -1, 1 },
		{ CAP_30 | FLOOR_50, 0, 1024, 307, 307, 0, 1 }, /* the cap wins */
		{ NO_CAP, 0, 1024, CLAMP_CAP_NONE, 0, 2, -1 },
		{ CAP_30 | NO_CAP, 0, 1024, 307, 0, 0, -1 }, /* the first rule wins */
		{ 0, 0, 200, 256, 0, -1, -1 },
		{ 0, 300, 1024, CLAMP_CAP_NONE, 320, -1, -1 },
		{ CAP_30, 0, 512, 307, 0, 0, -1 },
		{ CAP_30, 0, 256, 256, 0, -1, -1 },
		{ FLOOR_50, 256, 1024, CLAMP_CAP_NONE, 512, -1, 1 },
		{ FLOOR_50, 640, 1024, CLAMP_CAP_NONE, 640, -1, -1 },
		{ FLOOR_50, 0, 256, 256, 256, -1, 1 }, /* the cap wins */
		{ CAP_30, 1024, 1024, 307, 307, 0, -1 },
		{ NO_CAP, 0, 512, 512, 0, -1, -1 },
	};
	struct class_clamp clamp;
	uint32_t own, class;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		own = wakegov_own(rows[i].own_min, rows[i].own_max);
		class = clamp_classes_find_or_add(&classes, rows[i].matched, own);
		clamp_classes_in(&classes, &policy, class, &topology->domains[0], &clamp);
		assert_int_equal(clamp.cap, rows[i].cap);
		assert_int_equal(clamp.floor, rows[i].floor);
		assert_int_equal(clamp.cap_rule, rows[i].cap_rule);
		assert_int_equal(clamp.floor_rule, rows[i].floor_rule);
	}
	policy.caps.application_clamps = false;
	clamp_classes_reset(&classes, &policy);
	assert_int_equal(clamp_classes_find_or_add(&classes, 0, wakegov_own(0, 512)), 0);
}

/* How long bursts may take, instead of a floor: what they need, as far as it is known. */
FIXTURE_TEST(test_response)
{
	static const struct {
		uint64_t matched, burst_ns;
		uint32_t response_us, floor;
	} rows[] = {
		{ FLOOR_50, 0, 1000, 0 },		  /* none has ended yet */
		{ FLOOR_50, 480000, 1000, 523 },	  /* 480 us and a 16th more, of 1000 */
		{ FLOOR_50, 480000, 1000000, 1 },	  /* rounded up */
		{ FLOOR_50, 2000000, 1000, 1024 },	  /* no frequency is high enough */
		{ CAP_30 | FLOOR_50, 480000, 1000, 307 }, /* the cap wins */
		{ CAP_30, 480000, 1000, 0 },		  /* not of a rule that says so */
		{ FLOOR_50, UINT64_MAX, 0, 1024 },	  /* from a recording that nobody made */
		{ FLOOR_50, UINT64_MAX, UINT32_MAX, 239 },
	};
	struct class_clamp clamp;
	uint32_t class;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		policy.rules[1].properties.floor = (struct policy_level){ POLICY_LEVEL_RESPONSE,
									  rows[i].response_us };
		clamp_classes_reset(&classes, &policy);
		class = clamp_classes_find_or_add(&classes, rows[i].matched, 0);
		classes.burst_ns[class] = rows[i].burst_ns;
		clamp_classes_in(&classes, &policy, class, &topology->domains[0], &clamp);
		assert_int_equal(clamp.floor, rows[i].floor);
		assert_int_equal(clamp.response_us,
				 rows[i].matched & FLOOR_50 ? rows[i].response_us : 0);
	}
	/* Other rules, other classes: what was learnt is of none of them. */
	clamp_classes_reset(&classes, &policy);
	assert_int_equal(classes.burst_ns[1], 0);
}

/* Whoever asks for anything and everything leaves the rules their room. */
FIXTURE_TEST(test_own_too_many)
{
	uint32_t ruled;

	for (uint32_t own = 1; own < 1024; own++)
		for (uint32_t max = own; max < 1024; max += 64)
			clamp_classes_find_or_add(&classes, 0, wakegov_own(own, max));
	assert_int_equal(classes.n, CLAMP_CLASSES_OWN_MAX + 1);
	assert_true(classes.refused > 0);
	ruled = clamp_classes_find_or_add(&classes, CAP_30, 0);
	assert_int_equal(ruled, CLAMP_CLASSES_OWN_MAX + 1);
	assert_int_equal(clamp_classes_find_or_add(&classes, CAP_30, wakegov_own(0, 512)), ruled);
}
