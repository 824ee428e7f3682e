// SPDX-License-Identifier: GPL-2.0-only
#include "record/opp_times.h"

static uint32_t index_of(const struct topology_domain *info, uint32_t khz)
{
	uint32_t i = 0;

	while (i + 1 < info->n_opps && info->opp_khz[i] < khz)
		i++;
	return i;
}

void opp_times_set(struct opp_times *times, uint32_t khz, uint64_t now_ns)
{
	/* Times of one round can go back a little; those of a forged file may be anything. */
	if (now_ns > times->since_ns) {
		if (times->khz)
			times->at_ns[index_of(times->info, times->khz)] += now_ns - times->since_ns;
		times->since_ns = now_ns;
	}
	if (times->khz && khz && khz != times->khz)
		times->changes++;
	times->khz = khz;
}

uint64_t opp_times_total_ns(const struct opp_times *times)
{
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < times->info->n_opps; i++)
		total_ns += times->at_ns[i];
	return total_ns;
}

uint32_t opp_times_mean_khz(const struct opp_times *times)
{
	uint64_t total_ns = opp_times_total_ns(times);
	double sum = 0;

	for (uint32_t i = 0; i < times->info->n_opps; i++)
		sum += (double)times->at_ns[i] * times->info->opp_khz[i];
	return total_ns ? (uint32_t)(sum / (double)total_ns + 0.5) : 0;
}
