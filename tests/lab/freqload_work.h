/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What one thread of freqload does until the time is over. */

#include <stdint.h>

#include "freqload_latency.h"
#include "freqload_options.h"

#define FREQLOAD_BLOCK_BYTES 4096
#define FREQLOAD_FILES_MAX   16

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
