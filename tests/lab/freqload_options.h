/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Returns 0; 1: help was asked for and shown; -EINVAL: said on stderr what is wrong. */
int freqload_options_parse(int argc, char **argv, struct freqload_options *ret_options);
