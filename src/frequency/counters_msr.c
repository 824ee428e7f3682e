// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "frequency/counters.h"
#include "shared/cleanup.h"

/* arch/x86/include/asm/msr-index.h */
#define MPERF 0xe7
#define APERF 0xe8

struct msr {
	struct counter_clock clock;
	uint32_t n_cpus;
	int fds[]; /* −1: not opened */
};

static int read_register(int fd, uint32_t reg, uint64_t *ret)
{
	ssize_t n = pread(fd, ret, sizeof(*ret), reg);

	if (n < 0)
		return -errno;
	return n == sizeof(*ret) ? 0 : -EIO;
}

static int read_msr(void *state, uint32_t cpu, struct counts *ret, uint32_t *ret_khz)
{
	struct msr *msr = state;
	char path[40];
	int r;

	if (cpu >= msr->n_cpus)
		return -ENXIO;
	if (msr->fds[cpu] < 0) {
		snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
		msr->fds[cpu] = open(path, O_RDONLY | O_CLOEXEC);
		if (msr->fds[cpu] < 0)
			return -errno;
	}
	r = read_register(msr->fds[cpu], MPERF, &ret->reference);
	if (r == 0)
		r = read_register(msr->fds[cpu], APERF, &ret->actual);
	*ret_khz = counter_clock_khz(&msr->clock);
	return r;
}

static void close_msr(void *state)
{
	struct msr *msr = state;

	for (uint32_t cpu = 0; msr && cpu < msr->n_cpus; cpu++)
		close_fdp(&msr->fds[cpu]);
	free(msr);
}

static int open_msr(uint32_t n_cpus, uint32_t base_khz, void **ret, const char **ret_why)
{
	struct msr *msr = calloc(1, sizeof(*msr) + n_cpus * sizeof(msr->fds[0]));
	uint32_t here = sched_getcpu();
	struct counts counts = { 0 };
	uint32_t khz;
	int r;

	*ret_why = "out of memory";
	if (!msr)
		return -ENOMEM;
	msr->n_cpus = n_cpus;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		msr->fds[cpu] = -1;
	counter_clock_start(&msr->clock, base_khz);
	r = read_msr(msr, here, &counts, &khz);
	/* A hypervisor without these registers may let them read as 0. */
	if (r == 0 && !counts.reference)
		r = -EIO;
	*ret_why = r == -EIO ? "this CPU has no registers APERF and MPERF"
			     : "/dev/cpu/N/msr cannot be opened (modprobe msr; CAP_SYS_RAWIO)";
	if (r < 0)
		close_msr(msr);
	else
		*ret = msr;
	return r;
}

const struct counter_reader counter_reader_msr = {
	.name = "msr",
	.open = open_msr,
	.read = read_msr,
	.close = close_msr,
	.capabilities = 1ULL << CAP_SYS_RAWIO,
};
