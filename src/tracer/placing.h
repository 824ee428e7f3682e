/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the kernel side counts of groups of tasks that are placed, for as long as there are any:
 * bpf/placing.bpf.h. Caches and groups go by small numbers that the caller gives.
 */

#include "core/placement.h"
#include "tracer/tracer.h"

/* Which cache a CPU belongs to; PLACEMENT_NO_CACHE: none that is followed. */
void tracer_set_cpu_cache(struct tracer *tracer, uint32_t cpu, uint32_t cache);
/* How many of its CPUs are online. */
void tracer_set_cache_size(struct tracer *tracer, uint32_t cache, uint32_t n_cpus);

/* Whether anything is counted. When it begins, every CPU counts as idle until it is switched. */
void tracer_place(struct tracer *tracer, bool placing, uint64_t full_limit_ns);

/* The task is of that group. Returns 0 or a negative errno. */
int tracer_place_task(struct tracer *tracer, uint32_t pid, uint32_t group);
void tracer_unplace_task(struct tracer *tracer, uint32_t pid);

/* The group is another one's from now on, with nothing counted. */
void tracer_clear_group(struct tracer *tracer, uint32_t group);
/*
 * What to tell of once, by TRACER_FULL_CACHE and TRACER_GROUP_WAKES: caches, as bits, in which a
 * task of the group has to wait while none of their CPUs has been idle for long; and that one of
 * its tasks wakes up at all.
 */
void tracer_watch_group(struct tracer *tracer, uint32_t group, uint64_t caches, bool wakes);

/* The most that were runnable is that since the last call. */
void tracer_read_group(const struct tracer *tracer, uint32_t group, struct placement_counts *ret);
/* How long CPUs of the cache have worked, in all, since the placing began. */
uint64_t tracer_cache_busy_ns(const struct tracer *tracer, uint32_t cache, uint64_t now_ns);
