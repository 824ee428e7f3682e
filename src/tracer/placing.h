/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The interface to bpf/placing.bpf.h, which counts what groups of placed tasks do. The caller
 * numbers caches and groups.
 */

#include "core/placement.h"
#include "tracer/tracer.h"

/* Sets the cache of a CPU; PLACEMENT_NO_CACHE: none in the table. */
void tracer_set_cpu_cache(struct tracer *tracer, uint32_t cpu, uint32_t cache);
/* Sets the number of the cache's online CPUs. */
void tracer_set_cache_size(struct tracer *tracer, uint32_t cache, uint32_t n_cpus);

/*
 * Starts or stops counting. At the start every CPU counts as idle until its next switch. A cache is
 * full when no CPU of it has been idle for full_limit_ns.
 */
void tracer_place(struct tracer *tracer, bool placing, uint64_t full_limit_ns);

/* Adds the task to the group. Returns 0 or a negative errno. */
int tracer_place_task(struct tracer *tracer, uint32_t pid, uint32_t group);
void tracer_unplace_task(struct tracer *tracer, uint32_t pid);

/* Clears the group's counters, for a new group under this number. */
void tracer_clear_group(struct tracer *tracer, uint32_t group);
/*
 * Arms one-time reports of the group. WAKEGOV_RECORD_FULL_CACHE: a task had to wait in one of these
 * caches (bits), which is full. WAKEGOV_RECORD_GROUP_WAKES: a task of the group wakes up.
 */
void tracer_watch_group(struct tracer *tracer, uint32_t group, uint64_t caches, bool wakes);

/* Reads the group's counters. */
void tracer_read_group(const struct tracer *tracer, uint32_t group, struct placement_counts *ret);
/* The busy time of the cache's CPUs, summed, since counting began. */
uint64_t tracer_cache_busy_ns(const struct tracer *tracer, uint32_t cache, uint64_t now_ns);
