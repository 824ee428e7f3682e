// SPDX-License-Identifier: GPL-2.0-only
/* The keys of a rule besides its conditions (config/match.c): what it gives, class and domain. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "config/units.h"
#include "core/rule.h"
#include "shared/cleanup.h"
#include "shared/time.h"

static int store_quantity(const char *text, struct policy_level *level)
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

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (policy_units_parse(kinds[i].units, text, &number) == 0) {
			if (number > kinds[i].most)
				return -EINVAL;
			*level = (struct policy_level){ kinds[i].kind, number };
			return 0;
		}
	return -EINVAL;
}

static int store_level(const struct policy_rule_key *key, void *field, const char *text)
{
	const struct policy_level *by_word = policy_word_level(key, text);
	struct policy_level *level = field;
	uint64_t ns;

	if (by_word) {
		*level = *by_word;
		return 0;
	}
	if (key->is_level)
		return store_quantity(text, level);
	if (!key->time_kind || policy_units_parse(&policy_units_duration, text, &ns) < 0 ||
	    ns < key->least_us * NS_PER_US || ns > key->most_us * NS_PER_US)
		return -EINVAL;
	*level = (struct policy_level){ key->time_kind, ns / NS_PER_US };
	return 0;
}

static int store_class(const struct policy_rule_key *key, void *field, const char *text)
{
	if (strcmp(text, "none") != 0)
		return policy_store_text(key, field, text);
	memset(field, 0, key->size);
	return 0;
}

static int store_domain(const struct policy_rule_key *key, void *field, const char *text)
{
	uint32_t *domain = field;

	if (!strcmp(text, "all"))
		*domain = POLICY_ANY_DOMAIN;
	else if (!policy_domain_number(text, domain))
		return -EINVAL;
	return 0;
}

static int store_when(const struct policy_rule_key *key, void *field, const char *text)
{
	if (strncmp(text, "rule ", 5) != 0)
		return -EINVAL;
	text += 5;
	return policy_store_text(key, field, text + strspn(text, " \t"));
}

#define LEVEL                                                                                 \
	"a share from 0% to 100%, a capacity from 0/1024 to 1024/1024, or a frequency up to " \
	"100GHz with its unit (kHz, MHz, GHz)"

/* A response is a floor, computed from the tasks' bursts: of both in one section the later one
 * wins. */
/* clang-format off */
#define CAPACITY(_capacity) { POLICY_LEVEL_CAPACITY, (_capacity) }

static const struct policy_rule_key keys[] = {
	{ "when", "rule and the name of another rule", store_when, POLICY_RULE_FIELD(when) },
	{ "domain", "all, or policyN with N from 0 to 1023", store_domain,
	  POLICY_RULE_FIELD(domain_cpu) },
	{ "class", "none or the name of a class", store_class, POLICY_RULE_FIELD(class) },
	{ "cap", "none, " LEVEL, store_level, POLICY_RULE_FIELD(own.cap), POLICY_KEY_OF_BOTH,
	  .words = { { "none", CAPACITY(TOPOLOGY_CAPACITY_MAX) } }, .is_level = true },
	{ "floor", "none, " LEVEL, store_level, POLICY_RULE_FIELD(own.floor), POLICY_KEY_OF_BOTH,
	  .words = { { "none", CAPACITY(0) } }, .is_level = true },
	{ "response", "none, or a time from 10us to 10s", store_level, POLICY_RULE_FIELD(own.floor),
	  POLICY_KEY_OF_BOTH, .words = { { "none", CAPACITY(0) } },
	  .time_kind = POLICY_LEVEL_RESPONSE, .least_us = 10, .most_us = 10000000 },
	{ "io-boost", "on, off, " LEVEL, store_level, POLICY_RULE_FIELD(own.io_boost),
	  POLICY_KEY_OF_BOTH, .is_level = true,
	  .words = { { "off", CAPACITY(0) }, { "on", CAPACITY(TOPOLOGY_CAPACITY_MAX) } } },
	{ "waiting", "none, on, " LEVEL, store_level, POLICY_RULE_FIELD(own.waiting),
	  POLICY_KEY_OF_BOTH, .is_level = true,
	  .words = { { "none", CAPACITY(0) }, { "on", CAPACITY(TOPOLOGY_CAPACITY_MAX) } } },
	{ "placement", "none or fork-spread", store_level, POLICY_RULE_FIELD(own.placement),
	  POLICY_KEY_OF_BOTH,
	  .words = { { "none", { POLICY_LEVEL_PLACEMENT, POLICY_PLACEMENT_NONE } },
		     { "fork-spread", { POLICY_LEVEL_PLACEMENT, POLICY_PLACEMENT_FORK_SPREAD } } } },
	{ "idle-latency", "none, or a time from 0us to 1s", store_level,
	  POLICY_RULE_FIELD(own.idle_latency), POLICY_KEY_OF_BOTH,
	  .words = { { "none", { POLICY_LEVEL_IDLE_LATENCY, POLICY_IDLE_LATENCY_NONE } } },
	  .time_kind = POLICY_LEVEL_IDLE_LATENCY, .most_us = 1000000 },
	{ "inherit", "yes or no", policy_store_flag, POLICY_RULE_FIELD(own.not_inherited),
	  POLICY_KEY_OF_CLASS, .words = { { "yes", CAPACITY(false) }, { "no", CAPACITY(true) } } },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(keys) <= POLICY_RULE_KEYS_MAX / 2, "raise POLICY_RULE_KEYS_MAX");

int policy_rule_key_store(const struct policy_rule_key *key, struct policy_rule *rule,
			  const char *text)
{
	rule->match.given |= key->match;
	return key->store(key, (char *)rule + key->offset, text);
}

/* That of a floor may also be given as a response. */
static const struct policy_rule_key *key_of_property(enum rule_property property)
{
	static const struct policy_rule rule;
	const void *field = rule_level(&rule.own, property);
	size_t i = 0;

	while ((const char *)&rule + keys[i].offset != field)
		i++;
	return &keys[i];
}

int policy_level_store(struct policy_rule *rule, const char *name, const char *text)
{
	const struct policy_rule_key *key = policy_rule_keys_find(name);

	if (!key || key->is_for != POLICY_KEY_OF_BOTH || key == key_of_property(RULE_PLACEMENT))
		return -EINVAL;
	return policy_rule_key_store(key, rule, text);
}

const char *policy_level_format(enum rule_property property, const struct policy_level *level,
				char buffer[static POLICY_LEVEL_SIZE])
{
	static const char *const units[] = {
		[POLICY_LEVEL_CAPACITY] = "/1024", [POLICY_LEVEL_PERCENT] = "%",
		[POLICY_LEVEL_KHZ] = "kHz",	   [POLICY_LEVEL_RESPONSE] = "us",
		[POLICY_LEVEL_PLACEMENT] = "",	   [POLICY_LEVEL_IDLE_LATENCY] = "us",
	};
	const struct policy_rule_key *key = key_of_property(property);

	if (level->kind == POLICY_LEVEL_NONE)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(key->words); i++)
		if (key->words[i].word && key->words[i].level.kind == level->kind &&
		    key->words[i].level.value == level->value)
			return key->words[i].word;
	snprintf(buffer, POLICY_LEVEL_SIZE, "%u%s", level->value, units[level->kind]);
	return buffer;
}

const struct policy_rule_key *policy_rule_key_at(size_t i)
{
	size_t n = 0;

	while (policy_match_key_at(n))
		n++;
	if (i < n)
		return policy_match_key_at(i);
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
