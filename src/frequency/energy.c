// SPDX-License-Identifier: GPL-2.0-only
#include "frequency/energy.h"

double energy_power_share(double khz, double highest_khz)
{
	double f = khz / highest_khz, volts = 0.6 + 0.4 * f;

	return f * volts * volts;
}

double energy_share_in(const struct topology_domain *domain, double khz)
{
	double highest = domain->opp_power[domain->n_opps - 1], low_khz = 0, low = 0;

	if (!highest)
		return energy_power_share(khz, topology_domain_max_khz(domain));
	for (uint32_t i = 0; i < domain->n_opps; i++) {
		double high_khz = domain->opp_khz[i], high = domain->opp_power[i];

		if (khz <= high_khz)
			return (low + (high - low) * (khz - low_khz) / (high_khz - low_khz)) /
			       highest;
		low_khz = high_khz;
		low = high;
	}
	return 1;
}
