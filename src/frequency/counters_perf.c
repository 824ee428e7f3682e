// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frequency/counters.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"

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

static void close_pair(struct pair *pair)
{
	close_fdp(&pair->reference_fd);
	close_fdp(&pair->actual_fd);
	*pair = (struct pair){ -1, -1 };
}

static int open_pair(struct perf *perf, uint32_t cpu)
{
	struct pair *pair = &perf->pairs[cpu];
	int r;

	pair->actual_fd = open_event(perf, cpu, perf->actual_event, -1);
	if (pair->actual_fd < 0) {
		r = pair->actual_fd;
		pair->actual_fd = -1;
		return r;
	}
	pair->reference_fd = open_event(perf, cpu, perf->reference_event, pair->actual_fd);
	if (pair->reference_fd >= 0)
		return 0;
	r = pair->reference_fd;
	pair->reference_fd = -1;
	close_pair(pair);
	return r;
}

static void close_perf(void *state)
{
	struct perf *perf = state;

	for (uint32_t cpu = 0; perf && cpu < perf->n_cpus; cpu++)
		close_pair(&perf->pairs[cpu]);
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

static void forget_perf(void *state, uint32_t cpu)
{
	close_pair(&((struct perf *)state)->pairs[cpu]);
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
	/* The second is needed if perf_event_paranoid is 3, a value of Debian's kernels. */
	.capabilities = 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN,
};
