// SPDX-License-Identifier: GPL-2.0-only
/* Every key of the table: the values at its limits, those just past them, and the message. */
#include <stdio.h>
#include <stdlib.h>

#include "config/keys.h"
#include "test-config.h"
#include "wakegov/abi.h"

#define VALUES_MAX 24

struct good_value {
	const char *text;
	uint64_t number;
};

struct key_case {
	const char *section, *key;
	size_t at, size;   /* not the table's: that a key goes to its own field is tested */
	uint64_t standard; /* what it is when it is not given */
	struct good_value good[VALUES_MAX];
	const char *expected;
	const char *bad[VALUES_MAX];
};

#define FIELD(_field) offsetof(struct policy, _field), sizeof(((struct policy *)0)->_field)

#define PERCENT(n)    (1ULL << 32 | (n))

static uint64_t get(const struct key_case *c, const struct policy *policy)
{
	const void *field = (const char *)policy + c->at;
	const struct policy_frequency *frequency = field;
	uint64_t number = 0;

	if (strstr(c->key, "-frequency"))
		return frequency->kind == POLICY_FREQUENCY_PERCENT ? PERCENT(frequency->value)
								   : frequency->value;
	assert_in_range(c->size, 1, sizeof(number));
	memcpy(&number, field, c->size);
	return number;
}

#define US 1000ULL
#define MS (1000 * US)
#define S  (1000 * MS)

#define FREQUENCY_EXPECTED                                                                     \
	"none, a frequency from 1MHz to 100GHz with its unit (kHz, MHz, GHz) or a share from " \
	"1% to 100%"

/* clang-format off */
#define FREQUENCY_GOOD \
	{ { "none", 0 }, { "1MHz", 1000 }, { "1000kHz", 1000 }, { "1.5GHz", 1500000 }, \
	  { "100GHz", 100000000 }, { "100000000kHz", 100000000 }, \
	  { "1%", PERCENT(1) }, { "100%", PERCENT(100) } }
#define FREQUENCY_BAD \
	{ "", "999kHz", "100000001kHz", "100.000001GHz", "4294967296kHz", "0%", "101%", \
	  "50.5%", "1500000", "1.5ghz", "1.0000001GHz", "auto", "-1GHz" }

