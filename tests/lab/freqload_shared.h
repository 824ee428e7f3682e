/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One CPU's clock, written by freqload.bpf.c on each change and read through mmap. */

#include <linux/types.h>

#define FREQLOAD_CPUS_MAX 1024

struct freqload_cpu {
	__u64 sequence; /* odd while the others are being written */
	__u64 khz;
	__u64 since_ns; /* CLOCK_MONOTONIC */
	__u64 khz_ns;	/* integral of khz over time up to since_ns */
};
