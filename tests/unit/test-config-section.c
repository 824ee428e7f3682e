// SPDX-License-Identifier: GPL-2.0-only
/* opp-power: the table of a section, over several files, and what is refused. */
#include <stdio.h>

#include "test-config.h"

#define EXPECTED                                                                                \
	", expected a frequency from 1MHz to 100GHz and what a busy CPU takes at it, from 1uW " \
	"to 1000W, such as 1200MHz 340mW"

static uint32_t uw_at(const struct policy_draft *draft, const char *domain, uint32_t khz)
{
	return policy_power_at(&draft->policy, policy_powers_section(&draft->policy, domain), khz);
}

TEST(test_table)
{
	static const char text[] = "[domain]\nopp-power = 400MHz 90mW\n"
				   "opp-power = 1.2GHz   0.34W\nheadroom = 150%\n"
				   "opp-power = 1400MHz\t339999uW\n"
				   "[domain policy4]\nopp-power = 1MHz 1uW\n[domain policy6]\n";
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	test_draft_init(&draft);
	assert_int_equal(draft.policy.n_opp_powers, 0);
	test_policy_expect(&draft, text, strlen(text), NULL);
	assert_int_equal(draft.policy.n_opp_powers, 4);
	assert_int_equal(uw_at(&draft, "policy0", 400000), 90000);
	assert_int_equal(uw_at(&draft, "policy0", 1200000), 340000);
	assert_int_equal(uw_at(&draft, "policy6", 1400000), 339999);
	assert_int_equal(uw_at(&draft, "policy0", 1300000), 0);
	assert_int_equal(uw_at(&draft, "policy4", 1000), 1);
	assert_int_equal(uw_at(&draft, "policy4", 400000), 0);
}

/* A later file's lines take the place of those before; a section without any leaves them. */
TEST(test_later_file)
{
	static const char first[] = "[domain policy0]\nopp-power = 1GHz 1W\nopp-power = 2GHz 3W\n"
				    "[domain policy1]\nopp-power = 1GHz 4W\n";
	static const char second[] = "[domain policy0]\nheadroom = 120%\n[domain]\n";
	static const char third[] = "[domain policy0]\nopp-power = 1.5GHz 2W\n";
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	test_draft_init(&draft);
	test_policy_expect(&draft, first, strlen(first), NULL);
	test_policy_expect(&draft, second, strlen(second), NULL);
	assert_int_equal(uw_at(&draft, "policy0", 2000000), 3000000);
	test_policy_expect(&draft, third, strlen(third), NULL);
	assert_int_equal(draft.policy.n_opp_powers, 2);
	assert_int_equal(uw_at(&draft, "policy0", 2000000), 0);
	assert_int_equal(uw_at(&draft, "policy0", 1500000), 2000000);
	assert_int_equal(uw_at(&draft, "policy1", 1000000), 4000000);
}

TEST(test_refused)
{
	static const char *const values[] = { "",
					      "1200MHz",
					      "1200MHz -340mW",
					      "-1GHz 1W",
					      "1200MHz 0mW",
					      "1200MHz 1001W",
					      "100kHz 1mW",
					      "101GHz 1mW",
					      "340mW 1200MHz",
					      "1200MHz 340mV",
					      "1200 340",
					      "1200MHz 340mW 1",
					      "50% 340mW",
					      "1.2.3GHz 1W",
					      "1200MHz 1e3mW",
					      "1200MHz nan",
					      "1200MHz340mW",
					      "1200MHz,340mW" };
	char text[128], message[320];
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(text, sizeof(text), "[domain policy2]\nopp-power = %s\n", values[i]);
		snprintf(message, sizeof(message),
			 TEST_FILE ":2: [domain policy2] opp-power: found '%s'" EXPECTED,
			 values[i]);
		test_draft_init(&draft);
		test_policy_expect(&draft, text, strlen(text), message);
	}
}

TEST(test_order)
{
	static const char text[] = "[domain]\nopp-power = 1200MHz 340mW\n\nopp-power = 1.2GHz 1W\n";
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	test_draft_init(&draft);
	test_policy_expect(&draft, text, strlen(text),
			   TEST_FILE ":4: [domain] opp-power: found '1.2GHz 1W', expected a "
				     "frequency above the 1200 MHz of the line before");
}

TEST(test_too_many)
{
	char text[(POLICY_OPP_POWERS_MAX + 1) * 32 + 16];
	size_t length = sprintf(text, "[domain]\n");
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	for (int i = 0; i <= POLICY_OPP_POWERS_MAX; i++)
		length += sprintf(text + length, "opp-power = %dMHz 1mW\n", i + 1);
	test_draft_init(&draft);
	test_policy_expect(&draft, text, length,
			   TEST_FILE ":258: [domain] opp-power: found one more, expected at most "
				     "256 in all");
}

/* It takes effect at start, so it is none of a profile's. */
TEST(test_profile)
{
	static const char text[] = "[profile x]\ndomain policy0.opp-power = 1GHz 1W\n";
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	test_draft_init(&draft);
	test_policy_expect(&draft, text, strlen(text),
			   TEST_FILE ":2: [profile x] domain policy0.opp-power: what takes effect "
				     "when wakegovd starts cannot be a profile's");
}
