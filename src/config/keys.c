// SPDX-License-Identifier: GPL-2.0-only
#include "config/keys.h"

#include <string.h>

#include "shared/cleanup.h"
#include "shared/time.h"

static void store_bool(void *field, const struct policy_value *value)
{
	*(bool *)field = value->number;
}

static void store_backend(void *field, const struct policy_value *value)
{
	*(enum policy_backend *)field = value->number;
}

static void store_readers(void *field, const struct policy_value *value)
{
	*(enum policy_readers *)field = value->number;
}

/* "none" is the only word. */
static void store_group(void *field, const struct policy_value *value)
{
	*(uint32_t *)field = value->kind == POLICY_VALUE_WORD ? POLICY_GROUP_NONE : value->number;
}

static void store_idle_latency(void *field, const struct policy_value *value)
{
	*(uint32_t *)field = value->kind == POLICY_VALUE_WORD ? POLICY_IDLE_LATENCY_NONE
							      : value->number / NS_PER_US;
}

static void store_preference(void *field, const struct policy_value *value)
{
	*(enum policy_preference *)field = value->number;
}

static void store_u32(void *field, const struct policy_value *value)
{
	*(uint32_t *)field = value->number;
}

static void store_u64(void *field, const struct policy_value *value)
{
	*(uint64_t *)field = value->number;
}

static void store_reference(void *field, const struct policy_value *value)
{
	struct policy_reference *reference = field;

	reference->kind = POLICY_REFERENCE_KHZ;
	reference->khz = value->number;
	if (value->kind != POLICY_VALUE_WORD)
		return;
	reference->kind = value->number;
	reference->khz = 0;
}

static void store_frequency(void *field, const struct policy_value *value)
{
	struct policy_frequency *frequency = field;

	frequency->value = value->number;
	switch (value->kind) {
	case POLICY_VALUE_WORD:
		frequency->kind = POLICY_FREQUENCY_NONE;
		break;
	case POLICY_VALUE_QUANTITY:
		frequency->kind = POLICY_FREQUENCY_KHZ;
		break;
	case POLICY_VALUE_SHARE:
		frequency->kind = POLICY_FREQUENCY_PERCENT;
		break;
	}
}

/* The inverse functions, named after the functions that store, with "un" in front. */
static void unstore_bool(const void *field, struct policy_value *ret)
{
	*ret = (struct policy_value){ POLICY_VALUE_WORD, *(const bool *)field };
}

static void unstore_backend(const void *field, struct policy_value *ret)
{
	*ret = (struct policy_value){ POLICY_VALUE_WORD, *(const enum policy_backend *)field };
}

static void unstore_readers(const void *field, struct policy_value *ret)
{
	*ret = (struct policy_value){ POLICY_VALUE_WORD, *(const enum policy_readers *)field };
}

static void unstore_group(const void *field, struct policy_value *ret)
{
	uint32_t group = *(const uint32_t *)field;

	*ret = group == POLICY_GROUP_NONE ? (struct policy_value){ POLICY_VALUE_WORD, 0 }
					  : (struct policy_value){ POLICY_VALUE_QUANTITY, group };
}

static void unstore_idle_latency(const void *field, struct policy_value *ret)
{
	uint32_t us = *(const uint32_t *)field;

	*ret = us == POLICY_IDLE_LATENCY_NONE
		       ? (struct policy_value){ POLICY_VALUE_WORD, 0 }
		       : (struct policy_value){ POLICY_VALUE_QUANTITY, us * NS_PER_US };
}

static void unstore_preference(const void *field, struct policy_value *ret)
{
	*ret = (struct policy_value){ POLICY_VALUE_WORD, *(const enum policy_preference *)field };
}

static void unstore_u32(const void *field, struct policy_value *ret)
{
	*ret = (struct policy_value){ POLICY_VALUE_QUANTITY, *(const uint32_t *)field };
}

static void unstore_u64(const void *field, struct policy_value *ret)
{
	*ret = (struct policy_value){ POLICY_VALUE_QUANTITY, *(const uint64_t *)field };
}

static void unstore_reference(const void *field, struct policy_value *ret)
{
	const struct policy_reference *reference = field;

	*ret = (struct policy_value){ POLICY_VALUE_WORD, reference->kind };
	if (reference->kind == POLICY_REFERENCE_KHZ)
		*ret = (struct policy_value){ POLICY_VALUE_QUANTITY, reference->khz };
}

