// SPDX-License-Identifier: GPL-2.0-only
#include "core/utilisation.h"

#include "core/opp.h"
#include "wakegov/decay.h"

uint32_t utilisation_demand_cap(uint32_t util_q, uint32_t headroom_percent)
{
	uint64_t percent_of_q = 100ULL << DECAY_Q_SHIFT;

	/* Rounded up, so that any utilisation is a demand. */
	return ((uint64_t)util_q * headroom_percent + percent_of_q - 1) / percent_of_q;
}

uint32_t utilisation_burst_cap(uint32_t capacity, uint64_t burst_ns, uint64_t rise_time_ns)
{
	return burst_ns < rise_time_ns ? capacity * burst_ns / rise_time_ns : capacity;
}

/* The shortest burst that demands one unit more, less a nanosecond. */
uint64_t utilisation_covered_burst_ns(const struct topology_domain *domain, uint32_t khz,
				      uint64_t rise_time_ns)
{
	uint64_t next_cap = opp_cap_at_khz(domain, khz) + 1;

	return (next_cap * rise_time_ns + domain->capacity - 1) / domain->capacity - 1;
}

/*
 * The exact inverse of the demand, with both of its roundings: utilisation reaches this value at
 * the moment when the decision changes.
 */
uint32_t utilisation_covered_q(const struct topology_domain *domain, uint32_t khz,
			       uint32_t headroom_percent)
{
	return ((uint64_t)opp_cap_at_khz(domain, khz) << DECAY_Q_SHIFT) * 100 / headroom_percent;
}

/* Bisects over the decay function itself, so that the two cannot disagree. */
uint64_t utilisation_decay_ns(uint32_t util_q, uint32_t threshold_q)
{
	uint64_t low_ns = 0, high_ns = 32 * DECAY_HALF_LIFE_NS;

	if (util_q < threshold_q)
		return 0;
	if (!threshold_q)
		return UINT64_MAX;
	while (high_ns - low_ns > 1000) {
		uint64_t mid_ns = low_ns + (high_ns - low_ns) / 2;

		if (decay_toward(util_q, 0, mid_ns) < threshold_q)
			high_ns = mid_ns;
		else
			low_ns = mid_ns;
	}
	return high_ns;
}
