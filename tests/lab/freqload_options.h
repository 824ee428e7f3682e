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
	FREQLOAD_SERIAL,
};

struct freqload_options {
	enum freqload_workload workload;
	const char *file;
	unsigned int threads;
	unsigned int depth;
	unsigned int seconds;
	unsigned int margin_ms; /* run, but not counted, before and after */
	unsigned int constant_khz;
	uint64_t cycles;
	uint64_t period_us;
	uint64_t busy_us_at_max; /* 0: use cycles */
	cpu_set_t cpus;		 /* empty: wherever the kernel likes */
	bool pin;
	bool buffered;
	bool json;
};

extern const char *const freqload_workload_names[];

/* Returns 0; 1: help was asked for and shown; -EINVAL: said on stderr what is wrong. */
int freqload_options_parse(int argc, char **argv, struct freqload_options *ret_options);
