/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The state that the programs share with each other and with src/tracer. */

#include "kernel.h"
#include "wakegov/abi.h"

#define OF_TASK(value_type)                              \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_TASK_STORAGE); \
		__uint(map_flags, BPF_F_NO_PREALLOC);    \
		__type(key, int);                        \
		__type(value, value_type);               \
	}

#define MAP(map_type, flags, n, value_type)            \
	struct {                                       \
		__uint(type, BPF_MAP_TYPE_##map_type); \
		__uint(map_flags, flags);              \
		__uint(max_entries, n);                \
		__type(key, __u32);                    \
		__type(value, value_type);             \
	}

#define BY_PID(value_type, n) MAP(HASH, BPF_F_NO_PREALLOC, n, value_type)

/* The tracer sets the number of CPUs. */
MAP(ARRAY, BPF_F_MMAPABLE, 1, struct wakegov_cpu) cpus SEC(".maps");

/* The utilisation of tasks that ran at a tick, and of their children. */
OF_TASK(struct account_task) tasks SEC(".maps");

/*
 * The chains of such tasks and of their parents, in pairs by the remainder of the thread id: with a
 * hundred tasks at work, one in a thousand finds both places of its pair taken. Task storage would
 * have to allocate a child's at each fork: 1,119 instructions instead of 167. The map is not mapped
 * into the daemon, which would then be charged for its memory.
 */
MAP(ARRAY, 0, WAKEGOV_CHAIN_PAIRS, struct wakegov_chain_pair) chains SEC(".maps");

/* Bursts of tasks that ran at a tick or have a clamp class. */
struct task_run {
	__u64 full_burst_ns; /* CPU time since the wake-up, scaled to full capacity */
	__u64 whole_ns;	     /* the same without an upper bound, for classes with a response time */
	__u64 seen_ns;	     /* the same in smaller steps; real time while mean_ns is 0 */
	__u64 real_ns;	     /* the same in real time, unscaled */
	__u64 told_ns;	     /* when co_runner last changed */
	__u32 mean_ns;	     /* mean of past bursts at full capacity */
	__u32 generation;    /* generation of task_classes at which class was read */
	__u32 class;
	__u32 co_runner; /* the class of the capped tasks that it was last reported beside; 0:
			  * none */
	__u32 co_runner_generation;
	__u32 own; /* its own clamps as last reported: wakegov_own() */
	__u64 own_told_ns;
};

_Static_assert(sizeof(struct task_run) <= 120, "STORED_BYTES of src/tracer/tracer.c is too low");

OF_TASK(struct task_run) task_runs SEC(".maps");

/* Clamp classes, by thread id. The daemon writes them; 0: the task has lost its class. */
BY_PID(__u32, WAKEGOV_RULED_TASKS) task_classes SEC(".maps");

/* Tasks that match rules, by thread id. Their forks and exits emit a record. */
BY_PID(__u32, WAKEGOV_MATCHING) matching SEC(".maps");

/* The program of each process, while a rule goes by it. */
BY_PID(struct wakegov_process, WAKEGOV_PROCESSES) processes SEC(".maps");

/* The idle latencies of tasks, in us, by thread id. */
BY_PID(__u32, WAKEGOV_RULED_TASKS) idle_latencies SEC(".maps");

/* Placed tasks, by thread id. */
BY_PID(struct wakegov_placed, WAKEGOV_RULED_TASKS) placed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, WAKEGOV_RING_BYTES);
} records SEC(".maps");

/*
 * In .bss instead of separate maps: a look-up takes half the instructions, and cannot fail. All of
 * it is mapped into the daemon (src/tracer/programs.c).
 */
