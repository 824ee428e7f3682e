// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"
#include "sim/result.h"

#define SLACK		 0.98
#define COMBINATIONS_MAX 512
#define TRIAL_SHARE	 4 /* a trial is as much shorter than the run that it finds */
#define TRIAL_MIN_NS	 1000000000ULL

struct trial {
	uint32_t khz[PLATFORM_DOMAINS_MAX];
	double done; /* I/Os and rounds in a second */
	double mhz;
};

static bool are_alike(const struct platform_domain *a, const struct platform_domain *b)
{
	return a->n_opps == b->n_opps && a->work_permille == b->work_permille &&
	       !memcmp(a->opps, b->opps, a->n_opps * sizeof(a->opps[0]));
}

/* The first domain that is like this one; itself if none is. */
static uint32_t leader(const struct platform *platform, uint32_t domain)
{
	for (uint32_t i = 0; i < domain; i++)
		if (are_alike(&platform->domains[i], &platform->domains[domain]))
			return i;
	return domain;
}

/* Counts the combination on, like an odometer of OPPs; false after the last. */
static bool next_combination(const struct platform *platform, uint32_t *opps)
{
	for (uint32_t i = 0; i < platform->n_domains; i++) {
		if (leader(platform, i) != i)
			continue;
		if (++opps[i] < platform->domains[i].n_opps)
			return true;
		opps[i] = 0;
	}
	return false;
}

static uint64_t count_combinations(const struct platform *platform)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < platform->n_domains && n <= COMBINATIONS_MAX; i++)
		if (leader(platform, i) == i)
			n *= platform->domains[i].n_opps;
	return n;
}

static int try_one(const struct platform *platform, const struct workload *workload,
		   const struct run_options *options, const uint32_t *opps, struct trial *ret)
{
	struct result result;
	int r;

	for (uint32_t i = 0; i < platform->n_domains; i++)
		ret->khz[i] = platform->domains[i].opps[opps[leader(platform, i)]].khz;
	r = result_run(platform, workload, &sim_governor_fixed, ret->khz, options, &result);
	if (r < 0)
		return r;
	ret->done = result.iops + result.rounds_per_s;
	ret->mhz = result.mean_mhz;
	return 0;
}

static const struct trial *choose(const struct trial *trials, uint64_t n)
{
	const struct trial *best = NULL;
	double most = 0;

	for (uint64_t i = 0; i < n; i++)
		if (trials[i].done > most)
			most = trials[i].done;
	for (uint64_t i = 0; i < n; i++)
		if (trials[i].done >= SLACK * most && (!best || trials[i].mhz < best->mhz))
			best = &trials[i];
	return best;
}

int oracle_run(const struct platform *platform, const struct workload *workload,
	       const struct run_options *options, struct result *ret)
{
	uint64_t n = count_combinations(platform), i = 0;
	uint32_t opps[PLATFORM_DOMAINS_MAX] = {};
	struct run_options trial_options = *options;
	_cleanup_free_ struct trial *trials = NULL;
	int r;

	if (n > COMBINATIONS_MAX)
		return -E2BIG;
	trials = calloc(n, sizeof(*trials));
	if (!trials)
		return -ENOMEM;
	trial_options.warm_up_ns = options->warm_up_ns / TRIAL_SHARE;
	trial_options.duration_ns /= TRIAL_SHARE;
	if (trial_options.duration_ns < TRIAL_MIN_NS)
		trial_options.duration_ns = TRIAL_MIN_NS;
	do {
		r = try_one(platform, workload, &trial_options, opps, &trials[i++]);
		if (r < 0)
			return r;
	} while (next_combination(platform, opps));
	return result_run(platform, workload, &sim_governor_fixed, choose(trials, n)->khz, options,
			  ret);
}
