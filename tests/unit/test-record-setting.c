// SPDX-License-Identifier: GPL-2.0-only
/* Topologies and policies come back as they were, and only such as an engine can work with. */
#include "test-core.h"

#include <errno.h>
#include <stdio.h>

#include "config/keys.h"
#include "record/body.h"
#include "record/format.h"

static uint8_t bytes[RECORD_BODY_MAX];

static struct record_in reread(const struct record_out *out)
{
	assert_false(out->full);
	return (struct record_in){ out->data, out->data + out->n, false };
}

static struct record_out new_out(void)
{
	return (struct record_out){ .data = bytes, .size = sizeof(bytes) };
}

static int check_policy(const struct policy *policy)
{
	struct record_out out = new_out();
	struct record_in in;
	struct policy again;
	int r;

	record_policy_put(&out, policy);
	in = reread(&out);
	r = record_policy_get(&in, &again);
	if (r == 0)
		assert_memory_equal(&again, policy, sizeof(again));
	return r;
}

static void *base_of(struct policy *policy, const struct policy_key *key, int domain_section)
{
	if (!key->domain_bit)
		return policy;
	if (domain_section < 0)
		return &policy->domain;
	policy->domain_sections[domain_section].given |= key->domain_bit;
	return &policy->domain_sections[domain_section].values;
}

/* Every key of the table, one by one and all together, at text. */
static void check_keys(const char *(*text_of)(const struct policy_key *key), int n_domain_sections)
{
	const struct policy_key *keys;
	struct policy policy, one;
	struct policy_value value;
	size_t n;

	policy_init(&policy);
	policy.n_domain_sections = n_domain_sections;
	for (int i = 0; i < n_domain_sections; i++)
		snprintf(policy.domain_sections[i].name, DOMAIN_NAME_SIZE, "policy%d", i);
	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++) {
		if (!text_of(&keys[i]))
			continue;
		assert_int_equal(policy_value_parse(&keys[i], text_of(&keys[i]), &value), 0);
		for (int o = -1; o < (keys[i].domain_bit ? n_domain_sections : 0); o++)
			policy_key_store(&keys[i], base_of(&policy, &keys[i], o), &value);
		policy_init(&one);
		policy_key_store(&keys[i], base_of(&one, &keys[i], -1), &value);
		assert_int_equal(check_policy(&one), 0);
	}
	assert_int_equal(check_policy(&policy), 0);
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

static void test_policy(void **state)
{
	struct policy policy;

	policy_init(&policy);
	assert_int_equal(check_policy(&policy), 0);
	check_keys(least, 0);
	check_keys(most, POLICY_DOMAIN_SECTIONS_MAX);
	check_keys(word, 3);
	check_keys(share, 1);
}

/* The rules as far as an engine looks at them, and none in a recording of before there were any. */
static void test_rules(void **state)
{
	struct record_out out = new_out();
	struct policy policy, again;
	struct record_in in;

	policy_init(&policy);
	policy.n_rules = POLICY_RULES_MAX;
	for (uint32_t i = 0; i < POLICY_RULES_MAX; i++) {
		struct policy_properties *properties = &policy.rules[i].properties;

		memset(policy.rules[i].name, 'a' + i % 26, POLICY_NAME_SIZE - 1);
		policy.rules[i].domain_cpu = i % 3 ? i : POLICY_ANY_DOMAIN;
		properties->cap = (struct policy_level){ POLICY_LEVEL_KHZ, UINT32_MAX - i };
		properties->floor = (struct policy_level){ i % 2 ? POLICY_LEVEL_PERCENT
								 : POLICY_LEVEL_RESPONSE,
							   i };
		properties->io_boost = (struct policy_level){ i % 2, i % 2 * i };
	}
	assert_int_equal(check_policy(&policy), 0);
	/* Some of them overrides, and rules that are neither are not kept. */
	policy.n_rules = 50;
	policy.n_overrides = 5;
	memset(&policy.rules[50], 0, 9 * sizeof(policy.rules[0]));
	assert_int_equal(check_policy(&policy), 0);
	policy.n_overrides = 15;
	assert_int_equal(check_policy(&policy), -EBADMSG);
	policy.n_overrides = 0;

	policy.rules[3].properties.floor.value = 101;
	assert_int_equal(check_policy(&policy), -EBADMSG);

	policy_init(&policy);
	record_policy_put(&out, &policy);
	out.n -= 2; /* the numbers of rules and of overrides, 0 */
	in = reread(&out);
	assert_int_equal(record_policy_get(&in, &again), 0);
	assert_int_equal(again.n_rules, 0);
}

/* What no file could say is refused: the engine divides by some of it. */
static void test_bad_policy(void **state)
{
	struct policy policy;

	policy_init(&policy);
	policy.domain.headroom_percent = 0;
	assert_int_equal(check_policy(&policy), -EBADMSG);
	policy_init(&policy);
	policy.max_tasks = 0;
	assert_int_equal(check_policy(&policy), -EBADMSG);
	policy_init(&policy);
	policy.max_tasks = UINT32_MAX;
	assert_int_equal(check_policy(&policy), -EBADMSG);
	policy_init(&policy);
	policy.backend = POLICY_BACKEND_OBSERVE + 1;
	assert_int_equal(check_policy(&policy), -EBADMSG);
	policy_init(&policy);
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_PERCENT, 101 };
	assert_int_equal(check_policy(&policy), -EBADMSG);
	policy_init(&policy);
	policy.domain.min = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 0 };
	assert_int_equal(check_policy(&policy), -EBADMSG);
}

