/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Pairs of counters that every CPU has on machines that can say how fast it really runs: one that
 * counts with its clock, one that counts at a fixed rate, both only while it works. Three ways to
 * them; tests have one of recorded values.
 */

#include <stdint.h>

struct counts {
	uint64_t actual;
	uint64_t reference;
};

struct counter_reader {
	const char *name;
	/*
	 * Tries it where the caller runs, on the one CPU that is surely awake. base_khz is that of
	 * the CPUs, 0 where nobody knows. Returns 0 with *ret, or a negative errno with *ret_why,
	 * a static phrase.
	 */
	int (*open)(uint32_t n_cpus, uint32_t base_khz, void **ret, const char **ret_why);
	/*
	 * Wakes the CPU if it is idle: only to be called of one that works. *ret_khz is the rate
	 * of the reference, 0 when it is not known yet. Returns 0 or a negative errno.
	 */
	int (*read)(void *state, uint32_t cpu, struct counts *ret, uint32_t *ret_khz);
	/* The CPU was offline or suspended. NULL: that is no matter. */
	void (*forget)(void *state, uint32_t cpu);
	void (*close)(void *state);
	uint64_t capabilities; /* 1 << CAP_…: what it takes to open a CPU's once more */
};

/* aperf and mperf of perf's `msr` PMU: CAP_PERFMON. */
extern const struct counter_reader counter_reader_perf;
/* The same from /dev/cpu/N/msr: CAP_SYS_RAWIO. */
extern const struct counter_reader counter_reader_msr;
/* acpi_cppc/feedback_ctrs, which on arm64 are the activity monitors. */
extern const struct counter_reader counter_reader_cppc;

/* The three, the best first, and NULL. */
extern const struct counter_reader *const counter_readers[];

/*
 * The rate at which MPERF counts: base_khz where it is known, else that of the time stamp counter
 * since clock_start(); 0 before that can be told, and on other machines.
 */
struct counter_clock {
	uint32_t base_khz;
	uint64_t start_tsc;
	uint64_t start_ns;
};

void counter_clock_start(struct counter_clock *clock, uint32_t base_khz);
uint32_t counter_clock_khz(struct counter_clock *clock);