struct wakegov_slot slots[WAKEGOV_SLOTS];
struct wakegov_device devices[WAKEGOV_DEVICES];
__u64 placed_watched[WAKEGOV_PLACED_GROUPS]; /* caches, as bits, to report when full */
struct wakegov_cache caches[WAKEGOV_CACHES];
volatile struct wakegov_settings settings;
volatile __u32 hot_tasks[WAKEGOV_HOT];
volatile __u32 ruled_tasks[WAKEGOV_RULED];
struct wakegov_bursts bursts[WAKEGOV_CLAMP_CLASSES];
/* Sequence numbers of disks without a place, hashed by remainder. The daemon clears them. */
volatile __u64 unplaced[WAKEGOV_UNPLACED];
/* Exits of tasks whose pid has this remainder. */
volatile __u32 task_ends[WAKEGOV_ENDS];
struct wakegov_child children[WAKEGOV_CHILDREN];
volatile __u32 children_wait;	  /* the daemon knows that some wait */
volatile __u32 ticks_ended;	  /* while only ticks are traced: the ticks of a domain ended */
volatile __u32 followed_chains;	  /* settings.chains; 0: chains are not followed … */
volatile __u64 chains_stopped_ns; /* … since this time */
volatile __u64 chains_skipped_ns; /* the sum of such times so far */
struct wakegov_shares process_shares;
volatile __u32 n_processes;	  /* in the map */
volatile __u64 processes_refused; /* processes that found no place in it */
volatile __s64 n_stored;	  /* entries of task storage */
volatile __s64 n_stored_found;	  /* those that dump_tasks() saw */
volatile __u64 stored_refused;	  /* how often a task got no entry */
volatile __u64 chains_refused;	  /* ticks that met a task without a place in chains */
volatile __u32 clamps_seen;	  /* a task with own clamps was seen since they are followed */
/* The lowest idle latency of tasks since the daemon last read it, and the one that it holds. */
volatile __u32 idle_asked_us;
volatile __u32 idle_held_us;
volatile __u32 news; /* pending news of all CPUs and of the machine: enum wakegov_news */

/*
 * Whether any BPF program keeps storage for the task. Most tasks have none, and this test takes a
 * seventh of the time of a failing look-up.
 *
 * When the verifier meets the load of a pointer from a task or a request, it searches all types of
 * the kernel by name several times, for 1 to 2 ms. So a program loads such pointers once, before it
 * has branches.
 */
static inline bool has_storage(const struct task_struct *task)
{
	struct bpf_local_storage *storage = task->bpf_storage;

	__asm__ volatile("" : "+r"(storage)); /* keeps compilers from moving the load */
	return storage;
}

/*
 * Whether the task may get an entry of task storage, whose memory is charged to the daemon. Exiting
 * tasks' entries are no longer counted.
 */
static inline bool may_store(const struct task_struct *task)
{
	if (task->flags & PF_EXITING)
		return false;
	if (n_stored < settings.max_stored)
		return true;
	__sync_fetch_and_add(&stored_refused, 1);
	return false;
}

/* Finds or adds the task's entry. NULL: it has none and may not get one. */
static inline void *find_or_add_stored(void *map, struct task_struct *task)
{
	void *stored = bpf_task_storage_get(map, task, NULL, 0);

	if (stored || !may_store(task))
		return stored;
	stored = bpf_task_storage_get(map, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (stored)
		__sync_fetch_and_add(&n_stored, 1);
	return stored;
}

static inline __s64 count_stored(struct task_struct *task)
{
	return !!bpf_task_storage_get(&tasks, task, NULL, 0) +
	       !!bpf_task_storage_get(&task_runs, task, NULL, 0);
}

/* BPF_CORE_READ_BITFIELD() without its branches by size: an unsigned bit field has four bytes. */
static inline bool is_in_iowait(const struct task_struct *task)
{
	__u64 word =
		*(const __u32 *)((const void *)task + __CORE_RELO(task, in_iowait, BYTE_OFFSET));

	return (__s64)(word << __CORE_RELO(task, in_iowait, LSHIFT_U64)) < 0;
}

static inline struct wakegov_cpu *cpu_at(__u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

static inline struct wakegov_cpu *this_cpu(void)
{
	return cpu_at(bpf_get_smp_processor_id());
}

/* Counts a run of a program in this CPU's own counters, which no other CPU writes. */
static inline struct wakegov_cpu *count_event(enum wakegov_program program)
{
	struct wakegov_cpu *cpu = this_cpu();

	if (cpu)
		cpu->events[program]++;
	return cpu;
}

/* Emits a record. Returns false, and counts a drop, when the ring buffer is full. */
static inline bool emit_class(__u32 type, __u32 cpu, __u32 slot, __u32 class)
{
	struct wakegov_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	struct wakegov_cpu *here;

	if (!record) {
		here = this_cpu();
		if (here)
			here->drops_ring++;
		return false;
	}
	record->type = type;
	record->cpu = cpu;
	record->slot = slot;
	record->class = class;
	bpf_ringbuf_submit(record, 0);
	return true;
}

static inline bool emit(__u32 type, __u32 cpu, __u32 slot)
{
	return emit_class(type, cpu, slot, 0);
}

/* Leaves news for the daemon's next round; cpu is NULL for news of the whole machine. */
static inline void keep_news(struct wakegov_cpu *cpu, __u32 what)
{
	if (cpu)
		__sync_fetch_and_or(&cpu->news, what);
	__sync_fetch_and_or((__u32 *)&news, what);
}
