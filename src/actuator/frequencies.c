// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/frequencies.h"

#include <cpufreq.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/control.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"

#define STEP_KHZ 100000

struct khz_list {
	size_t n;
	uint32_t *khz;
};

/* Appends what fits a uint32_t and is not 0. */
static int append(struct khz_list *list, const struct cpufreq_available_frequencies *first)
{
	size_t n = list->n;
	uint32_t *grown;

	for (const struct cpufreq_available_frequencies *at = first; at; at = at->next)
		n++;
	grown = realloc(list->khz, (n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;

	list->khz = grown;
	for (const struct cpufreq_available_frequencies *at = first; at; at = at->next)
		if (at->frequency > 0 && at->frequency <= UINT32_MAX)
			list->khz[list->n++] = (uint32_t)at->frequency;
	return 0;
}

/* Newer kernels have a switch per domain, older ones one for all. */
static bool boost_is_on(uint32_t policy)
{
	double on;

	return (sysfs_read_number(&on, CONTROL_DIRECTORY "/policy%u/boost", policy) ||
		sysfs_read_number(&on, CONTROL_DIRECTORY "/boost")) &&
	       on == 1;
}

static int collect(uint32_t policy, struct khz_list *list)
{
	struct cpufreq_available_frequencies *first = cpufreq_get_available_frequencies(policy);
	int r = append(list, first);

	cpufreq_put_available_frequencies(first);
	if (r < 0 || list->n == 0 || !boost_is_on(policy))
		return r;

	first = cpufreq_get_boost_frequencies(policy);
	r = append(list, first);
	cpufreq_put_boost_frequencies(first);
	return r;
}

static int compare_khz(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

static void sort_unique(struct khz_list *list)
{
	size_t n = 0;

	qsort(list->khz, list->n, sizeof(*list->khz), compare_khz);
	for (size_t i = 0; i < list->n; i++)
		if (n == 0 || list->khz[n - 1] != list->khz[i])
			list->khz[n++] = list->khz[i];
	list->n = n;
}

static void take_table(struct topology_domain *domain, struct khz_list *list)
{
	size_t n;

	sort_unique(list);
	n = list->n < DOMAIN_OPPS_MAX ? list->n : DOMAIN_OPPS_MAX;
	for (size_t i = 0; i < n; i++) {
		size_t from = n > 1 ? i * (list->n - 1) / (n - 1) : 0;

		domain->opp_khz[i] = list->khz[from];
	}
	domain->n_opps = (uint32_t)n;
}

static int take_steps(struct topology_domain *domain)
{
	unsigned long min_khz = 0, max_khz = 0, step_khz = STEP_KHZ;

	if (cpufreq_get_hardware_limits(domain->first_cpu, &min_khz, &max_khz) != 0 ||
	    min_khz == 0 || min_khz > max_khz || max_khz > UINT32_MAX)
		return -ENODATA;

	while ((max_khz - min_khz) / step_khz + 2 > DOMAIN_OPPS_MAX)
		step_khz += STEP_KHZ;

	domain->n_opps = 0;
	for (unsigned long khz = min_khz; khz < max_khz; khz += step_khz)
		domain->opp_khz[domain->n_opps++] = (uint32_t)khz;
	domain->opp_khz[domain->n_opps++] = (uint32_t)max_khz;
	return 0;
}

int frequencies_discover(struct topology_domain *domain)
{
	struct khz_list list = { 0 };
	int r = collect(domain->first_cpu, &list);

	if (r == 0 && list.n > 0)
		take_table(domain, &list);
	else if (r == 0)
		r = take_steps(domain);
	free(list.khz);
	return r;
}