static const struct key_case cases[] = {
	{ "wakegov", "backend", FIELD(backend), POLICY_BACKEND_AUTO,
	  { { "auto", POLICY_BACKEND_AUTO }, { "uclamp", POLICY_BACKEND_UCLAMP },
	    { "setspeed", POLICY_BACKEND_SETSPEED }, { "limits", POLICY_BACKEND_LIMITS },
	    { "observe", POLICY_BACKEND_OBSERVE } },
	  "auto, uclamp, setspeed, limits or observe",
	  { "", "Auto", "min-max", "0", "auto observe" } },
	{ "wakegov", "max-tasks", FIELD(max_tasks), 1024,
	  { { "16", 16 }, { "1024", WAKEGOV_SLOTS }, { "999", 999 } },
	  "a whole number from 16 to 1024",
	  { "", "15", "1025", "0", "-16", "1e4", "0x100", "4294967312", "auto", "64#tasks" } },
	{ "wakegov", "max-decisions", FIELD(max_decisions), 512,
	  { { "16", 16 }, { "65536", 65536 } },
	  "a whole number from 16 to 65536",
	  { "", "15", "65537", "100/s" } },
	{ "wakegov", "max-ruled-tasks", FIELD(max_ruled_tasks), 16384,
	  { { "16", 16 }, { "65536", 65536 } },
	  "a whole number from 16 to 65536",
	  { "", "15", "65537", "auto" } },

	{ "wakegov", "history", FIELD(history), true,
	  { { "yes", true }, { "no", false } },
	  "no or yes",
	  { "", "Yes", "1", "off" } },

	{ "domain", "min-frequency", FIELD(domain.min), 0, FREQUENCY_GOOD, FREQUENCY_EXPECTED,
	  FREQUENCY_BAD },
	{ "domain", "max-frequency", FIELD(domain.max), 0, FREQUENCY_GOOD, FREQUENCY_EXPECTED,
	  FREQUENCY_BAD },
	{ "domain", "headroom", FIELD(domain.headroom_percent), 125,
	  { { "110%", 110 }, { "400%", 400 }, { "150.0%", 150 } },
	  "a share from 110% to 400% with its unit (%)",
	  { "", "109%", "401%", "1.25", "125", "125.5%", "125W" } },
	{ "domain", "rate-limit", FIELD(domain.rate_limit_ns), 0,
	  { { "auto", 0 }, { "100us", 100 * US }, { "1s", S }, { "0.1ms", 100 * US } },
	  "auto or a duration from 100us to 1s with its unit (ns, us, ms, s, min)",
	  { "", "99us", "99999ns", "1000001us", "1.000000001s", "1", "0", "none", "1min" } },
	{ "domain", "down-hold", FIELD(domain.down_hold_ns), 20 * MS,
	  { { "1ms", MS }, { "10s", 10 * S }, { "2.5ms", 2500 * US } },
	  "a duration from 1ms to 10s with its unit (ns, us, ms, s, min)",
	  { "", "999us", "10001ms", "20", "auto", "0ms", "10.0000000001s" } },
	{ "domain", "rise-time", FIELD(domain.rise_time_ns), 24 * MS,
	  { { "4ms", 4 * MS }, { "10s", 10 * S }, { "32.768ms", 32768 * US } },
	  "a duration from 4ms to 10s with its unit (ns, us, ms, s, min)",
	  { "", "3999us", "10001ms", "32", "auto", "0ms" } },
	{ "domain", "frequency-reference", FIELD(domain.reference), POLICY_REFERENCE_AUTO,
	  { { "turbo-4c", POLICY_REFERENCE_TURBO_4C },
	    { "turbo-1c", POLICY_REFERENCE_TURBO_1C },
	    { "base", POLICY_REFERENCE_BASE },
	    { "auto", POLICY_REFERENCE_AUTO },
	    { "2.5GHz", 2500000 } },
	  "auto, turbo-4c, turbo-1c, base or a frequency from 1MHz to 100GHz with its unit (kHz, "
	  "MHz, GHz)",
	  { "", "80%", "2500", "turbo", "none", "0MHz" } },
	{ "domain", "energy-preference", FIELD(domain.preference), POLICY_PREFERENCE_NONE,
	  { { "default", POLICY_PREFERENCE_DEFAULT }, { "power", POLICY_PREFERENCE_POWER },
	    { "balance_performance", POLICY_PREFERENCE_BALANCE_PERFORMANCE } },
	  "none, default, performance, balance_performance, balance_power or power",
	  { "", "balance-power", "128", "Power" } },

	{ "utilisation", "chains", FIELD(chains), 1,
	  { { "on", 1 }, { "off", 0 } },
	  "off or on",
	  { "", "yes", "1", "On" } },
	{ "utilisation", "waiting", FIELD(waiting_uw), 4000000,
	  { { "none", 0 }, { "1mW", 1000 }, { "1000W", 1000000000 }, { "0.5W", 500000 } },
	  "none or a power from 1mW to 1000W with its unit (uW, mW, W)",
	  { "", "0W", "2", "999uW", "1001W", "off" } },

	{ "io-boost", "enabled", FIELD(io_boost.enabled), 1,
	  { { "yes", 1 }, { "no", 0 } },
	  "no or yes",
	  { "", "true", "1", "on", "YES", "yes no" } },
	{ "io-boost", "min-rate", FIELD(io_boost.min_rate_per_s), 500,
	  { { "1/s", 1 }, { "1000000/s", 1000000 } },
	  "a rate from 1/s to 1000000/s with its unit (/s)",
	  { "", "0/s", "1000001/s", "1000", "0.5/s", "1000/ms" } },
	{ "io-boost", "window", FIELD(io_boost.window_ns), 10 * MS,
	  { { "1ms", MS }, { "1s", S } },
	  "a duration from 1ms to 1s with its unit (ns, us, ms, s, min)",
	  { "", "999999ns", "1000000001ns", "10" } },
	{ "io-boost", "hold", FIELD(io_boost.hold_ns), 10 * MS,
	  { { "1ms", MS }, { "10s", 10 * S } },
	  "a duration from 1ms to 10s with its unit (ns, us, ms, s, min)",
	  { "", "999999ns", "10000000001ns", "10" } },
	{ "io-boost", "slack", FIELD(io_boost.slack_percent), 2,
	  { { "1%", 1 }, { "50%", 50 }, { "5.0%", 5 } },
	  "a share from 1% to 50% with its unit (%)",
	  { "", "0%", "51%", "2", "0.02", "2.5%", "none" } },
	{ "io-boost", "min-host-time", FIELD(io_boost.min_host_percent), 2,
	  { { "0%", 0 }, { "100%", 100 } },
	  "a share from 0% to 100% with its unit (%)",
	  { "", "101%", "-1%", "2", "2ms" } },

	{ "caps", "burst-margin", FIELD(caps.burst_margin_ns), 500 * US,
	  { { "0us", 0 }, { "100ms", 100 * MS } },
	  "a duration from 0us to 100ms with its unit (ns, us, ms, s, min)",
	  { "", "100001us", "-1us", "1" } },
	{ "caps", "burst-limit", FIELD(caps.burst_limit_ns), 10 * MS,
	  { { "1ms", MS }, { "1s", S } },
	  "a duration from 1ms to 1s with its unit (ns, us, ms, s, min)",
	  { "", "999us", "1000001us", "10" } },
	{ "caps", "application-clamps", FIELD(caps.application_clamps), 1,
	  { { "yes", 1 }, { "no", 0 } },
	  "no or yes",
	  { "", "true", "1", "on" } },
	{ "query", "readers", FIELD(query.readers), POLICY_READERS_EVERYONE,
	  { { "everyone", POLICY_READERS_EVERYONE }, { "group", POLICY_READERS_GROUP } },
	  "everyone or group",
	  { "", "root", "0", "Everyone" } },
	{ "query", "read-group", FIELD(query.read_group), POLICY_GROUP_NONE,
	  { { "none", POLICY_GROUP_NONE }, { "root", 0 }, { "daemon", 1 }, { "4294967294", 4294967294 } },
	  "none or a group of this machine, by name or number, from 0 to 4294967294",
	  { "", "4294967295", "-1", "no-such-group", "1.5", "1x" } },
	{ "query", "change-group", FIELD(query.change_group), POLICY_GROUP_NONE,
	  { { "none", POLICY_GROUP_NONE }, { "1000", 1000 }, { "daemon", 1 } },
	  "none or a group of this machine, by name or number, from 0 to 4294967294",
	  { "", "18446744073709551616", "no such group" } },
	{ "query", "max-clients", FIELD(query.max_clients), 128,
	  { { "1", 1 }, { "1024", 1024 } },
	  "a whole number from 1 to 1024",
	  { "", "0", "1025", "18446744073709551617" } },
	{ "query", "max-hints", FIELD(query.max_hints), 256,
	  { { "0", 0 }, { "1", 1 }, { "16384", 16384 } },
	  "a whole number from 0 to 16384",
	  { "", "-1", "16385", "all" } },
	{ "query", "max-message", FIELD(query.max_message_bytes), 64 * 1024,
	  { { "1KiB", 1024 }, { "1024B", 1024 }, { "16MiB", 16 * 1024 * 1024 } },
	  "a size from 1KiB to 16MiB with its unit (B, KiB, MiB)",
	  { "", "1023B", "16777217B", "65536", "64KB", "64kiB" } },
	{ "query", "client-timeout", FIELD(query.client_timeout_ns), 10 * S,
	  { { "100ms", 100 * MS }, { "10min", 600 * S }, { "0.5min", 30 * S } },
	  "a duration from 100ms to 10min with its unit (ns, us, ms, s, min)",
	  { "", "99999us", "600.000000001s", "11min", "10" } },
};
/* clang-format on */

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void expect_accepted(const struct key_case *c, const struct good_value *good)
{
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };
	char text[128];
	int length;

	test_draft_init(&draft);
	assert_int_equal(get(c, &draft.policy), c->standard);
	length = snprintf(text, sizeof(text), "[%s]\n%s = %s\n", c->section, c->key, good->text);
	test_policy_expect(&draft, text, length, NULL);
	if (get(c, &draft.policy) != good->number)
		print_message("%s", text);
	assert_int_equal(get(c, &draft.policy), good->number);
}

