// SPDX-License-Identifier: GPL-2.0-only
/* What an engine can work with is valid, at its extremes too, and nothing else. */
#include "test-core.h"

#include <stdio.h>

#include "config/keys.h"
#include "record/record.h"

static void *base_of(struct policy *policy, const struct policy_key *key, int domain_section)
{
	if (!key->domain_bit)
		return policy;
	if (domain_section < 0)
		return &policy->domain;
	policy->domain_sections[domain_section].given |= key->domain_bit;
	return &policy->domain_sections[domain_section].values;
}

/* Every key of the table at text, in all sections at once. */
static void check_keys(const char *(*text_of)(const struct policy_key *key), int n_domain_sections)
{
	const struct policy_key *keys;
	struct policy_value value;
	struct policy policy;
	size_t n;

	policy_init(&policy);
	policy.n_domain_sections = n_domain_sections;
	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++) {
		if (!text_of(&keys[i]))
			continue;
		assert_int_equal(policy_value_parse(&keys[i], text_of(&keys[i]), &value), 0);
		for (int o = -1; o < (keys[i].domain_bit ? n_domain_sections : 0); o++)
			policy_key_store(&keys[i], base_of(&policy, &keys[i], o), &value);
		assert_true(record_policy_is_valid(&policy));
	}
}

static const char *least(const struct policy_key *key)
{
	return key->units ? key->least : key->words[0];
}

static const char *most(const struct policy_key *key)
{
	return key->units ? key->most : key->words[1];
}

static const char *word(const struct policy_key *key)
{
	return key->words[0];
}

static const char *share(const struct policy_key *key)
{
	return policy_key_takes_share(key) ? "100%" : NULL;
}

TEST(test_policy)
{
	check_keys(least, 0);
	check_keys(most, POLICY_DOMAIN_SECTIONS_MAX);
	check_keys(word, 3);
	check_keys(share, 1);
}

#define EXPECT_POLICY(_valid, ...)                                                \
	do {                                                                      \
		struct policy p;                                                  \
                                                                                  \
		policy_init(&p);                                                  \
		p.n_rules = POLICY_RULES_MAX / 2;                                 \
		p.n_overrides = POLICY_RULES_MAX / 2;                             \
		p.n_domain_sections = 1;                                          \
		p.domain_sections[0].given = POLICY_DOMAIN_BIT(headroom_percent); \
		p.domain_sections[0].values.headroom_percent = 110;               \
		__VA_ARGS__;                                                      \
		assert_int_equal(record_policy_is_valid(&p), _valid);             \
	} while (0)

/* What no file could say is refused: the engine divides by some of it, and counts with some. */
TEST(test_bad_policy)
{
	EXPECT_POLICY(true);
	EXPECT_POLICY(false, p.domain.headroom_percent = 0);
	EXPECT_POLICY(false, p.domain_sections[0].values.headroom_percent = 0);
	EXPECT_POLICY(true, p.domain_sections[0].values.headroom_percent = 0,
		      p.domain_sections[0].given = 0);
	EXPECT_POLICY(false, memset(p.domain_sections[0].name, 'a', DOMAIN_NAME_SIZE));
	EXPECT_POLICY(false, p.n_domain_sections = POLICY_DOMAIN_SECTIONS_MAX + 1);
	EXPECT_POLICY(false, p.max_tasks = 0);
	EXPECT_POLICY(false, p.max_tasks = UINT32_MAX);
	EXPECT_POLICY(false, p.backend = POLICY_BACKEND_OBSERVE + 1);
	EXPECT_POLICY(false, memset(&p.chains, 2, 1));
	EXPECT_POLICY(false,
		      p.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_PERCENT, 101 });
	EXPECT_POLICY(false, p.domain.min = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 0 });
	EXPECT_POLICY(false, p.domain.min = (struct policy_frequency){ 7, 0 });
	EXPECT_POLICY(false, p.n_rules++);
	EXPECT_POLICY(false, p.n_overrides = UINT32_MAX);
	EXPECT_POLICY(false, p.n_domain_overrides = POLICY_OVERRIDES_MAX + 1);
	EXPECT_POLICY(false, memset(p.rules[3].name, 'a', POLICY_NAME_SIZE));
	EXPECT_POLICY(false, memset(p.rules[POLICY_RULES_MAX - 1].file, 'a', POLICY_FILE_SIZE));
	EXPECT_POLICY(true, p.rules[3].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT,
									       100 });
	EXPECT_POLICY(false, p.rules[3].properties.cap =
				     (struct policy_level){ POLICY_LEVEL_PERCENT, 101 });
	EXPECT_POLICY(false, p.rules[3].properties.floor = (struct policy_level){ 77, 0 });
}

