// SPDX-License-Identifier: GPL-2.0-only
/* What a rule gives, and to whom besides those that it matches (config/match.c). */
#include <errno.h>
#include <string.h>

#include "config/keys.h"
#include "config/units.h"
#include "shared/cleanup.h"
#include "shared/time.h"

/* word stands for a capacity: the end of the scale at which the property does nothing. */
static int store_level(struct policy_level *level, const char *text, const char *word,
		       uint32_t capacity)
{
	static const struct {
		const struct policy_units *units;
		int kind;
		uint64_t most;
	} kinds[] = {
		{ &policy_units_capacity, POLICY_LEVEL_CAPACITY, TOPOLOGY_CAPACITY_MAX },
		{ &policy_units_share, POLICY_LEVEL_PERCENT, 100 },
		{ &policy_units_frequency, POLICY_LEVEL_KHZ, 100000000 },
	};
	uint64_t number;

	if (!strcmp(text, word)) {
		*level = (struct policy_level){ POLICY_LEVEL_CAPACITY, capacity };
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (policy_units_parse(kinds[i].units, text, &number) == 0) {
			if (number > kinds[i].most)
				return -EINVAL;
			level->kind = kinds[i].kind;
			level->value = number;
			return 0;
		}
	return -EINVAL;
}

static int store_cap(struct policy_rule *rule, const char *text)
{
	return store_level(&rule->own.cap, text, "none", TOPOLOGY_CAPACITY_MAX);
}

static int store_floor(struct policy_rule *rule, const char *text)
{
	return store_level(&rule->own.floor, text, "none", 0);
}

#define RESPONSE_LEAST_US 10
#define RESPONSE_MOST_US  10000000

/*
 * A response is a floor, computed from the tasks' bursts. Of both in one section, the later one
 * wins.
 */
static int store_response(struct policy_rule *rule, const char *text)
{
	uint64_t ns;

	if (!strcmp(text, "none"))
		return store_floor(rule, text);
	if (policy_units_parse(&policy_units_duration, text, &ns) < 0 ||
	    ns < RESPONSE_LEAST_US * NS_PER_US || ns > RESPONSE_MOST_US * NS_PER_US)
		return -EINVAL;
	rule->own.floor = (struct policy_level){ POLICY_LEVEL_RESPONSE, ns / NS_PER_US };
	return 0;
}

static int store_io_boost(struct policy_rule *rule, const char *text)
{
	if (!strcmp(text, "off"))
		return store_level(&rule->own.io_boost, text, "off", 0);
	return store_level(&rule->own.io_boost, text, "on", TOPOLOGY_CAPACITY_MAX);
}

static int store_placement(struct policy_rule *rule, const char *text)
{
	static const struct {
		const char *word;
		enum policy_placement is;
	} words[] = {
		{ "none", POLICY_PLACEMENT_NONE },
		{ "fork-spread", POLICY_PLACEMENT_FORK_SPREAD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i].word)) {
			rule->own.placement = (struct policy_level){ POLICY_LEVEL_PLACEMENT,
								     words[i].is };
			return 0;
		}
	return -EINVAL;
}

#define IDLE_LATENCY_MOST_US 1000000

static int store_idle_latency(struct policy_rule *rule, const char *text)
{
	uint64_t ns = POLICY_IDLE_LATENCY_NONE * NS_PER_US;

	if (strcmp(text, "none") != 0 &&
	    (policy_units_parse(&policy_units_duration, text, &ns) < 0 ||
	     ns > IDLE_LATENCY_MOST_US * NS_PER_US))
		return -EINVAL;
	rule->own.idle_latency = (struct policy_level){ POLICY_LEVEL_IDLE_LATENCY, ns / NS_PER_US };
	return 0;
}

static int store_class(struct policy_rule *rule, const char *text)
{
	if (!strcmp(text, "none")) {
		memset(rule->class, 0, sizeof(rule->class));
		return 0;
	}
	return policy_store_text(rule->class, sizeof(rule->class), text);
}

static int store_domain(struct policy_rule *rule, const char *text)
{
	if (!strcmp(text, "all"))
		rule->domain_cpu = POLICY_ANY_DOMAIN;
	else if (!policy_domain_number(text, &rule->domain_cpu))
		return -EINVAL;
	return 0;
}

static int store_when(struct policy_rule *rule, const char *text)
{
	if (strncmp(text, "rule ", 5) != 0)
		return -EINVAL;
	text += 5;
	return policy_store_text(rule->when, sizeof(rule->when), text + strspn(text, " \t"));
}

static int store_inherit(struct policy_rule *rule, const char *text)
{
	rule->own.not_inherited = !strcmp(text, "no");
	return rule->own.not_inherited || !strcmp(text, "yes") ? 0 : -EINVAL;
}

#define LEVEL                                                                                 \
	"a share from 0% to 100%, a capacity from 0/1024 to 1024/1024, or a frequency up to " \
	"100GHz with its unit (kHz, MHz, GHz)"

/* clang-format off */
static const struct policy_rule_key keys[] = {
	{ "when", "rule and the name of another rule", store_when },
	{ "domain", "all, or policyN with N from 0 to 1023", store_domain },
	{ "class", "none or the name of a class", store_class },
	{ "cap", "none, " LEVEL, store_cap, .is_for = POLICY_KEY_OF_BOTH, .is_level = true },
	{ "floor", "none, " LEVEL, store_floor, .is_for = POLICY_KEY_OF_BOTH, .is_level = true },
	{ "response", "none, or a time from 10us to 10s", store_response,
	  .is_for = POLICY_KEY_OF_BOTH },
	{ "io-boost", "on, off, " LEVEL, store_io_boost, .is_for = POLICY_KEY_OF_BOTH, .is_level = true },
	{ "placement", "none or fork-spread", store_placement, .is_for = POLICY_KEY_OF_BOTH },
	{ "idle-latency", "none, or a time from 0us to 1s", store_idle_latency,
	  .is_for = POLICY_KEY_OF_BOTH },
	{ "inherit", "yes or no", store_inherit, .is_for = POLICY_KEY_OF_CLASS },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(keys) <= POLICY_RULE_KEYS_MAX / 2, "raise POLICY_RULE_KEYS_MAX");

const struct policy_rule_key *policy_rule_key_at(size_t i)
{
	const struct policy_rule_key *match_keys;
	size_t n;

	match_keys = policy_match_keys_get(&n);
	if (i < n)
		return &match_keys[i];
	return i - n < ARRAY_SIZE(keys) ? &keys[i - n] : NULL;
}

size_t policy_rule_keys_number(const char *name)
{
	const struct policy_rule_key *key;
	size_t i = 0;

	while ((key = policy_rule_key_at(i)) && strcmp(key->name, name) != 0)
		i++;
	return i;
}

const struct policy_rule_key *policy_rule_keys_find(const char *name)
{
	return policy_rule_key_at(policy_rule_keys_number(name));
}

uint32_t policy_rule_key_line(const struct policy_rule *rule, const char *name)
{
	size_t i = policy_rule_keys_number(name);

	return policy_rule_key_at(i) ? rule->key_lines[i] : 0;
}
