// SPDX-License-Identifier: GPL-2.0-only
#include "freqload_clock.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "freqload.skel.h"
#include "freqload_shared.h"

/* A longer gap between two looks at the clock is time that the thread didn't run. */
#define GAP_MAX_NS     100000
#define CALIBRATION_NS 50000000

struct freq_clock {
	struct freqload_bpf *skel;
	struct freqload_cpu *cpus;
	bool mapped;
	double ns_per_tick;
};

uint64_t freq_clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

#ifdef __x86_64__
/* The kernel of the lab distrusts the TSC, and its other clocks cost an exit each time. */
static uint64_t read_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#else
static uint64_t read_ticks(void)
{
	return freq_clock_now_ns();
}
#endif

static double measure_ns_per_tick(void)
{
	uint64_t start_ns = freq_clock_now_ns(), start = read_ticks(), now_ns;

	do {
		now_ns = freq_clock_now_ns();
	} while (now_ns - start_ns < CALIBRATION_NS);

	return (double)(now_ns - start_ns) / (double)(read_ticks() - start);
}

uint64_t freq_clock_ticks_ns(const struct freq_clock *clock)
{
	return (uint64_t)((double)read_ticks() * clock->ns_per_tick);
}

static unsigned int read_khz(unsigned int cpu)
{
	unsigned int khz = 0;
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%u", &khz) != 1)
		khz = 0;
	fclose(file);
	return khz;
}

/* Before the program is attached: each CPU as it is now. Returns how many have a frequency. */
static unsigned int fill_from_sysfs(struct freq_clock *clock)
{
	unsigned int cpu, found = 0;

	for (cpu = 0; cpu < FREQLOAD_CPUS_MAX; cpu++) {
		clock->cpus[cpu].khz = read_khz(cpu);
		clock->cpus[cpu].since_ns = freq_clock_now_ns();
		found += clock->cpus[cpu].khz > 0;
	}

	return found;
}

/* What changed between the first reading and the attachment; anything later comes as an event. */
static void fill_again(struct freq_clock *clock)
{
	unsigned int cpu;

	for (cpu = 0; cpu < FREQLOAD_CPUS_MAX; cpu++) {
		if (clock->cpus[cpu].khz &&
		    !__atomic_load_n(&clock->cpus[cpu].sequence, __ATOMIC_ACQUIRE))
			clock->cpus[cpu].khz = read_khz(cpu);
	}
}

static int fill_constant(struct freq_clock *clock, unsigned int khz)
{
	unsigned int cpu;

	clock->cpus = calloc(FREQLOAD_CPUS_MAX, sizeof(*clock->cpus));
	if (!clock->cpus)
		return -ENOMEM;

	for (cpu = 0; cpu < FREQLOAD_CPUS_MAX; cpu++) {
		clock->cpus[cpu].khz = khz;
		clock->cpus[cpu].since_ns = freq_clock_now_ns();
	}

	return 0;
}

static int watch(struct freq_clock *clock)
{
	void *map;

	libbpf_set_print(NULL);
	clock->skel = freqload_bpf__open_and_load();
	if (!clock->skel)
		return -errno;

	map = mmap(NULL, FREQLOAD_CPUS_MAX * sizeof(*clock->cpus), PROT_READ | PROT_WRITE,
		   MAP_SHARED, bpf_map__fd(clock->skel->maps.cpus), 0);
	if (map == MAP_FAILED)
		return -errno;
	clock->cpus = map;
	clock->mapped = true;

	if (!fill_from_sysfs(clock))
		return -ENODEV;
	if (freqload_bpf__attach(clock->skel) < 0)
		return -errno;
	fill_again(clock);
	return 0;
}

int freq_clock_new(unsigned int constant_khz, struct freq_clock **ret_clock)
{
	struct freq_clock *clock = calloc(1, sizeof(*clock));
	int r;

	if (!clock)
		return -ENOMEM;

	clock->ns_per_tick = measure_ns_per_tick();
	r = constant_khz ? fill_constant(clock, constant_khz) : watch(clock);
	if (r < 0) {
		freq_clock_free(clock);
		return r;
	}

	*ret_clock = clock;
	return 0;
}

struct freq_clock *freq_clock_free(struct freq_clock *clock)
{
	if (!clock)
		return NULL;

	if (clock->mapped)
		munmap(clock->cpus, FREQLOAD_CPUS_MAX * sizeof(*clock->cpus));
	else
		free(clock->cpus);
	freqload_bpf__destroy(clock->skel);
	free(clock);
	return NULL;
}

static unsigned int this_cpu(void)
{
	int cpu = sched_getcpu();

	return cpu < 0 || cpu >= FREQLOAD_CPUS_MAX ? 0 : (unsigned int)cpu;
}

void freq_clock_burn(const struct freq_clock *clock, uint64_t cycles, uint64_t end_ticks_ns)
{
	uint64_t now_ns, last_ns = freq_clock_ticks_ns(clock), burnt = 0, gap_ns;

	/* kHz × ns = 10⁻⁶ cycles */
	while (burnt < cycles * 1000000 && last_ns < end_ticks_ns) {
		now_ns = freq_clock_ticks_ns(clock);
		gap_ns = now_ns > last_ns ? now_ns - last_ns : 0;
		if (gap_ns <= GAP_MAX_NS)
			burnt += gap_ns *
				 __atomic_load_n(&clock->cpus[this_cpu()].khz, __ATOMIC_RELAXED);
		if (now_ns > last_ns)
			last_ns = now_ns;
	}
}

static uint64_t read_khz_ns(const struct freq_clock *clock, unsigned int cpu, uint64_t now_ns)
{
	const struct freqload_cpu *shared = &clock->cpus[cpu];
	uint64_t sequence, sum;

	do {
		sequence = __atomic_load_n(&shared->sequence, __ATOMIC_ACQUIRE);
		sum = shared->khz_ns;
		if (now_ns > shared->since_ns)
			sum += shared->khz * (now_ns - shared->since_ns);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((sequence & 1) ||
		 sequence != __atomic_load_n(&shared->sequence, __ATOMIC_RELAXED));

	return sum;
}

void freq_mean_start(struct freq_mean *mean, const struct freq_clock *clock)
{
	*mean = (struct freq_mean){ .cpu = this_cpu(), .start_ns = freq_clock_now_ns() };
	mean->start_khz_ns = read_khz_ns(clock, mean->cpu, mean->start_ns);
}

/* Closes the segment on the CPU that it began on, and begins one on the present CPU. */
void freq_mean_stop(struct freq_mean *mean, const struct freq_clock *clock)
{
	uint64_t now_ns = freq_clock_now_ns();

	mean->khz_ns += (double)(read_khz_ns(clock, mean->cpu, now_ns) - mean->start_khz_ns);
	mean->ns += (double)(now_ns - mean->start_ns);
	mean->cpu = this_cpu();
	mean->start_ns = now_ns;
	mean->start_khz_ns = read_khz_ns(clock, mean->cpu, now_ns);
}

void freq_mean_update(struct freq_mean *mean, const struct freq_clock *clock)
{
	if (mean->cpu != this_cpu())
		freq_mean_stop(mean, clock);
}
