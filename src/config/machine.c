// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a policy with the machine: what cannot take effect here, such as a frequency that no
 * domain has, is a warning by file and line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "core/opp.h"
#include "shared/cleanup.h"

#define LINE_SIZE 256

struct check {
	const struct policy *policy;
	const struct topology *topology;
	void (*warn)(void *userdata, const char *line);
	void *userdata;
};

__attribute__((format(printf, 2, 3))) static void warn(const struct check *check,
						       const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	check->warn(check->userdata, line);
}

static const struct limit {
	const char *key;
	uint32_t field;
} limits[] = {
	{ "min-frequency", POLICY_DOMAIN_BIT(min) },
	{ "max-frequency", POLICY_DOMAIN_BIT(max) },
};

/* Whether [domain policyN] gives the domain a value of its own. */
static bool is_overridden(const struct policy *policy, const char *domain, uint32_t field)
{
	for (uint32_t i = 0; i < policy->n_domain_sections; i++)
		if (!strcmp(policy->domain_sections[i].name, domain))
			return policy->domain_sections[i].given & field;
	return false;
}

/* section: of a domain, or NULL for [domain], which may suit one domain and not another. */
static void check_limit(const struct check *check, const char *section, const struct limit *limit,
			const struct policy_domain *values)
{
	bool is_min = limit->field == POLICY_DOMAIN_BIT(min);
	const struct policy_frequency *wanted = is_min ? &values->min : &values->max;
	const struct topology_domain *odd = NULL;
	uint32_t used_khz;

	if (wanted->kind != POLICY_FREQUENCY_KHZ)
		return;
	for (uint32_t i = 0; i < check->topology->n_domains; i++) {
		const struct topology_domain *domain = &check->topology->domains[i];

		if (section ? strcmp(section, domain->name) != 0
			    : is_overridden(check->policy, domain->name, limit->field))
			continue;
		if (opp_is_one(domain, wanted->value))
			return;
		odd = odd ?: domain;
	}
	if (!odd)
		return;
	/* The lowest at or above a minimum, the highest up to a maximum. */
	used_khz = opp_at_or_above(odd, wanted->value, 0, is_min ? UINT32_MAX : wanted->value);
	warn(check, "[domain%s%s] %s = %g MHz: %s has no such frequency, %u MHz is used",
	     section ? " " : "", section ?: "", limit->key, wanted->value / 1000.0, odd->name,
	     (used_khz + 500) / 1000);
}

/* Powers are used if every OPP of the domain has one. */
static void check_powers(const struct check *check, const struct topology_domain *domain)
{
	uint32_t section = policy_powers_section(check->policy, domain->name);
	uint32_t missing_khz = 0, n_missing = 0;

	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (!policy_power_at(check->policy, section, domain->opp_khz[i])) {
			missing_khz = missing_khz ?: domain->opp_khz[i];
			n_missing++;
		}
	if (n_missing)
		warn(check,
		     "[domain%s%s] opp-power is not used for %s: %u of its %u frequencies are "
		     "missing, %g MHz among them",
		     section ? " " : "", section ? domain->name : "", domain->name, n_missing,
		     domain->n_opps, missing_khz / 1000.0);
}

static void check_all_powers(const struct check *check)
{
	const struct policy *policy = check->policy;
	bool given[POLICY_DOMAIN_SECTIONS_MAX + 1] = { false };

	for (uint32_t i = 0; i < policy->n_opp_powers; i++) {
		const struct policy_opp_power *power = &policy->opp_powers[i];
		const char *name = power->section ? policy->domain_sections[power->section - 1].name
						  : NULL;
		uint32_t domain = name ? topology_find(check->topology, name) : TOPOLOGY_NO_DOMAIN;

		given[power->section] = true;
		if (domain != TOPOLOGY_NO_DOMAIN &&
		    !opp_is_one(&check->topology->domains[domain], power->khz))
			warn(check,
			     "[domain %s] opp-power: %s has no %g MHz; its line does nothing", name,
			     name, power->khz / 1000.0);
	}
	for (uint32_t i = 0; i < check->topology->n_domains; i++)
		if (given[policy_powers_section(policy, check->topology->domains[i].name)])
			check_powers(check, &check->topology->domains[i]);
}

void policy_machine_check(const struct policy *policy, const struct topology *topology,
			  void (*warn_user)(void *userdata, const char *line), void *userdata)
{
	const struct check check = { policy, topology, warn_user, userdata };

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		check_limit(&check, NULL, &limits[i], &policy->domain);
	check_all_powers(&check);
	for (uint32_t i = 0; i < policy->n_domain_sections; i++) {
		const struct policy_domain_section *section = &policy->domain_sections[i];

		if (topology_find(topology, section->name) == TOPOLOGY_NO_DOMAIN) {
			warn(&check,
			     "[domain %s] does nothing: this machine has no such domain (see "
			     "wakegovctl domains)",
			     section->name);
			continue;
		}
		for (size_t j = 0; j < ARRAY_SIZE(limits); j++)
			if (section->given & limits[j].field)
				check_limit(&check, section->name, &limits[j], &section->values);
	}
}
