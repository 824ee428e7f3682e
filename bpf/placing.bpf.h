/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Placement: counts wake-ups within a group by the last-level cache of the waker and of the CPU
 * where the task then runs, how long woken tasks wait, and caches in which no CPU has been idle for
 * long. While no rule or class with a placement has a task, these functions are not called.
 * Wake-ups by tasks outside the group and by interrupts are not counted: they say nothing about the
 * group's cache.
 */

#include "maps.bpf.h"

static inline struct wakegov_placed *find_placed(__u32 pid)
{
	return bpf_map_lookup_elem(&placed, &pid);
}

static inline struct wakegov_placed_group *placed_group(__u32 group)
{
	return bpf_map_lookup_elem(&placed_groups, &group);
}

static inline struct wakegov_cache *cache_of(const struct wakegov_cpu *cpu)
{
	__u32 cache = cpu->cache;

	return bpf_map_lookup_elem(&caches, &cache);
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

/* Emits a record when a task of the group is runnable in a cache that has been full for long. */
static inline void press(struct wakegov_placed_group *group, __u32 index,
			 const struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u64 bit = 1ULL << cpu->cache % WAKEGOV_CACHES;
	const struct wakegov_cache *cache;

	if (!(group->watch & bit))
		return;
	cache = cache_of(cpu);
	if (!cache || !is_full(cache, now_ns))
		return;
	if (emit_class(WAKEGOV_RECORD_FULL_CACHE, cpu->cache, index, 0))
		group->watch &= ~bit;
}

static inline void note_runnable(struct wakegov_placed_group *group, struct wakegov_placed *task)
{
	__u32 n;

	if (task->runnable)
		return;
	task->runnable = 1;
	n = __sync_fetch_and_add(&group->n_runnable, 1) + 1;
	if (n > group->max_runnable)
		group->max_runnable = n;
}

static inline void note_asleep(struct wakegov_placed_group *group, struct wakegov_placed *task)
{
	if (!task->runnable)
		return;
	task->runnable = 0;
	__sync_fetch_and_add(&group->n_runnable, -1);
}

/* sched_waking runs on the waker's CPU; the task's CPU is still the one where it slept. */
static __noinline void waking_placed(struct task_struct *task)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct wakegov_placed *to = find_placed(task->pid), *from;
	struct wakegov_cpu *here, *there;
	struct wakegov_placed_group *group;

	if (!to || task == waker)
		return;
	group = placed_group(to->group);
	here = this_cpu();
	there = cpu_at(task->thread_info.cpu);
	if (!group || !here || !there)
		return;
	from = waker->pid ? find_placed(waker->pid) : NULL;
	note_runnable(group, to);
	to->woken_ns = bpf_ktime_get_ns();
	to->waker_cache = from && from->group == to->group ? here->cache : WAKEGOV_NO_CACHE;
	press(group, to->group, there, to->woken_ns);
	if (group->watch_wake && emit_class(WAKEGOV_RECORD_GROUP_WAKES, 0, to->group, 0))
		group->watch_wake = 0;
}

static inline void leave_placed(struct wakegov_cpu *cpu, __u32 pid, bool sleeps, __u64 now_ns)
{
	struct wakegov_placed *task = find_placed(pid);
	struct wakegov_placed_group *group;

	if (!task)
		return;
	group = placed_group(task->group);
	if (!group)
		return;
	if (task->ran_since_ns)
		__sync_fetch_and_add(&group->run_ns[cpu->cache % WAKEGOV_CACHES],
				     now_ns - task->ran_since_ns);
	task->ran_since_ns = 0;
	if (sleeps)
		note_asleep(group, task);
	else
		press(group, task->group, cpu, now_ns);
}

static inline void enter_placed(struct wakegov_cpu *cpu, __u32 pid, __u64 now_ns)
{
	struct wakegov_placed *task = find_placed(pid);
	struct wakegov_placed_group *group;
	__u32 bucket;

	if (!task)
		return;
	task->ran_since_ns = now_ns;
	group = placed_group(task->group);
	if (!group)
		return;
	note_runnable(group, task);
	if (!task->woken_ns)
		return;
	bucket = wakegov_latency_bucket(now_ns - task->woken_ns);
	if (bucket < WAKEGOV_LATENCIES)
		__sync_fetch_and_add(&group->latencies[bucket], 1);
	task->woken_ns = 0;
	if (task->waker_cache == WAKEGOV_NO_CACHE)
		return;
	__sync_fetch_and_add(&group->wakeups, 1);
	if (task->waker_cache == cpu->cache)
		__sync_fetch_and_add(&group->inside, 1);
}

static __noinline void switch_placed(struct wakegov_cpu *cpu, struct task_struct *prev,
				     struct task_struct *next, bool sleeps, __u64 now_ns)
{
	if (!cpu)
		return; /* never NULL; the verifier needs the check */
	note_busy(cpu, next->pid, now_ns);
	if (prev->pid)
		leave_placed(cpu, prev->pid, sleeps, now_ns);
	if (next->pid)
		enter_placed(cpu, next->pid, now_ns);
}

/* A child starts in its parent's group and with its affinity; the daemon may change that. */
static __noinline void fork_placed(struct task_struct *parent, struct task_struct *child)
{
	struct wakegov_placed *from = find_placed(parent->pid), born = { 0 };
	struct wakegov_cpu *here = this_cpu();
	struct wakegov_placed_group *group;
	__u32 pid = child->pid;

	if (!from || !here)
		return;
	group = placed_group(from->group);
	if (!group)
		return;
	born.group = from->group;
	born.woken_ns = bpf_ktime_get_ns();
	born.waker_cache = WAKEGOV_NO_CACHE;
	note_runnable(group, &born);
	bpf_map_update_elem(&placed, &pid, &born, BPF_ANY);
	emit_class(WAKEGOV_RECORD_PLACED_CHILD, parent->pid, pid, here->cache);
}

static inline void end_placed(const struct task_struct *task)
{
	struct wakegov_placed *ended = find_placed(task->pid);
	struct wakegov_placed_group *group;
	__u32 pid = task->pid;

	if (!ended)
		return;
	group = placed_group(ended->group);
	if (group)
		note_asleep(group, ended);
	bpf_map_delete_elem(&placed, &pid);
}
