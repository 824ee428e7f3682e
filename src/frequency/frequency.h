/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The real frequency of CPUs on machines with counters (counters.h), so that work under turbo or
 * throttling is accounted correctly. Without counters, or if they prove wrong, the caller uses the
 * kernel's frequency.
 */

#include <stdint.h>

#include "frequency/counters.h"

struct frequency;

/* scaling_cur_freq of a CPU; 0: it cannot be read. */
typedef uint32_t (*frequency_ask_t)(void *userdata, uint32_t cpu);

/*
 * readers is borrowed: the best first, ended by NULL; the first that can be opened is used. ask is
 * called when a measurement differs by more than twofold from the reported frequency, as turbo is
 * not always reported. Returns NULL without memory.
 */
struct frequency *frequency_new(uint32_t n_cpus, uint32_t base_khz,
				const struct counter_reader *const *readers, frequency_ask_t ask,
				void *userdata);
struct frequency *frequency_free(struct frequency *frequency);

enum frequency_outcome {
	FREQUENCY_NOTHING,  /* no measurement yet, or no counters */
	FREQUENCY_MEASURED, /* *ret_khz is the mean since the last call without idle times */
	FREQUENCY_DROPPED, /* the reader proved wrong (see frequency_why()); the next one is used */
};

/*
 * Measures a CPU, which must be at work: reading wakes an idle one. reported_khz is the frequency
 * set by the kernel, 0: not known, and reported_ns when it was set. An interval with a change of it
 * is not measured, nor is one shorter than FREQUENCY_LEAST_NS.
 */
#define FREQUENCY_LEAST_NS 5000000ULL

enum frequency_outcome frequency_measure(struct frequency *frequency, uint32_t cpu, uint64_t now_ns,
					 uint32_t reported_khz, uint64_t reported_ns,
					 uint32_t *ret_khz);

/* For use after hotplug and suspend: counters may have restarted. */
void frequency_forget(struct frequency *frequency, uint32_t cpu);

/* The reader in use, or "kernel". */
const char *frequency_source(const struct frequency *frequency);
/*
 * The capabilities that the reader needs later (struct counter_reader), to reopen the counters of a
 * CPU that comes back.
 */
uint64_t frequency_capabilities(const struct frequency *frequency);
/* When a CPU was last measured; 0: never, or the kernel's frequency is used. */
uint64_t frequency_measured_ns(const struct frequency *frequency);
/* Why the readers before it are not used: "perf: …; msr: …"; "" for the first. */
const char *frequency_why(const struct frequency *frequency);
