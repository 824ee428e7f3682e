/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Placement: counts how long the tasks of a group run and wait and what they get done, and finds
 * caches in which no CPU has been idle for long. While no rule or class with a placement has a
 * task, these functions are not called.
 */

#include "maps.bpf.h"

static inline struct wakegov_placed *find_placed(__u32 pid)
{
	return bpf_map_lookup_elem(&placed, &pid);
}

static inline struct wakegov_placed_group *placed_group(__u32 group)
{
	return &placed_groups[group % WAKEGOV_PLACED_GROUPS];
}

static inline struct wakegov_cache *cache_of(const struct wakegov_cpu *cpu)
{
	__u32 cache = cpu->cache;

	return cache < WAKEGOV_CACHES ? &caches[cache % WAKEGOV_CACHES] : NULL;
}

/*
 * The CPU that becomes busy last writes the time since when its cache is full. Another CPU may be
 * idle again by then, so is_full() also compares n_busy.
 */
static inline void note_busy(struct wakegov_cpu *cpu, bool busy, __u64 now_ns)
{
	struct wakegov_cache *cache = cache_of(cpu);

	if (cpu->placing_generation != settings.placing_generation) {
		cpu->placing_generation = settings.placing_generation;
		cpu->busy_ns = 0;
		cpu->busy_since_ns = 0;
	}
	if (!cache || busy == !!cpu->busy_since_ns)
		return;
	if (busy) {
		cpu->busy_since_ns = now_ns;
		if (__sync_fetch_and_add(&cache->n_busy, 1) + 1 >= cache->n_cpus)
			cache->full_since_ns = now_ns;
		return;
	}
	__sync_fetch_and_add(&cache->n_busy, -1);
	cpu->busy_ns += now_ns - cpu->busy_since_ns;
	cpu->busy_since_ns = 0;
}

static inline bool is_full(const struct wakegov_cache *cache, __u64 now_ns)
{
	return cache->n_busy >= cache->n_cpus &&
	       now_ns - cache->full_since_ns >= settings.full_limit_ns;
}

/* Shorter waits than this are for interrupts and work of the kernel, which every CPU has. */
#define FULL_WAIT_NS 1000000ULL

/* Emits a record when a task of the group had to wait in a cache that has been full for long. */
static inline void end_wait(struct wakegov_placed_group *group, __u32 index,
			    const struct wakegov_cpu *cpu, __u64 wait_ns, __u64 now_ns)
{
	__u64 bit = 1ULL << cpu->cache % WAKEGOV_CACHES;
	const struct wakegov_cache *cache;

	__sync_fetch_and_add(&group->wait_ns, wait_ns);
	if (wait_ns < FULL_WAIT_NS || !(group->watch & bit))
		return;
	cache = cache_of(cpu);
	if (!cache || !is_full(cache, now_ns))
		return;
	if (emit(WAKEGOV_RECORD_FULL_CACHE, cpu->cache, index))
		group->watch &= ~bit;
}

/* The kernel counts read(2), write(2) and their like, also of pipes and sockets. */
static inline __u64 calls_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->ioac.syscr))
		return 0;
	return task->ioac.syscr + task->ioac.syscw;
}

static __noinline void waking_placed(struct task_struct *task)
{
	struct wakegov_placed *placed = find_placed(task->pid);
	struct wakegov_placed_group *group;

	if (!placed || task == bpf_get_current_task_btf())
		return;
	placed->woken_ns = bpf_ktime_get_ns();
	group = placed_group(placed->group);
	if (group->watch_wake && emit(WAKEGOV_RECORD_GROUP_WAKES, 0, placed->group))
		group->watch_wake = 0;
}

/* Counts the task's time on the CPU, and what it did in it. */
static inline void note_placed_run(struct wakegov_placed_group *group,
				   struct wakegov_placed *placed, struct task_struct *task,
				   __u64 now_ns)
{
	__u64 calls = calls_of(task);

	if (placed->since_ns) {
		__sync_fetch_and_add(&group->run_ns, now_ns - placed->since_ns);
		__sync_fetch_and_add(&group->work, calls - placed->calls);
	}
	placed->since_ns = now_ns;
	placed->calls = calls;
}

static inline void leave_placed(struct task_struct *task, bool sleeps, __u64 now_ns)
{
	struct wakegov_placed *placed = find_placed(task->pid);
	struct wakegov_placed_group *group;
	__u64 calls;

	if (!placed)
		return;
	group = placed_group(placed->group);
	calls = placed->calls;
	note_placed_run(group, placed, task, now_ns);
	if (!sleeps)
		return;
	if (placed->calls == calls)
		__sync_fetch_and_add(&group->work, 1);
	placed->since_ns = 0;
}

/* A task may run for long without a switch. */
static __noinline void tick_placed(struct task_struct *task, __u64 now_ns)
{
	struct wakegov_placed *placed = find_placed(task->pid);

	if (placed)
		note_placed_run(placed_group(placed->group), placed, task, now_ns);
}

static inline void enter_placed(struct wakegov_cpu *cpu, struct task_struct *task, __u64 now_ns)
{
	struct wakegov_placed *placed = find_placed(task->pid);
	struct wakegov_placed_group *group;
	__u64 waits_since_ns;
	__u32 bucket;

	if (!placed)
		return;
	group = placed_group(placed->group);
	waits_since_ns = placed->since_ns ?: placed->woken_ns;
	if (waits_since_ns)
		end_wait(group, placed->group, cpu, now_ns - waits_since_ns, now_ns);
	placed->since_ns = now_ns;
	placed->calls = calls_of(task);
	if (!placed->woken_ns)
		return;
	bucket = wakegov_latency_bucket(now_ns - placed->woken_ns);
	if (bucket < WAKEGOV_LATENCIES)
		__sync_fetch_and_add(&group->latencies[bucket], 1);
	placed->woken_ns = 0;
}

static __noinline void switch_placed(struct wakegov_cpu *cpu, struct task_struct *prev,
				     struct task_struct *next, bool sleeps, __u64 now_ns)
{
	if (!cpu)
		return; /* never NULL; the verifier needs the check */
	note_busy(cpu, next->pid, now_ns);
	if (prev->pid)
		leave_placed(prev, sleeps, now_ns);
	if (next->pid)
		enter_placed(cpu, next, now_ns);
}

/* A child starts in its parent's group and with its affinity; the daemon may change that. */
static __noinline void fork_placed(__u32 parent_pid, struct task_struct *child)
{
	struct wakegov_placed *from = find_placed(parent_pid), born = { 0 };
	__u32 pid = child->pid;

	if (!from)
		return;
	born.group = from->group;
	born.woken_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&placed, &pid, &born, BPF_ANY);
	emit(WAKEGOV_RECORD_PLACED_CHILD, parent_pid, pid);
}
