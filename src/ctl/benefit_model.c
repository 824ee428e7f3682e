// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/benefit_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/sysfs.h"
#include "shared/cleanup.h"

#define POLICY "%s/devices/system/cpu/cpufreq/policy%" PRIu32

double model_estimate(double khz, double highest_khz)
{
	double f = khz / highest_khz, volts = 0.6 + 0.4 * f;

	return f * volts * volts;
}

static FILE *open_domain(const struct model *model, const struct model_domain *domain,
			 const char *name)
{
	char path[SYSFS_PATH_SIZE];

	snprintf(path, sizeof(path), POLICY "/%s", model->sys, domain->policy, name);
	return fopen(path, "re");
}

/* Lines of kHz and hundredths of a second. Returns the seconds since the last reading, by OPP. */
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

/* proc(5): of each CPU user, nice, system, idle, iowait, irq, softirq, in ticks. */
static void read_busy(const struct model *model, double *ret_s)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[SYSFS_PATH_SIZE], line[256];
	uint64_t n[5];
	uint32_t cpu;

	snprintf(path, sizeof(path), "%s/stat", model->proc);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line,
			   "cpu%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64
			   " %" SCNu64,
			   &cpu, &n[0], &n[1], &n[2], &n[3], &n[4]) == 6 &&
		    cpu < MODEL_CPUS_MAX && model->domain_of[cpu])
			ret_s[model->domain_of[cpu] - model->domains] +=
				(double)(n[0] + n[1] + n[2] + n[3] + n[4]) /
				(double)sysconf(_SC_CLK_TCK);
}

void model_read(struct model *model)
{
	_cleanup_free_ double *busy_s = calloc(model->n_domains + 1, sizeof(*busy_s));

	if (!busy_s)
		return;
	read_busy(model, busy_s);
	for (uint32_t i = 0; i < model->n_domains; i++) {
		struct model_domain *domain = &model->domains[i];
		double times_s[MODEL_OPPS_MAX], power = 0;
		double sum_s = read_times(model, domain, times_s);

		for (uint32_t j = 0; j < domain->n_opps; j++)
			power += times_s[j] * domain->opps[j].power;
		/* A CPU that went offline takes its busy time along. */
		if (sum_s > 0 && busy_s[i] > domain->busy_s)
			model->full_cpu_s += (busy_s[i] - domain->busy_s) * power / sum_s;
		domain->busy_s = busy_s[i];
	}
}

/* Documentation/power/energy-model.rst; which unit power has is of no matter here. */
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
	/* In proportion to what the other domains' CPUs take. */
	for (uint32_t i = 0; i < domain->n_opps; i++)
		domain->opps[i].power = model_estimate(domain->opps[i].khz, highest_khz) *
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
			model->domain_of[cpu] = domain;
}

void model_find(const char *sys, const char *proc, struct model *ret)
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
	model_read(ret);
	ret->full_cpu_s = 0;
}

void model_deinit(struct model *model)
{
	free(model->domains);
}
