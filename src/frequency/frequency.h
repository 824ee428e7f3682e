/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * At which frequency CPUs really run, where the machine counts it (counters.h), so that what a task
 * does under turbo, or throttled, is accounted as what it is. Where nothing counts, or what counts
 * is found to be wrong, it is the kernel's word, which the caller has anyway.
 */

#include <stdint.h>

#include "frequency/counters.h"

struct frequency;

/* scaling_cur_freq of a CPU, 0 where it cannot be read. */
typedef uint32_t (*frequency_ask_t)(void *userdata, uint32_t cpu);

/*
 * readers is borrowed: the best first, ended by NULL; the first that can be opened is used. ask is
 * called when a measurement is off by more than twofold from what was reported, for turbo is not
 * always reported. Returns NULL without memory.
 */
struct frequency *frequency_new(uint32_t n_cpus, uint32_t base_khz,
				const struct counter_reader *const *readers, frequency_ask_t ask,
				void *userdata);
struct frequency *frequency_free(struct frequency *frequency);

enum frequency_outcome {
	FREQUENCY_NOTHING,  /* nothing can be said yet, or nothing counts */
	FREQUENCY_MEASURED, /* *ret_khz, since the last call but for idle times */
	FREQUENCY_DROPPED,  /* what counts is wrong, frequency_why() says how; the next is used */
};

/*
 * Measures a CPU, which has to be one that works: reading wakes one that is idle. reported_khz is
 * what the kernel has set it to, 0 where that is not known. A time in which that changed is
 * not measured, nor is one that is shorter than FREQUENCY_LEAST_NS.
 */
#define FREQUENCY_LEAST_NS 5000000ULL

enum frequency_outcome frequency_measure(struct frequency *frequency, uint32_t cpu, uint64_t now_ns,
					 uint32_t reported_khz, uint32_t *ret_khz);

/* After hotplug and suspend: counters may have started anew. */
void frequency_forget(struct frequency *frequency, uint32_t cpu);

/* The reader in use, or "kernel". */
const char *frequency_source(const struct frequency *frequency);
/* What it has to keep, as struct counter_reader has it: a CPU that comes back is opened once more.
 */
uint64_t frequency_capabilities(const struct frequency *frequency);
/* When it last measured a CPU; 0: it has not, or it is the kernel. */
uint64_t frequency_measured_ns(const struct frequency *frequency);
/* Why those before it are not used: "perf: …; msr: …"; "" where it is the first. */
const char *frequency_why(const struct frequency *frequency);
