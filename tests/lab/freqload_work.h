/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What freqload was asked for, and what one thread of it does until the time is over. */

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define FREQLOAD_BLOCK_BYTES 4096
#define FREQLOAD_FILES_MAX   16

enum freqload_workload {
	FREQLOAD_PSYNC,
	FREQLOAD_IO_URING,
	FREQLOAD_CPU,
	FREQLOAD_PERIODIC,
};

struct freqload_options {
	enum freqload_workload workload;
	const char *file;
	unsigned int threads;
	unsigned int depth;
	unsigned int seconds;
	unsigned int margin_ms; /* run, but not counted, before and after */
	uint64_t cycles;	/* per I/O, unit of work or period */
	uint64_t period_us;
	cpu_set_t cpus; /* empty: wherever the kernel likes */
	bool pin;
	bool buffered;
	bool json;
};

extern const char *const freqload_workload_names[];

/* Exits where it is asked for help, or after saying what is wrong. */
void freqload_options_parse(int argc, char **argv, struct freqload_options *ret);

/* A histogram of latencies: 64 buckets per octave, so a percentile is exact to 1.6 %. */

#define LATENCY_BUCKETS (64 * 60)

struct latency {
	uint64_t count;
	uint64_t buckets[LATENCY_BUCKETS];
};

void latency_add(struct latency *latency, uint64_t ns);
void latency_merge(struct latency *into, const struct latency *from);
/* The latency that `share` (0…1) of the samples do not exceed, in µs; 0 when there are none. */
double latency_percentile_us(const struct latency *latency, double share);

struct freqload_work {
	const struct freqload_options *options;
	uint64_t cycles; /* per I/O, unit of work or period */
	uint64_t end_ns;
	uint64_t count_from_ns; /* what is done between these two counts */
	uint64_t count_until_ns;
	uint64_t random;
	int fds[FREQLOAD_FILES_MAX];
	unsigned int n_files;
	uint64_t blocks; /* of 4 KiB in each file, or in the smallest */
	uint64_t done;
	struct latency latency;
};

/* Each returns 0, or a negative errno after saying on stderr what failed. */
int work_psync(struct freqload_work *work);
int work_io_uring(struct freqload_work *work);
int work_cpu(struct freqload_work *work);
int work_periodic(struct freqload_work *work);

struct freqload_place {
	int fd;
	int64_t offset;
};

/* A random block of the files. */
struct freqload_place work_random_place(struct freqload_work *work);

/* CLOCK_MONOTONIC */
uint64_t work_now_ns(void);

/* An I/O is complete: counts it, then burns what is to be burnt for it. */
void work_finish_io(struct freqload_work *work, uint64_t issued_ns);