#define EXPECT_TOPOLOGY(_valid, ...)                                   \
	do {                                                           \
		struct topology *t = test_topology_usual(2, 1);        \
		struct topology_domain *d = &t->domains[1];            \
                                                                       \
		memset(d->name, 'd', DOMAIN_NAME_SIZE - 1);            \
		d->n_opps = DOMAIN_OPPS_MAX;                           \
		for (uint32_t i = 0; i < DOMAIN_OPPS_MAX; i++)         \
			d->opp_khz[i] = i + 1;                         \
		__VA_ARGS__;                                           \
		assert_int_equal(record_topology_is_valid(t), _valid); \
		free(t);                                               \
	} while (0)

TEST(test_topology)
{
	EXPECT_TOPOLOGY(true);
	EXPECT_TOPOLOGY(true, t->cpu_domain[0] = TOPOLOGY_NO_DOMAIN);
	EXPECT_TOPOLOGY(false, t->cpu_domain[1] = 2);
	EXPECT_TOPOLOGY(false, t->n_cpus = 0);
	EXPECT_TOPOLOGY(false, t->n_cpus = TOPOLOGY_CPUS_MAX + 1);
	EXPECT_TOPOLOGY(false, d->name[DOMAIN_NAME_SIZE - 1] = 'd');
	EXPECT_TOPOLOGY(false, d->first_cpu = 2);
	EXPECT_TOPOLOGY(false, d->n_opps = 0);
	EXPECT_TOPOLOGY(false, d->n_opps = DOMAIN_OPPS_MAX + 1);
	EXPECT_TOPOLOGY(false, d->capacity = 0);
	EXPECT_TOPOLOGY(false, d->capacity = TOPOLOGY_CAPACITY_MAX + 1);
	EXPECT_TOPOLOGY(false, d->opp_khz[0] = 0);
	EXPECT_TOPOLOGY(false, d->opp_khz[1] = 1);
}

#define EXPECT_INPUT(_valid, ...)                                                  \
	do {                                                                       \
		const struct input input = { __VA_ARGS__ };                        \
                                                                                   \
		assert_int_equal(record_input_is_valid(&input, topology), _valid); \
	} while (0)

/* A domain that the machine has, a task that can be, and what the engine uses as an index. */
TEST(test_inputs)
{
	struct topology *topology = test_topology_usual(2, 1);
	struct input any;

	for (uint32_t type = 0; type <= INPUT_LAST; type++) {
		assert_in_range(record_input_size(type), 4, sizeof(struct input) - RECORD_INPUT_AT);
		any = (struct input){ .type = type };
		any.ended_pid = 1;
		assert_true(record_input_is_valid(&any, topology));
	}
	assert_int_equal(record_input_size(INPUT_LAST + 1), 0);

	EXPECT_INPUT(false, .type = INPUT_LIMITS, .limits.domain = 2);
	EXPECT_INPUT(false, .type = INPUT_DOMAIN, .domain.domain = 2);
	EXPECT_INPUT(false, .type = INPUT_REFERENCE, .reference.domain = 2);
	EXPECT_INPUT(false, .type = INPUT_OPP, .opp.domain = 2);
	EXPECT_INPUT(false, .type = INPUT_TASK);
	EXPECT_INPUT(false, .type = INPUT_TASK_RULES);
	EXPECT_INPUT(false, .type = INPUT_CO_RUNNER);
	EXPECT_INPUT(false, .type = INPUT_OWN_CLAMPS);
	EXPECT_INPUT(false, .type = INPUT_WAITED);
	EXPECT_INPUT(true, .type = INPUT_TASK, .task = { .pid = 1, .n_ios = TASK_IOS_MAX });
	EXPECT_INPUT(false, .type = INPUT_TASK, .task = { .pid = 1, .n_ios = TASK_IOS_MAX + 1 });
	EXPECT_INPUT(false, .type = INPUT_TASK, .task = { .pid = 1, .comm = "0123456789abcdef" });
	EXPECT_INPUT(false, .type = INPUT_TASK,
		     .task = { .pid = 1, .ios[3].device = INPUT_DEVICES_MAX });
	EXPECT_INPUT(false, .type = INPUT_DEVICE, .device.device = INPUT_DEVICES_MAX);
	EXPECT_INPUT(false, .type = INPUT_DEVICE_END, .ended_device = INPUT_DEVICES_MAX);
	any = (struct input){ .type = INPUT_CPU };
	memset(&any.cpu.running, 2, 1);
	assert_false(record_input_is_valid(&any, topology));
	free(topology);
}

TEST(test_decision)
{
	struct topology *topology = test_topology_usual(2, 1);
	struct decision good = { .domain = 1, .reason = REASON_LAST }, bad = good;

	assert_true(record_decision_is_valid(&good, topology));
	bad.domain = 2;
	assert_false(record_decision_is_valid(&bad, topology));
	bad = good;
	bad.reason++;
	assert_false(record_decision_is_valid(&bad, topology));
	bad = good;
	bad.limiter = LIMITER_LAST + 1;
	assert_false(record_decision_is_valid(&bad, topology));
	bad = good;
	memset(bad.comm, 'a', sizeof(bad.comm));
	assert_false(record_decision_is_valid(&bad, topology));
	free(topology);
}
