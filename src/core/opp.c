// SPDX-License-Identifier: GPL-2.0-only
#include "core/opp.h"

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

bool opp_is_one(const struct topology_domain *domain, uint32_t khz)
{
	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (domain->opp_khz[i] == khz)
			return true;
	return false;
}
