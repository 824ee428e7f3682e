// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/benefit_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frequency/power.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"

#define POLICY "%s/devices/system/cpu/cpufreq/policy%" PRIu32

static FILE *open_domain(const struct model *model, const struct model_domain *domain,
			 const char *name)
{
	char path[SYSFS_PATH_SIZE];

	snprintf(path, sizeof(path), POLICY "/%s", model->sys, domain->policy, name);
	return fopen(path, "re");
}

/*
 * Parses lines of kHz and hundredths of a second. Returns the seconds since the last reading, by
 * OPP.
 */
static double read_times(const struct model *model, struct model_domain *domain,
			 double ret_s[MODEL_OPPS_MAX])
{
	_cleanup_fclose_ FILE *file = open_domain(model, domain, "stats/time_in_state");
	double khz, hundredths, sum_s = 0;

	memset(ret_s, 0, sizeof(double) * MODEL_OPPS_MAX);
	while (file && fscanf(file, "%lf %lf", &khz, &hundredths) == 2)
		for (uint32_t i = 0; i < domain->n_opps; i++) {
			struct model_opp *opp = &domain->opps[i];

			if (opp->khz != khz)
				continue;
			ret_s[i] = hundredths / 100 - opp->time_s;
			opp->time_s = hundredths / 100;
			sum_s += ret_s[i];
		}
	return sum_s;
}

/*
 * Sums n numbers of each CPU's line, beginning with one; the first number is 0. CPUs without a line
 * get -1.
 */
static void read_cpus(const struct model *model, const char *name, int from, int n, double per_s,
		      double ret_s[MODEL_CPUS_MAX])
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[SYSFS_PATH_SIZE], line[512], *at;

	for (uint32_t cpu = 0; cpu < MODEL_CPUS_MAX; cpu++)
		ret_s[cpu] = -1;
	snprintf(path, sizeof(path), "%s/%s", model->proc, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		double sum = 0;
		unsigned long cpu;

		/* Skips "cpu  …", the line of all CPUs. */
		if (strncmp(line, "cpu", 3) != 0 || line[3] == ' ')
			continue;
		cpu = strtoul(line + 3, &at, 10);
		for (int i = 0; i < from + n; i++) {
			double number = strtod(at, &at);

			if (i >= from)
				sum += number;
		}
		if (cpu < MODEL_CPUS_MAX)
			ret_s[cpu] = sum / per_s;
	}
}

/* Returns the busy seconds since the last reading, by domain. */
static void read_busy(struct model *model, uint64_t now_ns, double *ret_s)
{
	double idle_s[MODEL_CPUS_MAX], ran_s[MODEL_CPUS_MAX];

	/* proc(5): user, nice, system, idle and iowait, in ticks. */
	read_cpus(model, "stat", 3, 2, (double)sysconf(_SC_CLK_TCK), idle_s);
	/*
	 * Documentation/scheduler/sched-stats.rst: the seventh number is the run time of tasks in
	 * ns.
	 */
	read_cpus(model, "schedstat", 6, 1, 1e9, ran_s);
	for (uint32_t i = 0; i < MODEL_CPUS_MAX; i++) {
		struct model_cpu *cpu = &model->cpus[i];
		double busy_s;

		if (idle_s[i] < 0)
			continue;
		if (!cpu->since_ns)
			*cpu = (struct model_cpu){ cpu->domain, now_ns, idle_s[i], ran_s[i] };
		busy_s = fmax((double)(now_ns - cpu->since_ns) / 1e9 - (idle_s[i] - cpu->idle_s),
			      ran_s[i] - cpu->ran_s);
		model->busy_s += busy_s - cpu->busy_s;
		if (cpu->domain)
			ret_s[cpu->domain - model->domains] += busy_s - cpu->busy_s;
		cpu->busy_s = busy_s;
	}
}

