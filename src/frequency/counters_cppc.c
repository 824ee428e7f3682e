// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "frequency/counters.h"
#include "shared/sysfs.h"

#define CPU_DIRECTORY "/sys/devices/system/cpu/cpu%u/"

static double number_of(uint32_t cpu, const char *file)
{
	double number;

	return sysfs_read_number(&number, CPU_DIRECTORY "%s", cpu, file) ? number : 0;
}

/*
 * The reference counter's rate is reference_perf on the scale of abstract performance, where
 * nominal_perf is nominal_freq (MHz) or, if firmware does not give it, highest_perf is the highest
 * frequency of cpufreq: drivers/acpi/cppc_acpi.c.
 */
static uint32_t reference_khz(uint32_t cpu)
{
	double reference = number_of(cpu, "acpi_cppc/reference_perf");
	double nominal = number_of(cpu, "acpi_cppc/nominal_perf");
	double highest = number_of(cpu, "acpi_cppc/highest_perf");
	double nominal_khz = number_of(cpu, "acpi_cppc/nominal_freq") * 1000;
	double khz = 0;

	if (nominal && nominal_khz)
		khz = reference * nominal_khz / nominal;
	else if (highest)
		khz = reference * number_of(cpu, "cpufreq/cpuinfo_max_freq") / highest;
	return khz > 0 && khz <= UINT32_MAX ? (uint32_t)khz : 0;
}

struct cppc {
	uint32_t n_cpus;
	uint32_t khz[]; /* of the reference; 0: not known yet */
};

static int read_cppc(void *state, uint32_t cpu, struct counts *ret, uint32_t *ret_khz)
{
	struct cppc *cppc = state;
	char line[64];

	if (cpu >= cppc->n_cpus)
		return -ENXIO;
	if (!cppc->khz[cpu])
		cppc->khz[cpu] = reference_khz(cpu);
	*ret_khz = cppc->khz[cpu];
	if (!sysfs_read_line(line, sizeof(line), CPU_DIRECTORY "acpi_cppc/feedback_ctrs", cpu) ||
	    sscanf(line, "ref:%" SCNu64 " del:%" SCNu64, &ret->reference, &ret->actual) != 2)
		return -ENODATA;
	return 0;
}

static int open_cppc(uint32_t n_cpus, uint32_t base_khz, void **ret, const char **ret_why)
{
	struct cppc *cppc = calloc(1, sizeof(*cppc) + n_cpus * sizeof(cppc->khz[0]));
	uint32_t here = sched_getcpu();
	struct counts counts;
	uint32_t khz;
	int r;

	*ret_why = "out of memory";
	if (!cppc)
		return -ENOMEM;
	cppc->n_cpus = n_cpus;
	*ret_why = "the firmware has no acpi_cppc/feedback_ctrs";
	r = read_cppc(cppc, here, &counts, &khz);
	if (r == 0 && !khz) {
		*ret_why = "acpi_cppc does not say at which rate it counts";
		r = -ENODATA;
	}
	if (r < 0)
		free(cppc);
	else
		*ret = cppc;
	return r;
}

const struct counter_reader counter_reader_cppc = {
	.name = "cppc",
	.open = open_cppc,
	.read = read_cppc,
	.close = free,
};
