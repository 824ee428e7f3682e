// SPDX-License-Identifier: GPL-2.0-only
/*
 * The keys of all sections as one table: each row says which field of the policy it sets, its
 * range, and how its value is read and written.
 */
#include "config/keys.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/field.h"
#include "core/topology.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define FIELD_OF(_struct, _field, _form)                                                           \
	.offset = offsetof(struct _struct, _field), .size = sizeof(((struct _struct *)0)->_field), \
	.form = POLICY_FORM_##_form
#define SETS(_field, _form) FIELD_OF(policy, _field, _form)
#define DOMAIN_FIELD(_field, _form) \
	FIELD_OF(policy_domain, _field, _form), .domain_bit = POLICY_DOMAIN_BIT(_field)
#define RANGE(_units, _least, _most) \
	.units = &policy_units_##_units, .least = (_least), .most = (_most)

/* clang-format off */
static const struct policy_key keys[] = {
	{ POLICY_SECTION_WAKEGOV, "backend", "auto",
	  .words = { [POLICY_BACKEND_AUTO] = "auto", [POLICY_BACKEND_UCLAMP] = "uclamp",
		     [POLICY_BACKEND_SETSPEED] = "setspeed",
		     [POLICY_BACKEND_LIMITS] = "limits", [POLICY_BACKEND_OBSERVE] = "observe" },
	  SETS(backend, NUMBER) },
	{ POLICY_SECTION_WAKEGOV, "max-tasks", "1024", RANGE(none, "16", "1024"),
	  SETS(max_tasks, NUMBER) },
	{ POLICY_SECTION_WAKEGOV, "max-decisions", "512", RANGE(none, "16", "65536"),
	  SETS(max_decisions, NUMBER) },
	{ POLICY_SECTION_WAKEGOV, "max-ruled-tasks", "16384", RANGE(none, "16", "65536"),
	  SETS(max_ruled_tasks, NUMBER) },

	{ POLICY_SECTION_WAKEGOV, "history", "yes", .words = { [false] = "no", [true] = "yes" },
	  SETS(history, NUMBER) },

	{ POLICY_SECTION_DOMAIN, "min-frequency", "none",
	  .words = { "none" }, RANGE(frequency, "1MHz", "100GHz"),
	  DOMAIN_FIELD(min, FREQUENCY) },
	{ POLICY_SECTION_DOMAIN, "max-frequency", "none",
	  .words = { "none" }, RANGE(frequency, "1MHz", "100GHz"),
	  DOMAIN_FIELD(max, FREQUENCY) },
	{ POLICY_SECTION_DOMAIN, "headroom", "125%", RANGE(share, "110%", "400%"),
	  DOMAIN_FIELD(headroom_percent, NUMBER) },
	{ POLICY_SECTION_DOMAIN, "rate-limit", "auto",
	  .words = { "auto" }, RANGE(duration, "100us", "1s"),
	  DOMAIN_FIELD(rate_limit_ns, NUMBER) },
	{ POLICY_SECTION_DOMAIN, "down-hold", "20ms", RANGE(duration, "1ms", "10s"),
	  DOMAIN_FIELD(down_hold_ns, NUMBER) },
	{ POLICY_SECTION_DOMAIN, "rise-time", "24ms", RANGE(duration, "4ms", "10s"),
	  DOMAIN_FIELD(rise_time_ns, NUMBER) },
	{ POLICY_SECTION_DOMAIN, "frequency-reference", "auto",
	  .words = { [POLICY_REFERENCE_AUTO] = "auto", [POLICY_REFERENCE_TURBO_4C] = "turbo-4c",
		     [POLICY_REFERENCE_TURBO_1C] = "turbo-1c", [POLICY_REFERENCE_BASE] = "base" },
	  RANGE(frequency, "1MHz", "100GHz"),
	  DOMAIN_FIELD(reference, NUMBER) },
	{ POLICY_SECTION_DOMAIN, "energy-preference", "none",
	  .words = { [POLICY_PREFERENCE_NONE] = "none", [POLICY_PREFERENCE_DEFAULT] = "default",
		     [POLICY_PREFERENCE_PERFORMANCE] = "performance",
		     [POLICY_PREFERENCE_BALANCE_PERFORMANCE] = "balance_performance",
		     [POLICY_PREFERENCE_BALANCE_POWER] = "balance_power",
		     [POLICY_PREFERENCE_POWER] = "power" },
	  DOMAIN_FIELD(preference, NUMBER) },

	{ POLICY_SECTION_UTILISATION, "chains", "on", .words = { [false] = "off", [true] = "on" },
	  SETS(chains, NUMBER) },
	{ POLICY_SECTION_UTILISATION, "waiting", "4W", .words = { "none" },
	  RANGE(power, "1mW", "1000W"), SETS(waiting_uw, NUMBER) },

	{ POLICY_SECTION_IO_BOOST, "enabled", "yes", .words = { [false] = "no", [true] = "yes" },
	  SETS(io_boost.enabled, NUMBER) },
	{ POLICY_SECTION_IO_BOOST, "min-rate", "500/s", RANGE(rate, "1/s", "1000000/s"),
	  SETS(io_boost.min_rate_per_s, NUMBER) },
	{ POLICY_SECTION_IO_BOOST, "window", "10ms", RANGE(duration, "1ms", "1s"),
	  SETS(io_boost.window_ns, NUMBER) },
	{ POLICY_SECTION_IO_BOOST, "hold", "10ms", RANGE(duration, "1ms", "10s"),
	  SETS(io_boost.hold_ns, NUMBER) },
	{ POLICY_SECTION_IO_BOOST, "slack", "2%", RANGE(share, "1%", "50%"),
	  SETS(io_boost.slack_percent, NUMBER) },
	{ POLICY_SECTION_IO_BOOST, "min-host-time", "2%", RANGE(share, "0%", "100%"),
	  SETS(io_boost.min_host_percent, NUMBER) },

	{ POLICY_SECTION_CAPS, "burst-margin", "500us", RANGE(duration, "0us", "100ms"),
	  SETS(caps.burst_margin_ns, NUMBER) },
	{ POLICY_SECTION_CAPS, "burst-limit", "10ms", RANGE(duration, "1ms", "1s"),
	  SETS(caps.burst_limit_ns, NUMBER) },
	{ POLICY_SECTION_CAPS, "application-clamps", "yes", .words = { [false] = "no", [true] = "yes" },
	  SETS(caps.application_clamps, NUMBER) },

	{ POLICY_SECTION_QUERY, "readers", "everyone",
	  .words = { [POLICY_READERS_EVERYONE] = "everyone", [POLICY_READERS_GROUP] = "group" },
	  SETS(query.readers, NUMBER) },
	{ POLICY_SECTION_QUERY, "read-group", "none",
	  .words = { "none" }, RANGE(group, "0", "4294967294"),
	  SETS(query.read_group, GROUP) },
	{ POLICY_SECTION_QUERY, "change-group", "none",
	  .words = { "none" }, RANGE(group, "0", "4294967294"),
	  SETS(query.change_group, GROUP) },
	{ POLICY_SECTION_QUERY, "max-clients", "128", RANGE(none, "1", "1024"),
	  SETS(query.max_clients, NUMBER) },
	{ POLICY_SECTION_QUERY, "max-hints", "256", RANGE(none, "0", "16384"),
	  SETS(query.max_hints, NUMBER) },
	{ POLICY_SECTION_QUERY, "max-message", "64KiB", RANGE(size, "1KiB", "16MiB"),
	  SETS(query.max_message_bytes, NUMBER) },
	{ POLICY_SECTION_QUERY, "client-timeout", "10s", RANGE(duration, "100ms", "10min"),
	  SETS(query.client_timeout_ns, NUMBER) },
};
/* clang-format on */

