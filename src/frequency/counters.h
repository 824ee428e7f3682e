/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Pairs of per-CPU counters that show the real frequency: one counts with the CPU's clock, one at a
 * fixed rate, both only while the CPU works. There are three ways to read them; tests add one with
 * recorded values.
 */

#include <stdint.h>

struct counts {
	uint64_t actual;
	uint64_t reference;
};

struct counter_reader {
	const char *name;
	/*
	 * Tries the reader on the caller's CPU, the only one that is surely awake. base_khz is that
	 * of the CPUs, 0: not known. Returns 0 with *ret, or a negative errno with *ret_why, a
	 * static phrase.
	 */
	int (*open)(uint32_t n_cpus, uint32_t base_khz, void **ret, const char **ret_why);
	/*
	 * Wakes an idle CPU: call it only for one that works. *ret_khz is the rate of the
	 * reference, 0 when it is not known yet. Returns 0 or a negative errno.
	 */
	int (*read)(void *state, uint32_t cpu, struct counts *ret, uint32_t *ret_khz);
	/* The CPU was offline or suspended. NULL: no action needed. */
	void (*forget)(void *state, uint32_t cpu);
	void (*close)(void *state);
	uint64_t capabilities; /* 1 << CAP_…: capabilities for reopening a CPU's counters */
};

/* aperf and mperf of perf's `msr` PMU: CAP_PERFMON, CAP_SYS_ADMIN. */
extern const struct counter_reader counter_reader_perf;
/* The same from /dev/cpu/N/msr: CAP_SYS_RAWIO. */
extern const struct counter_reader counter_reader_msr;
/* acpi_cppc/feedback_ctrs, on arm64 the activity monitors. */
extern const struct counter_reader counter_reader_cppc;

/* The three, the best first, and NULL. */
extern const struct counter_reader *const counter_readers[];

/*
 * The rate at which MPERF counts: base_khz if known, else that of the time stamp counter since
 * clock_start(); 0 until that can be computed, and on other machines.
 */
struct counter_clock {
	uint32_t base_khz;
	uint64_t start_tsc;
	uint64_t start_ns;
};

void counter_clock_start(struct counter_clock *clock, uint32_t base_khz);
uint32_t counter_clock_khz(struct counter_clock *clock);

/* Reads a model-specific register of an opened /dev/cpu/N/msr. Returns 0 or a negative errno. */
int counter_read_msr(int fd, uint32_t reg, uint64_t *ret);
