// SPDX-License-Identifier: GPL-2.0-only
/* What a policy asks of domains that a machine does not have. */
#include "test-core.h"

#include <stdio.h>

#include "config/keys.h"
#include "config/load.h"

static struct policy policy;
static struct topology *topology; /* policy0 and policy2, 800 to 2400 MHz in steps of 200 */
static char said[1024];

static void hear(void *userdata, const char *line)
{
	strcat(strcat(said, line), "\n");
}

static int set_up(void **state)
{
	policy_init(&policy);
	topology = test_topology_usual(2, 2);
	strcpy(topology->domains[0].name, "policy0");
	strcpy(topology->domains[1].name, "policy2");
	return 0;
}

static int tear_down(void **state)
{
	free(topology);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static struct policy_domain_section *add_override(const char *name, uint32_t given)
{
	struct policy_domain_section *section = &policy.domain_sections[policy.n_domain_sections++];

	*section = (struct policy_domain_section){ .given = given };
	strcpy(section->name, name);
	return section;
}

static void expect(const char *lines)
{
	said[0] = '\0';
	policy_machine_check(&policy, topology, hear, NULL);
	assert_string_equal(said, lines);
}

FIXTURE_TEST(test_good)
{
	expect("");
	policy.domain.min = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1000000 };
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_PERCENT, 71 };
	add_override("policy2", POLICY_DOMAIN_BIT(headroom_percent));
	expect("");
}

/* The frequency that stands in for it is the one that the core takes. */
FIXTURE_TEST(test_no_such_frequency)
{
	policy.domain.min = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1100000 };
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 2300500 };
	expect("[domain] min-frequency = 1100 MHz: policy0 has no such frequency, 1200 MHz is "
	       "used\n"
	       "[domain] max-frequency = 2300.5 MHz: policy0 has no such frequency, 2200 MHz is "
	       "used\n");
	policy.domain.min.value = 5000000;
	policy.domain.max.value = 100000;
	expect("[domain] min-frequency = 5000 MHz: policy0 has no such frequency, 2400 MHz is "
	       "used\n"
	       "[domain] max-frequency = 100 MHz: policy0 has no such frequency, 800 MHz is "
	       "used\n");
}

/* [domain] is for all: it is odd where no domain has it that it holds for. */
FIXTURE_TEST(test_one_domain_has_it)
{
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1900000 };
	topology->domains[1].opp_khz[5] = 1900000;
	expect("");
	add_override("policy2", POLICY_DOMAIN_BIT(max))->values.max =
		(struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1850000 };
	expect("[domain] max-frequency = 1900 MHz: policy0 has no such frequency, 1800 MHz is used\n"
	       "[domain policy2] max-frequency = 1850 MHz: policy2 has no such frequency, 1600 MHz "
	       "is used\n");
}

FIXTURE_TEST(test_no_such_domain)
{
	add_override("policy4", POLICY_DOMAIN_BIT(max))->values.max =
		(struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1 };
	expect("[domain policy4] does nothing: this machine has no such domain (see wakegovctl "
	       "domains)\n");
}

static void add_powers(uint32_t section)
{
	for (uint32_t i = 0; i < topology->domains[0].n_opps; i++)
		policy.opp_powers[policy.n_opp_powers++] =
			(struct policy_opp_power){ section, topology->domains[0].opp_khz[i], 1000 };
}

/* Powers serve the domains of which every OPP has one. */
FIXTURE_TEST(test_opp_power)
{
	add_powers(0);
	expect("");
	topology->domains[1].opp_khz[5] = 1900000;
	expect("[domain] opp-power is not used for policy2: 1 of its 9 frequencies are missing, "
	       "1900 MHz among them\n");
	add_override("policy2", 0);
	add_powers(1);
	expect("[domain policy2] opp-power: policy2 has no 1800 MHz; its line does nothing\n"
	       "[domain policy2] opp-power is not used for policy2: 1 of its 9 frequencies are "
	       "missing, 1900 MHz among them\n");
	policy.opp_powers[policy.n_opp_powers - 4].khz = 1900000;
	expect("");
}
