// SPDX-License-Identifier: GPL-2.0-only
/* The counters that show a CPU's real frequency: perf's msr PMU, ACPI's CPPC. */
#include "frequency/frequency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/time.h"

const struct counter_reader *const counter_readers[] = {
#ifdef __x86_64__
	&counter_reader_perf, /* its absence elsewhere would be no news */
#endif
	&counter_reader_cppc,
	NULL,
};

#define CLOCK_LEAST_NS                                                            \
	(50 * NS_PER_MS) /* over less time the rate is less exact than the clocks \
			  */

static uint64_t read_tsc(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

void counter_clock_start(struct counter_clock *clock, uint32_t base_khz)
{
	clock->base_khz = base_khz;
	clock->start_tsc = read_tsc();
	clock->start_ns = time_of_clock_ns(CLOCK_MONOTONIC_RAW);
}

uint32_t counter_clock_khz(struct counter_clock *clock)
{
	uint64_t passed_ns;

	if (clock->base_khz)
		return clock->base_khz;
	passed_ns = time_of_clock_ns(CLOCK_MONOTONIC_RAW) - clock->start_ns;
	if (passed_ns < CLOCK_LEAST_NS)
		return 0;
	clock->base_khz = (double)(read_tsc() - clock->start_tsc) * NS_PER_MS / passed_ns;
	return clock->base_khz;
}

/* perf's PMU `msr`. */

#define PMU "/sys/bus/event_source/devices/msr"

/* Both counters of a CPU, read together; −1: not opened. */
struct pair {
	int actual_fd;
	int reference_fd;
};

struct perf {
	struct counter_clock clock;
	uint32_t type;
	uint64_t actual_event;
	uint64_t reference_event;
	uint32_t n_cpus;
	struct pair pairs[];
};

static int open_event(const struct perf *perf, uint32_t cpu, uint64_t event, int group_fd)
{
	struct perf_event_attr attr = {
		.type = perf->type,
		.size = sizeof(attr),
		.config = event,
		.read_format = PERF_FORMAT_GROUP,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The CPU was offline or suspended, which ended its events. */
static void forget_perf(void *state, uint32_t cpu)
{
	struct pair *pair = &((struct perf *)state)->pairs[cpu];

	close_fdp(&pair->reference_fd);
	close_fdp(&pair->actual_fd);
	*pair = (struct pair){ -1, -1 };
}

static int open_pair(struct perf *perf, uint32_t cpu)
{
	struct pair pair = { -1, -1 };

	pair.actual_fd = open_event(perf, cpu, perf->actual_event, -1);
	if (pair.actual_fd < 0)
		return pair.actual_fd;
	pair.reference_fd = open_event(perf, cpu, perf->reference_event, pair.actual_fd);
	if (pair.reference_fd < 0) {
		close(pair.actual_fd);
		return pair.reference_fd;
	}
	perf->pairs[cpu] = pair;
	return 0;
}

static void close_perf(void *state)
{
	struct perf *perf = state;

	for (uint32_t cpu = 0; cpu < perf->n_cpus; cpu++)
		forget_perf(perf, cpu);
	free(perf);
}

static int read_perf(void *state, uint32_t cpu, struct counts *ret, uint32_t *ret_khz)
{
	struct perf *perf = state;
	struct {
		uint64_t n, actual, reference;
	} group;
	ssize_t n;
	int r = 0;

	if (cpu >= perf->n_cpus)
		return -ENXIO;
	if (perf->pairs[cpu].actual_fd < 0)
		r = open_pair(perf, cpu);
	if (r < 0)
		return r;
	n = read(perf->pairs[cpu].actual_fd, &group, sizeof(group));
	if (n < 0)
		return -errno;
	if (n != sizeof(group) || group.n != 2)
		return -EIO;
	*ret = (struct counts){ group.actual, group.reference };
	*ret_khz = counter_clock_khz(&perf->clock);
	return 0;
}

static int find_events(struct perf *perf, const char **ret_why)
{
	char type[16], actual[32], reference[32];

	*ret_why = "perf has no PMU `msr`";
	if (!sysfs_read_line(type, sizeof(type), PMU "/type") ||
	    sscanf(type, "%" SCNu32, &perf->type) != 1)
		return -ENODEV;
	*ret_why = "perf's PMU `msr` has no aperf and mperf here";
	if (!sysfs_read_line(actual, sizeof(actual), PMU "/events/aperf") ||
	    !sysfs_read_line(reference, sizeof(reference), PMU "/events/mperf") ||
	    sscanf(actual, "event=%" SCNx64, &perf->actual_event) != 1 ||
	    sscanf(reference, "event=%" SCNx64, &perf->reference_event) != 1)
		return -ENODEV;
	return 0;
}

static int open_perf(uint32_t n_cpus, uint32_t base_khz, void **ret, const char **ret_why)
{
	struct perf *perf = calloc(1, sizeof(*perf) + n_cpus * sizeof(perf->pairs[0]));
	uint32_t here = sched_getcpu();
	struct counts counts;
	uint32_t khz;
	int r;

	*ret_why = "out of memory";
	if (!perf)
		return -ENOMEM;
	perf->n_cpus = n_cpus;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		perf->pairs[cpu] = (struct pair){ -1, -1 };
	counter_clock_start(&perf->clock, base_khz);
	r = find_events(perf, ret_why);
	if (r == 0) {
		*ret_why = "perf does not let its PMU `msr` be read (CAP_PERFMON)";
		r = read_perf(perf, here, &counts, &khz);
	}
	if (r < 0)
		close_perf(perf);
	else
		*ret = perf;
	return r;
}

const struct counter_reader counter_reader_perf = {
	.name = "perf",
	.open = open_perf,
	.read = read_perf,
	.forget = forget_perf,
	.close = close_perf,
	/* perf_event_paranoid 3, a value of Debian's kernels, requires the second. */
	.capabilities = 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN,
};

/* ACPI's CPPC. */

#define CPU_DIRECTORY "/sys/devices/system/cpu/cpu%u/"

struct cppc {
	uint32_t n_cpus;
	uint32_t khz[]; /* of the reference; 0: not known yet */
};

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
