// SPDX-License-Identifier: GPL-2.0-only
/* What a policy gives a domain, and the numbers of its flags. */
#include "test-core.h"

#include "config/keys.h"
#include "core/settings.h"
#include "wakegov/abi.h"

/* Each is a bit of its own, and together they are the lowest ones. */
TEST(test_flags)
{
	static const struct {
		uint32_t n, flags[10];
	} rows[] = {
		{ 10,
		  { POLICY_MATCH_COMM, POLICY_MATCH_EXE, POLICY_MATCH_COMMAND, POLICY_MATCH_USER,
		    POLICY_MATCH_CGROUP, POLICY_MATCH_UNIT, POLICY_MATCH_USER_UNIT,
		    POLICY_MATCH_SCHEDULER, POLICY_MATCH_NICE, POLICY_MATCH_KERNEL_THREAD } },
		{ 3, { WAKEGOV_ARM_BAND, WAKEGOV_ARM_IDLE, WAKEGOV_ARM_CLASSES } },
		{ 4,
		  { WAKEGOV_NEWS_CPU, WAKEGOV_NEWS_LIMITS, WAKEGOV_NEWS_RESUME,
		    WAKEGOV_NEWS_CLAMPS } },
		{ 6,
		  { WAKEGOV_FOLLOW_TASKS, WAKEGOV_FOLLOW_RENAMES, WAKEGOV_FOLLOW_CGROUPS,
		    WAKEGOV_FOLLOW_PROCESSES, WAKEGOV_FOLLOW_COMMANDS, WAKEGOV_FOLLOW_EXECS } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t j = 0; j < rows[i].n; j++)
			assert_int_equal(rows[i].flags[j], 1u << j);
}

/* Each key of a domain has a field with a bit of its own. */
TEST(test_bits_of_domains)
{
	const struct policy_key *keys;
	uint32_t bits = 0;
	size_t n;

	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(!!keys[i].domain_bit, keys[i].section == POLICY_SECTION_DOMAIN);
		assert_int_equal(bits & keys[i].domain_bit, 0);
		bits |= keys[i].domain_bit;
		if (keys[i].domain_bit) {
			assert_int_equal(keys[i].offset % POLICY_DOMAIN_FIELD_BYTES, 0);
			assert_in_range(keys[i].size, 1, POLICY_DOMAIN_FIELD_BYTES);
		}
	}
	assert_int_equal(bits,
			 (1u << sizeof(struct policy_domain) / POLICY_DOMAIN_FIELD_BYTES) - 1);
}

/* A section gives what it names and nothing else, and only to its domain. */
TEST(test_section)
{
	static const struct policy_domain other = {
		.min = { POLICY_FREQUENCY_KHZ, 1 },
		.max = { POLICY_FREQUENCY_KHZ, 2 },
		.headroom_percent = 3,
		.rate_limit_ns = 4,
		.down_hold_ns = 5,
		.rise_time_ns = 6,
		.reference = 7,
		.preference = 2,
	};
	struct policy policy;

	policy_init(&policy);
	policy.n_domain_sections = 2;
	strcpy(policy.domain_sections[0].name, "a");
	strcpy(policy.domain_sections[1].name, "b");
	policy.domain_sections[1].given = UINT32_MAX;
	policy.domain_sections[0].values = policy.domain_sections[1].values = other;
	for (uint32_t bit = 1; bit <= POLICY_DOMAIN_BIT(preference); bit *= 2) {
		struct policy_domain expected = policy.domain, found;

		policy.domain_sections[0].given = bit;
		if (bit == POLICY_DOMAIN_BIT(min))
			expected.min = other.min;
		if (bit == POLICY_DOMAIN_BIT(max))
			expected.max = other.max;
		if (bit == POLICY_DOMAIN_BIT(headroom_percent))
			expected.headroom_percent = other.headroom_percent;
		if (bit == POLICY_DOMAIN_BIT(rate_limit_ns))
			expected.rate_limit_ns = other.rate_limit_ns;
		if (bit == POLICY_DOMAIN_BIT(down_hold_ns))
			expected.down_hold_ns = other.down_hold_ns;
		if (bit == POLICY_DOMAIN_BIT(rise_time_ns))
			expected.rise_time_ns = other.rise_time_ns;
		if (bit == POLICY_DOMAIN_BIT(reference))
			expected.reference = other.reference;
		if (bit == POLICY_DOMAIN_BIT(preference))
			expected.preference = other.preference;
		policy_domain_for(&policy, "a", &found);
		assert_memory_equal(&found, &expected, sizeof(found));
	}
}

/* An override wins over a section of the domain, and over a policy that comes later. */
TEST(test_override)
{
	struct policy_domain found;
	struct policy policy;

	policy_init(&policy);
	policy.n_domain_sections = policy.n_domain_overrides = 1;
	policy.domain_sections[0] = policy.domain_overrides[0] = (struct policy_domain_section){
		.name = "a",
		.given = POLICY_DOMAIN_BIT(min),
		.values.min = { POLICY_FREQUENCY_KHZ, 1 },
	};
	policy.domain_overrides[0].values.min.override = 4;
	policy_domain_for(&policy, "a", &found);
	assert_int_equal(found.min.override, 4);
	policy_domain_for(&policy, "b", &found);
	assert_int_equal(found.min.override, 0);
}

/* Of a copy rules and overrides are where they were. */
TEST(test_copy)
{
	struct policy *from = calloc(1, sizeof(*from)), *to = calloc(1, sizeof(*to));

	policy_init(from);
	from->n_rules = 2;
	from->n_overrides = 3;
	for (uint32_t i = 0; i < POLICY_RULES_MAX; i++)
		from->rules[i].line = 1 + i;
	policy_copy(to, from);
	assert_memory_equal(to, from, offsetof(struct policy, rules));
	for (uint32_t i = 0; i < POLICY_RULES_MAX; i++)
		assert_int_equal(to->rules[i].line, i < 2 || i >= POLICY_RULES_MAX - 3 ? 1 + i : 0);
	free(from);
	free(to);
}
