/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The interface to bpf/placing.bpf.h, which reports where placed tasks wait. The caller numbers
 * caches and groups.
 */

#include "core/placement.h"
#include "tracer/tracer.h"

/* Sets the cache of a CPU; PLACEMENT_NO_CACHE: none in the table. */
void tracer_set_cpu_cache(struct tracer *tracer, uint32_t cpu, uint32_t cache);
/* Sets the number of the cache's online CPUs. */
void tracer_set_cache_size(struct tracer *tracer, uint32_t cache, uint32_t n_cpus);

/* Starts or stops. At the start every CPU counts as idle until its next switch. */
void tracer_place(struct tracer *tracer, bool placing);

/* Adds the task to the group. Returns 0 or a negative errno. */
int tracer_place_task(struct tracer *tracer, uint32_t pid, uint32_t group);
void tracer_unplace_task(struct tracer *tracer, uint32_t pid);

/*
 * Requests one report (WAKEGOV_RECORD_FULL_CACHE) for each of these caches, as bits: when a task of
 * the group had to wait there while the cache was full.
 */
void tracer_watch_caches(struct tracer *tracer, uint32_t group, uint64_t caches);
