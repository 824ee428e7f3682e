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

uint32_t opp_at_or_above(const struct topology_domain *domain, uint32_t khz, uint32_t min_khz,
			 uint32_t max_khz)
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

uint32_t opp_below(const struct topology_domain *domain, uint32_t khz)
{
	uint32_t below = 0;

	for (uint32_t i = 0; i < domain->n_opps && domain->opp_khz[i] < khz; i++)
		below = domain->opp_khz[i];
	return below;
}

bool opp_is_one(const struct topology_domain *domain, uint32_t khz)
{
	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (domain->opp_khz[i] == khz)
			return true;
	return false;
}