void model_read(struct model *model, uint64_t now_ns)
{
	_cleanup_free_ double *busy_s = calloc(model->n_domains + 1, sizeof(*busy_s));

	if (!busy_s)
		return;
	read_busy(model, now_ns, busy_s);
	for (uint32_t i = 0; i < model->n_domains; i++) {
		struct model_domain *domain = &model->domains[i];
		double times_s[MODEL_OPPS_MAX], power = 0;
		double sum_s = read_times(model, domain, times_s);

		for (uint32_t j = 0; j < domain->n_opps; j++)
			power += times_s[j] * domain->opps[j].power;
		if (sum_s > 0)
			model->full_cpu_s += busy_s[i] * power / sum_s;
	}
}

/* Documentation/power/energy-model.rst; the unit of power does not matter here. */
static bool take_kernel_power(const struct model *model, struct model_domain *domain)
{
	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (!sysfs_read_number(&domain->opps[i].power,
				       "%s/kernel/debug/energy_model/cpu%" PRIu32 "/ps:%.0f/power",
				       model->sys, domain->policy, domain->opps[i].khz) ||
		    domain->opps[i].power <= 0)
			return false;
	return true;
}

static void take_estimates(struct model_domain *domain)
{
	double highest_khz = 0;

	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (domain->opps[i].khz > highest_khz)
			highest_khz = domain->opps[i].khz;
	/* In proportion to the power of the other domains' CPUs. */
	for (uint32_t i = 0; i < domain->n_opps; i++)
		domain->opps[i].power = energy_power_share(domain->opps[i].khz, highest_khz) *
					highest_khz;
}

static void find_domain(const char *path, void *context)
{
	struct model *model = context;
	struct model_domain *domains, domain = { 0 };
	_cleanup_fclose_ FILE *times = NULL;
	double hundredths;

	if (sscanf(strrchr(path, '/'), "/policy%" SCNu32, &domain.policy) != 1)
		return;
	times = open_domain(model, &domain, "stats/time_in_state");
	while (times && domain.n_opps < MODEL_OPPS_MAX &&
	       fscanf(times, "%lf %lf", &domain.opps[domain.n_opps].khz, &hundredths) == 2)
		domain.n_opps++;
	domains = domain.n_opps ? realloc(model->domains, (model->n_domains + 1) * sizeof(domain))
				: NULL;
	if (!domains)
		return;
	model->domains = domains;
	domains[model->n_domains++] = domain;
}

static void take_cpus(struct model *model, struct model_domain *domain)
{
	_cleanup_fclose_ FILE *cpus = open_domain(model, domain, "affected_cpus");
	uint32_t cpu;

	while (cpus && fscanf(cpus, "%" SCNu32, &cpu) == 1)
		if (cpu < MODEL_CPUS_MAX)
			model->cpus[cpu].domain = domain;
}

void model_find(const char *sys, const char *proc, uint64_t now_ns, struct model *ret)
{
	double highest = 0;

	*ret = (struct model){ .sys = sys, .proc = proc };
	sysfs_each(find_domain, ret, "%s/devices/system/cpu/cpufreq/policy*", sys);
	ret->is_of_kernel = ret->n_domains > 0;
	for (uint32_t i = 0; i < ret->n_domains && ret->is_of_kernel; i++)
		ret->is_of_kernel = take_kernel_power(ret, &ret->domains[i]);
	for (uint32_t i = 0; i < ret->n_domains; i++) {
		struct model_domain *domain = &ret->domains[i];

		take_cpus(ret, domain);
		if (!ret->is_of_kernel)
			take_estimates(domain);
		for (uint32_t j = 0; j < domain->n_opps; j++)
			if (domain->opps[j].power > highest)
				highest = domain->opps[j].power;
	}
	for (uint32_t i = 0; i < ret->n_domains; i++)
		for (uint32_t j = 0; j < ret->domains[i].n_opps; j++)
			ret->domains[i].opps[j].power /= highest;
	model_read(ret, now_ns);
	ret->full_cpu_s = 0;
}

void model_deinit(struct model *model)
{
	free(model->domains);
}