#define PERCENT(_value) ((struct policy_level){ POLICY_LEVEL_PERCENT, (_value) })

static const struct policy_class classes[] = {
	{ "interactive", { .floor = PERCENT(40), .not_inherited = true } },
	{ "tail-latency", { .floor = PERCENT(80), .not_inherited = true } },
	{ "background", { .cap = PERCENT(40), .waiting = { POLICY_LEVEL_CAPACITY, 0 } } },
	{ "efficient", { .cap = PERCENT(60) } },
	{ "batch", { .cap = PERCENT(80) } },
	/* Names of other systems' classes. */
	{ "user-interactive", { .floor = PERCENT(40), .not_inherited = true } },
	{ "user-initiated", { .floor = PERCENT(20) } },
	{ "utility", { .cap = PERCENT(60) } },
};

void policy_init(struct policy *policy)
{
	struct policy_value value;

	memset(policy, 0, sizeof(*policy));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		int r = policy_value_parse(&keys[i], keys[i].built_in, &value);

		assert(r == 0);
		policy_key_store(&keys[i], keys[i].domain_bit ? (void *)&policy->domain : policy,
				 &value);
	}
	memcpy(policy->classes, classes, sizeof(classes));
	policy->n_classes = ARRAY_SIZE(classes);
}

const char *const policy_section_names[POLICY_SECTIONS] = {
	[POLICY_SECTION_WAKEGOV] = "wakegov",
	[POLICY_SECTION_DOMAIN] = "domain",
	[POLICY_SECTION_UTILISATION] = "utilisation",
	[POLICY_SECTION_IO_BOOST] = "io-boost",
	[POLICY_SECTION_CAPS] = "caps",
	[POLICY_SECTION_QUERY] = "query",
};

const struct policy_key *policy_keys_get(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(keys);
	return keys;
}

const struct policy_key *policy_keys_find(enum policy_section section, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].section == section && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

bool policy_domain_number(const char *name, uint32_t *ret)
{
	char same[16];

	if (sscanf(name, "policy%4u", ret) != 1)
		return false;
	snprintf(same, sizeof(same), "policy%u", *ret);
	return !strcmp(name, same) && *ret < TOPOLOGY_CPUS_MAX;
}