static void test_unknown_key(void **state)
{
	struct record_out out = new_out();
	struct record_in in;
	struct policy policy;

	record_put_varint(&out, 1);
	record_put_text(&out, "io-boost");
	record_put_text(&out, "of-the-future");
	record_put_varint(&out, POLICY_VALUE_QUANTITY);
	record_put_varint(&out, 1);
	in = reread(&out);
	assert_int_equal(record_policy_get(&in, &policy), -EPROTONOSUPPORT);

	/* Fewer keys than are known have what an empty file means. */
	out = new_out();
	record_put_varint(&out, 0);
	record_put_varint(&out, 0);
	record_put_varint(&out, 0);
	in = reread(&out);
	assert_int_equal(record_policy_get(&in, &policy), 0);
	assert_int_equal(policy.domain.headroom_percent, 125);
}

static void test_topology(void **state)
{
	struct topology *topology = test_topology_new(TOPOLOGY_DOMAINS_MAX, 1), *again;
	struct record_out out = new_out();
	struct topology_domain *domain = &topology->domains[7], read;
	struct record_in in;

	topology->cpu_domain[3] = TOPOLOGY_NO_DOMAIN;
	record_topology_put(&out, topology);
	in = reread(&out);
	assert_int_equal(record_topology_get(&in, &again), 0);
	assert_int_equal(again->n_cpus, TOPOLOGY_CPUS_MAX);
	assert_int_equal(again->n_domains, TOPOLOGY_DOMAINS_MAX);
	assert_memory_equal(again->cpu_domain, topology->cpu_domain, sizeof(again->cpu_domain));

	memset(domain->name, 'd', DOMAIN_NAME_SIZE - 1);
	domain->first_cpu = TOPOLOGY_CPUS_MAX - 1;
	domain->capacity = TOPOLOGY_CAPACITY_MAX;
	domain->transition_latency_ns = UINT64_MAX;
	domain->n_opps = DOMAIN_OPPS_MAX;
	for (uint32_t i = 0; i < DOMAIN_OPPS_MAX; i++)
		domain->opp_khz[i] = i ? UINT32_MAX - DOMAIN_OPPS_MAX + 1 + i : 1;
	/* What its OPPs take, where it is known and where it is not. */
	for (int round = 0; round < 2; round++) {
		out = new_out();
		record_domain_put(&out, domain);
		in = reread(&out);
		assert_int_equal(record_domain_get(&in, again, &read), 0);
		assert_memory_equal(&read, domain, sizeof(read));
		for (uint32_t i = 0; i < DOMAIN_OPPS_MAX; i++)
			domain->opp_power[i] = UINT32_MAX - i;
	}
	free(again);
	free(topology);
}

static int check_domain(const struct topology_domain *domain)
{
	struct topology *topology = test_topology_new(1, 2);
	struct record_out out = new_out();
	struct topology_domain again;
	struct record_in in;
	int r;

	record_domain_put(&out, domain);
	in = reread(&out);
	r = record_domain_get(&in, topology, &again);
	free(topology);
	return r;
}

static void test_bad_topology(void **state)
{
	const struct topology_domain good = {
		.name = "a", .first_cpu = 1, .n_opps = 2, .opp_khz = { 1, 2 }, .capacity = 1
	};
	struct topology *topology = test_topology_new(2, 1), *again;
	struct record_out out = new_out();
	struct topology_domain bad = good;
	struct record_in in;

	assert_int_equal(check_domain(&good), 0);
	bad.first_cpu = 2;
	assert_int_equal(check_domain(&bad), -EBADMSG);
	bad = good;
	bad.n_opps = 0;
	assert_int_equal(check_domain(&bad), -EBADMSG);
	bad = good;
	bad.capacity = 0;
	assert_int_equal(check_domain(&bad), -EBADMSG);
	bad = good;
	bad.capacity = TOPOLOGY_CAPACITY_MAX + 1;
	assert_int_equal(check_domain(&bad), -EBADMSG);
	bad = good;
	bad.opp_khz[1] = 1;
	assert_int_equal(check_domain(&bad), -EBADMSG);
	bad.opp_khz[1] = 0;
	assert_int_equal(check_domain(&bad), -EBADMSG);

	topology->cpu_domain[1] = 2;
	record_topology_put(&out, topology);
	in = reread(&out);
	assert_int_equal(record_topology_get(&in, &again), -EBADMSG);
	topology->n_cpus = 0;
	out = new_out();
	record_topology_put(&out, topology);
	in = reread(&out);
	assert_int_equal(record_topology_get(&in, &again), -EBADMSG);
	free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy),	   cmocka_unit_test(test_rules),
		cmocka_unit_test(test_bad_policy), cmocka_unit_test(test_unknown_key),
		cmocka_unit_test(test_topology),   cmocka_unit_test(test_bad_topology),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