static void unstore_frequency(const void *field, struct policy_value *ret)
{
	const struct policy_frequency *frequency = field;

	ret->number = frequency->value;
	switch (frequency->kind) {
	case POLICY_FREQUENCY_NONE:
		ret->kind = POLICY_VALUE_WORD;
		break;
	case POLICY_FREQUENCY_KHZ:
		ret->kind = POLICY_VALUE_QUANTITY;
		break;
	case POLICY_FREQUENCY_PERCENT:
		ret->kind = POLICY_VALUE_SHARE;
		break;
	}
}

#define FIELD(_field, _store) \
	.offset = offsetof(struct policy, _field), .store = (_store), .load = (un##_store)
#define DOMAIN_FIELD(_field, _store) \
	.offset = offsetof(struct policy_domain, _field), .store = (_store), .load = (un##_store)
#define RANGE(_units, _least, _most) \
	.units = &policy_units_##_units, .least = (_least), .most = (_most)

/* clang-format off */
static const struct policy_key keys[] = {
	{ POLICY_SECTION_WAKEGOV, "backend",
	  .words = { [POLICY_BACKEND_AUTO] = "auto", [POLICY_BACKEND_UCLAMP] = "uclamp",
		     [POLICY_BACKEND_SETSPEED] = "setspeed",
		     [POLICY_BACKEND_LIMITS] = "limits", [POLICY_BACKEND_OBSERVE] = "observe" },
	  FIELD(backend, store_backend) },
	{ POLICY_SECTION_WAKEGOV, "max-tasks", RANGE(none, "16", "1024"),
	  FIELD(max_tasks, store_u32) },
	{ POLICY_SECTION_WAKEGOV, "max-decisions", RANGE(none, "16", "65536"),
	  FIELD(max_decisions, store_u32) },
	{ POLICY_SECTION_WAKEGOV, "max-ruled-tasks", RANGE(none, "16", "65536"),
	  FIELD(max_ruled_tasks, store_u32) },

	{ POLICY_SECTION_WAKEGOV, "history", .words = { [false] = "no", [true] = "yes" },
	  FIELD(history, store_bool) },

	{ POLICY_SECTION_DOMAIN, "min-frequency",
	  .words = { "none" }, RANGE(frequency, "1MHz", "100GHz"),
	  DOMAIN_FIELD(min, store_frequency), POLICY_DOMAIN_MIN },
	{ POLICY_SECTION_DOMAIN, "max-frequency",
	  .words = { "none" }, RANGE(frequency, "1MHz", "100GHz"),
	  DOMAIN_FIELD(max, store_frequency), POLICY_DOMAIN_MAX },
	{ POLICY_SECTION_DOMAIN, "headroom", RANGE(share, "110%", "400%"),
	  DOMAIN_FIELD(headroom_percent, store_u32), POLICY_DOMAIN_HEADROOM },
	{ POLICY_SECTION_DOMAIN, "rate-limit",
	  .words = { "auto" }, RANGE(duration, "100us", "1s"),
	  DOMAIN_FIELD(rate_limit_ns, store_u64), POLICY_DOMAIN_RATE_LIMIT },
	{ POLICY_SECTION_DOMAIN, "down-hold", RANGE(duration, "1ms", "10s"),
	  DOMAIN_FIELD(down_hold_ns, store_u64), POLICY_DOMAIN_DOWN_HOLD },
	{ POLICY_SECTION_DOMAIN, "rise-time", RANGE(duration, "4ms", "10s"),
	  DOMAIN_FIELD(rise_time_ns, store_u64), POLICY_DOMAIN_RISE_TIME },
	{ POLICY_SECTION_DOMAIN, "frequency-reference",
	  .words = { [POLICY_REFERENCE_AUTO] = "auto", [POLICY_REFERENCE_TURBO_4C] = "turbo-4c",
		     [POLICY_REFERENCE_TURBO_1C] = "turbo-1c", [POLICY_REFERENCE_BASE] = "base" },
	  RANGE(frequency, "1MHz", "100GHz"),
	  DOMAIN_FIELD(reference, store_reference), POLICY_DOMAIN_REFERENCE },
	{ POLICY_SECTION_DOMAIN, "energy-preference",
	  .words = { [POLICY_PREFERENCE_NONE] = "none", [POLICY_PREFERENCE_DEFAULT] = "default",
		     [POLICY_PREFERENCE_PERFORMANCE] = "performance",
		     [POLICY_PREFERENCE_BALANCE_PERFORMANCE] = "balance_performance",
		     [POLICY_PREFERENCE_BALANCE_POWER] = "balance_power",
		     [POLICY_PREFERENCE_POWER] = "power" },
	  DOMAIN_FIELD(preference, store_preference), POLICY_DOMAIN_PREFERENCE },

	{ POLICY_SECTION_IO_BOOST, "enabled", .words = { [false] = "no", [true] = "yes" },
	  FIELD(io_boost.enabled, store_bool) },
	{ POLICY_SECTION_IO_BOOST, "min-rate", RANGE(rate, "1/s", "1000000/s"),
	  FIELD(io_boost.min_rate_per_s, store_u32) },
	{ POLICY_SECTION_IO_BOOST, "window", RANGE(duration, "1ms", "1s"),
	  FIELD(io_boost.window_ns, store_u64) },
	{ POLICY_SECTION_IO_BOOST, "hold", RANGE(duration, "1ms", "10s"),
	  FIELD(io_boost.hold_ns, store_u64) },
	{ POLICY_SECTION_IO_BOOST, "slack", RANGE(share, "1%", "50%"),
	  FIELD(io_boost.slack_percent, store_u32) },
	{ POLICY_SECTION_IO_BOOST, "min-host-time", RANGE(share, "0%", "100%"),
	  FIELD(io_boost.min_host_percent, store_u32) },
	{ POLICY_SECTION_IO_BOOST, "idle-latency",
	  .words = { "none" }, RANGE(duration, "0us", "1s"),
	  FIELD(io_boost.idle_latency_us, store_idle_latency) },

	{ POLICY_SECTION_CAPS, "burst-margin", RANGE(duration, "0us", "100ms"),
	  FIELD(caps.burst_margin_ns, store_u64) },
	{ POLICY_SECTION_CAPS, "burst-limit", RANGE(duration, "1ms", "1s"),
	  FIELD(caps.burst_limit_ns, store_u64) },
	{ POLICY_SECTION_CAPS, "application-clamps", .words = { [false] = "no", [true] = "yes" },
	  FIELD(caps.application_clamps, store_bool) },

	{ POLICY_SECTION_QUERY, "readers",
	  .words = { [POLICY_READERS_EVERYONE] = "everyone", [POLICY_READERS_GROUP] = "group" },
	  FIELD(query.readers, store_readers) },
	{ POLICY_SECTION_QUERY, "read-group",
	  .words = { "none" }, RANGE(group, "0", "4294967294"),
	  FIELD(query.read_group, store_group) },
	{ POLICY_SECTION_QUERY, "change-group",
	  .words = { "none" }, RANGE(group, "0", "4294967294"),
	  FIELD(query.change_group, store_group) },
	{ POLICY_SECTION_QUERY, "max-clients", RANGE(none, "1", "1024"),
	  FIELD(query.max_clients, store_u32) },
	{ POLICY_SECTION_QUERY, "max-hints", RANGE(none, "0", "16384"),
	  FIELD(query.max_hints, store_u32) },
	{ POLICY_SECTION_QUERY, "max-message", RANGE(size, "1KiB", "16MiB"),
	  FIELD(query.max_message_bytes, store_u32) },
	{ POLICY_SECTION_QUERY, "client-timeout", RANGE(duration, "100ms", "10min"),
	  FIELD(query.client_timeout_ns, store_u64) },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(keys) <= POLICY_KEYS_MAX, "raise POLICY_KEYS_MAX");

static const char *const section_names[POLICY_SECTIONS] = {
	[POLICY_SECTION_WAKEGOV] = "wakegov",	[POLICY_SECTION_DOMAIN] = "domain",
	[POLICY_SECTION_IO_BOOST] = "io-boost", [POLICY_SECTION_CAPS] = "caps",
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

const char *policy_section_name(enum policy_section section)
{
	return section_names[section];
}