_Static_assert(POLICY_FREQUENCY_NONE == (int)POLICY_VALUE_WORD &&
		       POLICY_FREQUENCY_KHZ == (int)POLICY_VALUE_QUANTITY &&
		       POLICY_FREQUENCY_PERCENT == (int)POLICY_VALUE_SHARE,
	       "a frequency is of the kind of its value");

void policy_key_store(const struct policy_key *key, void *base, const struct policy_value *value)
{
	void *field = (char *)base + key->offset;
	bool is_word = value->kind == POLICY_VALUE_WORD;

	switch (key->form) {
	case POLICY_FORM_NUMBER:
		if (key->size == sizeof(bool))
			*(bool *)field = value->number;
		else if (key->size == sizeof(uint32_t))
			*(uint32_t *)field = value->number;
		else
			*(uint64_t *)field = value->number;
		break;
	case POLICY_FORM_GROUP:
		*(uint32_t *)field = is_word ? POLICY_GROUP_NONE : value->number;
		break;
	case POLICY_FORM_FREQUENCY:
		*(struct policy_frequency *)field = (struct policy_frequency){
			.kind = (int)value->kind,
			.value = value->number,
		};
		break;
	}
}

/* A share of a domain's highest frequency. */
#define SHARE_LEAST "1%"
#define SHARE_MOST  "100%"

/* A limit of the table, which is written as in a file. */
static uint64_t bound(const struct policy_units *units, const char *text)
{
	uint64_t number;
	int r = policy_units_parse(units, text, &number);

	assert(r == 0);
	return number;
}

static bool in_range(const struct policy_units *units, const char *least, const char *most,
		     uint64_t number)
{
	return number >= bound(units, least) && number <= bound(units, most);
}

int policy_value_parse(const struct policy_key *key, const char *text, struct policy_value *ret)
{
	struct policy_value value = { .kind = POLICY_VALUE_QUANTITY };
	bool is_share = policy_key_takes_share(key) && strchr(text, '%');
	int r;

	for (int i = 0; key->words[i]; i++)
		if (!strcmp(key->words[i], text)) {
			*ret = (struct policy_value){ POLICY_VALUE_WORD, i };
			return 0;
		}
	if (!key->units)
		return -EINVAL;
	if (is_share)
		value.kind = POLICY_VALUE_SHARE;
	r = policy_units_parse(is_share ? &policy_units_share : key->units, text, &value.number);
	if (r < 0)
		return r;
	if (is_share ? !in_range(&policy_units_share, SHARE_LEAST, SHARE_MOST, value.number)
		     : !in_range(key->units, key->least, key->most, value.number))
		return -ERANGE;
	*ret = value;
	return 0;
}

int policy_limit_store(struct policy_domain_section *section, const char *name, const char *text)
{
	const struct policy_key *key = policy_keys_find(POLICY_SECTION_DOMAIN, name);
	struct policy_value value;

	if (!key || key->form != POLICY_FORM_FREQUENCY || policy_value_parse(key, text, &value) < 0)
		return -EINVAL;
	policy_key_store(key, &section->values, &value);
	section->given |= key->domain_bit;
	return 0;
}

bool policy_key_is_valid(const struct policy_key *key, const void *base)
{
	const struct policy_frequency *frequency = (const void *)((const char *)base + key->offset);
	bool is_frequency = key->form == POLICY_FORM_FREQUENCY;
	uint64_t number = is_frequency
				  ? frequency->value
				  : field_load(&(struct field){ key->offset, key->size }, base);

	if (is_frequency && frequency->kind == POLICY_FREQUENCY_PERCENT)
		return in_range(&policy_units_share, SHARE_LEAST, SHARE_MOST, number);
	if (is_frequency && frequency->kind != POLICY_FREQUENCY_KHZ)
		return frequency->kind == POLICY_FREQUENCY_NONE && !number;
	if (key->units && in_range(key->units, key->least, key->most, number))
		return true;
	if (key->form == POLICY_FORM_GROUP)
		return number == POLICY_GROUP_NONE;
	/* A word, such as auto, which a field of ns has as 0. */
	return !is_frequency && number < POLICY_WORDS_MAX && key->words[number];
}

char *policy_value_describe(const struct policy_key *key)
{
	const struct policy_units *units = key->units;
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int i = 0; key->words[i]; i++) {
		bool last = !key->words[i + 1] && !units;

		fprintf(out, "%s%s", i == 0 ? "" : last ? " or " : ", ", key->words[i]);
	}
	if (key->words[0] && units)
		fputs(policy_key_takes_share(key) ? ", " : " or ", out);
	if (units)
		fprintf(out, "%s from %s to %s", units->noun, key->least, key->most);
	if (units && units->list[0].name[0]) {
		fprintf(out, " with its unit (%s", units->list[0].name);
		for (int i = 1; units->list[i].name; i++)
			fprintf(out, ", %s", units->list[i].name);
		fputc(')', out);
	}
	if (policy_key_takes_share(key))
		fprintf(out, " or %s from %s to %s", policy_units_share.noun, SHARE_LEAST,
			SHARE_MOST);
	return fclose(out) == 0 ? take_ptr(text) : NULL;
}