TEST(test_good_values)
{
	for (size_t i = 0; i < N_CASES; i++)
		for (int j = 0; cases[i].good[j].text; j++)
			expect_accepted(&cases[i], &cases[i].good[j]);
}

/* A key sets its own field and no other. */
TEST(test_other_fields_stay)
{
	for (size_t i = 0; i < N_CASES; i++) {
		_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };
		char text[128];
		int length;

		test_draft_init(&draft);
		length = snprintf(text, sizeof(text), "[%s]\n%s = %s\n", cases[i].section,
				  cases[i].key, cases[i].good[1].text);
		test_policy_expect(&draft, text, length, NULL);
		for (size_t j = 0; j < N_CASES; j++)
			if (j != i)
				assert_int_equal(get(&cases[j], &draft.policy), cases[j].standard);
		assert_int_equal(draft.policy.n_domain_sections, 0);
	}
}

static void expect_refused(const struct key_case *c, const char *value)
{
	char text[128], message[512];
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };
	int length;

	length = snprintf(text, sizeof(text), "[%s]\n%s = %s\n", c->section, c->key, value);
	snprintf(message, sizeof(message), TEST_FILE ":2: [%s] %s: found '%s', expected %s",
		 c->section, c->key, value, c->expected);
	test_draft_init(&draft);
	test_policy_expect(&draft, text, length, message);
}

TEST(test_bad_values)
{
	for (size_t i = 0; i < N_CASES; i++)
		for (int j = 0; cases[i].bad[j]; j++)
			expect_refused(&cases[i], cases[i].bad[j]);
}

/* A key that is added to the table must be added to the cases above. */
TEST(test_every_key_has_a_case)
{
	const struct policy_key *keys;
	size_t n;

	keys = policy_keys_get(&n);
	assert_int_equal(n, N_CASES);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(keys[i].name, cases[i].key);
		assert_string_equal(policy_section_names[keys[i].section], cases[i].section);
	}
}
