// SPDX-License-Identifier: GPL-2.0-only
/* Conversions between utilisation, capacity and frequency, and the choice of an OPP. */
#include "core/opp.h"

#include "wakegov/decay.h"

uint32_t opp_khz_for_cap(const struct topology_domain *domain, uint32_t cap)
{
	uint64_t scaled = (uint64_t)topology_domain_reference_khz(domain) * cap;
	uint64_t khz = (scaled + domain->capacity - 1) / domain->capacity;

	return khz > UINT32_MAX ? UINT32_MAX : khz;
}

uint32_t opp_cap_at_khz(const struct topology_domain *domain, uint32_t khz)
{
	uint64_t cap = (uint64_t)domain->capacity * khz / topology_domain_reference_khz(domain);

	return cap < domain->capacity ? cap : domain->capacity;
}

uint32_t opp_lowest_at_or_above(const struct topology_domain *domain, uint32_t khz,
				uint32_t min_khz, uint32_t max_khz)
{
	uint32_t chosen = domain->opp_khz[0];

	if (khz < min_khz)
		khz = min_khz;
	for (uint32_t i = 0; i < domain->n_opps; i++) {
		if (domain->opp_khz[i] > max_khz)
			break;
		chosen = domain->opp_khz[i];
		if (chosen >= khz)
			break;
	}
	return chosen;
}

/* The energy of a cycle, in 2⁻³² of the power's unit per kHz. */
static uint64_t energy_of(const struct topology_domain *domain, uint32_t i)
{
	return ((uint64_t)domain->opp_power[i] << 32) / domain->opp_khz[i];
}

/*
 * Whether an OPP takes more energy than *least, by more than a thousandth, as powers are rounded.
 * Sets *least to the lesser.
 */
static bool takes_more(uint64_t energy, uint64_t *least)
{
	bool more = energy - energy / 1000 > *least;

	if (energy < *least)
		*least = energy;
	return more;
}

/* The index of the highest OPP up to max_khz, or 0. */
static uint32_t highest_within(const struct topology_domain *domain, uint32_t max_khz)
{
	uint32_t i = domain->n_opps - 1;

	while (i && domain->opp_khz[i] > max_khz)
		i--;
	return i;
}

uint32_t opp_at_or_above(const struct topology_domain *domain, uint32_t khz, uint32_t min_khz,
			 uint32_t max_khz)
{
	uint64_t least = UINT64_MAX;
	uint32_t chosen;

	if (!domain->opp_power[0])
		return opp_lowest_at_or_above(domain, khz, min_khz, max_khz);
	if (khz < min_khz)
		khz = min_khz;
	chosen = highest_within(domain, max_khz);
	for (uint32_t i = chosen + 1; i-- > 0 && domain->opp_khz[i] >= khz;)
		if (!takes_more(energy_of(domain, i), &least))
			chosen = i;
	return domain->opp_khz[chosen];
}

uint32_t opp_below(const struct topology_domain *domain, uint32_t khz, uint32_t max_khz)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = highest_within(domain, max_khz) + 1; i-- > 0;)
		if (!takes_more(energy_of(domain, i), &least) && domain->opp_khz[i] < khz)
			return domain->opp_khz[i];
	return 0;
}

uint32_t opp_better_khz(const struct topology_domain *domain, uint32_t i)
{
	uint32_t khz = opp_at_or_above(domain, domain->opp_khz[i], 0, UINT32_MAX);

	return khz == domain->opp_khz[i] ? 0 : khz;
}

uint32_t opp_clamp(const struct topology_domain *domain, uint32_t khz)
{
	uint32_t max_khz = topology_domain_max_khz(domain);

	if (khz < domain->opp_khz[0])
		return domain->opp_khz[0];
	return khz > max_khz ? max_khz : khz;
}

bool opp_add(struct topology_domain *domain, uint32_t khz, uint32_t power)
{
	if (khz <= topology_domain_max_khz(domain) || domain->n_opps >= DOMAIN_OPPS_MAX)
		return false;
	if (!power)
		memset(domain->opp_power, 0, sizeof(domain->opp_power));
	domain->opp_power[domain->n_opps] = power;
	domain->opp_khz[domain->n_opps++] = khz;
	return true;
}

bool opp_is_one(const struct topology_domain *domain, uint32_t khz)
{
	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (domain->opp_khz[i] == khz)
			return true;
	return false;
}

#define TYPICAL_UW 4000000ULL /* of a busy CPU at its highest OPP, where it is not known */

static uint64_t power_uw(const struct topology_domain *domain, uint32_t i)
{
	uint64_t permille = 1000ULL * domain->opp_khz[i] / topology_domain_max_khz(domain);
	uint64_t volts = 600 + permille * 2 / 5; /* permille as well */

	if (domain->opp_power[0])
		return domain->opp_power[i];
	return TYPICAL_UW * permille * volts / 1000 * volts / 1000000;
}

uint32_t opp_worth_waiting(const struct topology_domain *domain, uint64_t price_uw)
{
	uint64_t least = UINT64_MAX;
	uint32_t chosen = 0;

	for (uint32_t i = 0; i < domain->n_opps; i++) {
		uint64_t cost = ((power_uw(domain, i) + price_uw) << 24) / domain->opp_khz[i];

		if (cost > least)
			continue;
		least = cost;
		chosen = domain->opp_khz[i];
	}
	return chosen;
}

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
