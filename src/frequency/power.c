// SPDX-License-Identifier: GPL-2.0-only
/* The power of a domain's OPPs: from the policy, the kernel's energy model, or an estimate. */
#include "frequency/power.h"

#include <inttypes.h>
#include <string.h>

#include "shared/sysfs.h"

/* Documentation/power/energy-model.rst: named after the domain's first CPU. */
#define MODEL "/sys/kernel/debug/energy_model/cpu%" PRIu32 "/ps:%" PRIu32 "/power"

const char *power_source_name(enum power_source source)
{
	static const char *const names[] = {
		[POWER_UNKNOWN] = NULL,
		[POWER_POLICY] = "the policy's opp-power",
		[POWER_KERNEL] = "the kernel's energy model",
	};

	return names[source];
}

enum power_source power_find(const struct policy *policy, struct topology_domain *domain)
{
	uint32_t section = policy_powers_section(policy, domain->name);

	for (int source = POWER_POLICY; source <= POWER_KERNEL; source++) {
		uint32_t i = 0;

		for (; i < domain->n_opps; i++) {
			uint32_t khz = domain->opp_khz[i];
			double power;

			if (source == POWER_POLICY)
				power = policy_power_at(policy, section, khz);
			else if (!sysfs_read_number(&power, MODEL, domain->first_cpu, khz))
				break;
			if (power < 1 || power > UINT32_MAX)
				break;
			domain->opp_power[i] = (uint32_t)power;
		}
		if (i == domain->n_opps)
			return source;
	}
	memset(domain->opp_power, 0, sizeof(domain->opp_power));
	return POWER_UNKNOWN;
}
