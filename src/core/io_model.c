// SPDX-License-Identifier: GPL-2.0-only
/*
 * Amdahl's law for I/O: from the host's share of the time of one I/O to the gain at another
 * frequency, and back.
 */
#include "core/io_model.h"

#include "core/opp.h"

uint32_t io_level_at(const struct topology_domain *domain, uint32_t khz)
{
	uint32_t level = ((uint64_t)domain->capacity << 10) * khz /
			 topology_domain_reference_khz(domain);

	return level ? level : 1;
}

uint32_t io_ratio_of_share(uint32_t share_ppm, uint32_t level)
{
	if (share_ppm > IO_SHARE_MAX)
		share_ppm = IO_SHARE_MAX;
	return (uint64_t)level * share_ppm / (IO_PPM - share_ppm);
}

uint32_t io_share_of_ratio(uint32_t ratio, uint32_t level)
{
	return (uint64_t)ratio * IO_PPM / ((uint64_t)ratio + level);
}

uint32_t io_saved_ppm(uint32_t ratio, uint32_t from, uint32_t to)
{
	if (to <= from)
		return 0;
	return (uint64_t)io_share_of_ratio(ratio, from) * (to - from) / to;
}

uint32_t io_ratio_of_saved(uint32_t saved_ppm, uint32_t from, uint32_t to)
{
	uint64_t share_ppm = to > from ? (uint64_t)saved_ppm * to / (to - from) : 0;

	return io_ratio_of_share(share_ppm < IO_PPM ? share_ppm : IO_SHARE_MAX, from);
}

/* X is proportional to f / (f + ρ), so 1 − X(f) / X(F) = ρ (F − f) / (F (f + ρ)). */
uint32_t io_loss_ppm(uint32_t ratio, uint32_t level, uint32_t highest)
{
	if (level >= highest)
		return 0;
	return (uint64_t)ratio * (highest - level) / ((uint64_t)level + ratio) * IO_PPM / highest;
}

uint32_t io_ratio_hold(uint32_t held, uint32_t now)
{
	return 8ULL * now > 9ULL * held || 3ULL * now < 2ULL * held ? now : held;
}

uint32_t io_choose_khz(const struct topology_domain *domain, uint32_t ratio, uint32_t slack_ppm,
		       uint32_t min_khz, uint32_t max_khz)
{
	uint32_t highest_khz = opp_at_or_above(domain, max_khz, min_khz, max_khz);
	uint32_t highest = io_level_at(domain, highest_khz);

	for (uint32_t i = 0; i < domain->n_opps; i++) {
		uint32_t khz = domain->opp_khz[i];

		if (khz >= min_khz && khz < highest_khz &&
		    io_loss_ppm(ratio, io_level_at(domain, khz), highest) <= slack_ppm)
			return opp_at_or_above(domain, khz, min_khz, max_khz);
	}
	return highest_khz;
}
