/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Placement: reports forks of placed tasks, and placed tasks that had to wait in a cache without an
 * idle CPU for long. Not called while no rule or class with a placement has a task.
 */

#include "maps.bpf.h"

static inline struct wakegov_placed *find_placed(__u32 pid)
{
	return bpf_map_lookup_elem(&placed, &pid);
}

static inline struct wakegov_cache *cache_of(const struct wakegov_cpu *cpu)
{
	__u32 cache = cpu->cache;

	return cache < WAKEGOV_CACHES ? &caches[cache % WAKEGOV_CACHES] : NULL;
}

/*
 * The CPU that becomes busy last records the start of its cache's fullness. Another CPU may have
 * become idle since, so is_full() also compares n_busy.
 */
static inline void note_busy(struct wakegov_cpu *cpu, bool busy, __u64 now_ns)
{
	struct wakegov_cache *cache = cache_of(cpu);

	if (cpu->placing_generation != settings.placing_generation) {
		cpu->placing_generation = settings.placing_generation;
		cpu->is_busy = false;
	}
	if (!cache || busy == cpu->is_busy)
		return;
	cpu->is_busy = busy;
	if (!busy)
		__sync_fetch_and_add(&cache->n_busy, -1);
	else if (__sync_fetch_and_add(&cache->n_busy, 1) + 1 >= cache->n_cpus)
		cache->full_since_ns = now_ns;
}

static inline bool is_full(const struct wakegov_cache *cache, __u64 now_ns)
{
	return cache->n_busy >= cache->n_cpus && now_ns - cache->full_since_ns >= WAKEGOV_FULL_NS;
}

/* Shorter waits are for interrupts and work of the kernel, which every CPU has. */
#define FULL_WAIT_NS 1000000ULL

static __noinline void waking_placed(struct task_struct *task)
{
	struct wakegov_placed *placed = find_placed(task->pid);

	if (placed && task != bpf_get_current_task_btf())
		placed->waits_since_ns = bpf_ktime_get_ns();
}

/* Emits a record when a task of the group had to wait in a cache that was full for long. */
static inline void enter_placed(const struct wakegov_cpu *cpu, struct task_struct *task,
				__u64 now_ns)
{
	struct wakegov_placed *placed = find_placed(task->pid);
	__u64 bit = 1ULL << cpu->cache % WAKEGOV_CACHES;
	const struct wakegov_cache *cache = cache_of(cpu);
	__u64 since_ns;

	if (!placed || !cache)
		return;
	since_ns = placed->waits_since_ns;
	placed->waits_since_ns = 0;
	if (!since_ns || now_ns - since_ns < FULL_WAIT_NS || !is_full(cache, now_ns) ||
	    !(placed_watched[placed->group % WAKEGOV_PLACED_GROUPS] & bit))
		return;
	if (emit(WAKEGOV_RECORD_FULL_CACHE, cpu->cache, placed->group))
		placed_watched[placed->group % WAKEGOV_PLACED_GROUPS] &= ~bit;
}

static __noinline void switch_placed(struct wakegov_cpu *cpu, struct task_struct *prev,
				     struct task_struct *next, bool sleeps, __u64 now_ns)
{
	note_busy(cpu, next->pid, now_ns);
	if (prev->pid && !sleeps) {
		struct wakegov_placed *placed = find_placed(prev->pid);

		if (placed)
			placed->waits_since_ns = now_ns;
	}
	if (next->pid)
		enter_placed(cpu, next, now_ns);
}

/* A child starts in its parent's group with its parent's affinity; the daemon may change both. */
static __noinline void fork_placed(__u32 parent_pid, struct task_struct *child)
{
	struct wakegov_placed *from = find_placed(parent_pid), born = { 0 };
	__u32 pid = child->pid;

	if (!from)
		return;
	born.group = from->group;
	born.waits_since_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&placed, &pid, &born, BPF_ANY);
	emit(WAKEGOV_RECORD_PLACED_CHILD, parent_pid, pid);
}
