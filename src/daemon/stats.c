// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/stats.h"

#include <assert.h>
#include <stdlib.h>

struct held {
	uint32_t khz; /* 0: nothing is counted */
	uint64_t since_ns;
	uint64_t opp_ns[DOMAIN_OPPS_MAX]; /* up to since_ns */
};

struct stats {
	const struct topology *topology;
	uint64_t decisions[REASON_LAST + 1];
	uint64_t limits[LIMITER_LAST + 1];
	struct held domains[];
};

struct stats *stats_new(const struct topology *topology)
{
	struct stats *stats =
		calloc(1, sizeof(*stats) + topology->n_domains * sizeof(stats->domains[0]));

	if (stats)
		stats->topology = topology;
	return stats;
}

struct stats *stats_free(struct stats *stats)
{
	free(stats);
	return NULL;
}

/* The time at the OPP since the last decision for the domain. */
static uint64_t present_ns(const struct stats *stats, uint32_t domain, uint32_t opp,
			   uint64_t now_ns)
{
	const struct held *held = &stats->domains[domain];

	if (stats->topology->domains[domain].opp_khz[opp] != held->khz || now_ns < held->since_ns)
		return 0;
	return now_ns - held->since_ns;
}

uint64_t stats_opp_ns(const struct stats *stats, uint32_t domain, uint32_t opp, uint64_t now_ns)
{
	return stats->domains[domain].opp_ns[opp] + present_ns(stats, domain, opp, now_ns);
}

void stats_set_target(struct stats *stats, uint32_t domain, uint32_t khz, uint64_t now_ns)
{
	struct held *held = &stats->domains[domain];

	for (uint32_t opp = 0; opp < stats->topology->domains[domain].n_opps; opp++)
		held->opp_ns[opp] += present_ns(stats, domain, opp, now_ns);
	held->khz = khz;
	held->since_ns = now_ns;
}

void stats_add_decision(struct stats *stats, const struct decision *decision)
{
	assert(decision->reason <= REASON_LAST && decision->limiter <= LIMITER_LAST);
	stats->decisions[decision->reason]++;
	stats->limits[decision->limiter]++;
}

uint64_t stats_limits(const struct stats *stats, enum limiter limiter)
{
	return stats->limits[limiter];
}

uint64_t stats_decisions(const struct stats *stats, enum reason reason)
{
	return stats->decisions[reason];
}
