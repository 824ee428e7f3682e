// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each domain holds its present target and reason. When one of them changes, the time since the
 * last change goes to the cell of that OPP and reason.
 */
#include "daemon/history/past.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stats *stats_new(const struct topology *topology)
{
	struct stats *stats =
		calloc(1, sizeof(*stats) + topology->n_domains * sizeof(stats->domains[0]));

	if (!stats)
		return NULL;
	stats->topology = topology;
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		struct held *held = &stats->domains[i];

		held->ns = calloc(topology->domains[i].n_opps, sizeof(held->ns[0]));
		if (!held->ns)
			return stats_free(stats);
	}
	return stats;
}

struct stats *stats_free(struct stats *stats)
{
	for (uint32_t i = 0; stats && i < stats->topology->n_domains; i++)
		free(stats->domains[i].ns);
	free(stats);
	return NULL;
}

int stats_add_opp(struct stats *stats, uint32_t domain)
{
	uint32_t n_opps = stats->topology->domains[domain].n_opps;
	struct held *held = &stats->domains[domain];
	uint64_t(*ns)[REASON_LAST + 1] = realloc(held->ns, (n_opps + 1) * sizeof(*ns));

	if (!ns)
		return -ENOMEM;
	memset(ns[n_opps], 0, sizeof(ns[n_opps]));
	held->ns = ns;
	return 0;
}

static void close_interval(struct stats *stats, uint32_t domain, uint64_t now_ns)
{
	const struct topology_domain *info = &stats->topology->domains[domain];
	struct held *held = &stats->domains[domain];
	uint32_t opp = 0;

	while (opp < info->n_opps && info->opp_khz[opp] != held->khz)
		opp++;
	if (opp < info->n_opps && now_ns > held->since_ns)
		held->ns[opp][held->reason] += now_ns - held->since_ns;
	held->since_ns = now_ns;
}

void stats_set_target(struct stats *stats, uint32_t domain, uint32_t khz, uint64_t now_ns)
{
	close_interval(stats, domain, now_ns);
	stats->domains[domain].khz = khz;
}

void stats_set_reason(struct stats *stats, uint32_t domain, enum reason reason, uint64_t now_ns)
{
	close_interval(stats, domain, now_ns);
	stats->domains[domain].reason = reason;
}

void stats_catch_up(struct stats *stats, uint64_t now_ns)
{
	for (uint32_t i = 0; i < stats->topology->n_domains; i++)
		close_interval(stats, i, now_ns);
}

void stats_add_decision(struct stats *stats, const struct decision *decision)
{
	assert(decision->reason <= REASON_LAST && decision->limiter <= LIMITER_LAST);
	stats->decisions[decision->reason]++;
	stats->limits[decision->limiter]++;
}

/* The last row takes everything for which there is no room. */
static struct stats_gain *find_gain(struct stats *stats, const struct stats_gain *like)
{
	struct stats_gain *gain = stats->gains;

	for (; gain < stats->gains + stats->n_gains; gain++)
		if (!strcmp(gain->comm, like->comm) && !strcmp(gain->device, like->device))
			return gain;
	if (stats->n_gains == STATS_GAINS_MAX)
		return gain - 1;
	if (++stats->n_gains == STATS_GAINS_MAX) {
		strcpy(gain->comm, "others");
		return gain;
	}
	memcpy(gain->comm, like->comm, sizeof(gain->comm));
	memcpy(gain->device, like->device, sizeof(gain->device));
	return gain;
}

void stats_add_gain(struct stats *stats, const struct stats_gain *gain)
{
	struct stats_gain *sum = find_gain(stats, gain);

	sum->ios += gain->ios;
	sum->gained += gain->gained;
	sum->gained_error += gain->gained_error;
}
