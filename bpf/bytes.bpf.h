/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * I/O by the bytes that the kernel accounts to each task (task_io_account_read() and
 * task_io_account_write()). While no program runs at the start of requests, the daemon computes the
 * number of a hot task's requests from its bytes and their size. Ticks and accounted sleeps find
 * tasks without a slot that send requests without waiting. Ticks alone do not suffice: requests on
 * a timer may be in step with them, and never be running at one.
 */

#include "slot.bpf.h"

#define LEAST_BYTES 512 /* of a request */
/*
 * Least time between two LOOK records for one task, doubled with each, since a task that writes to
 * the page cache has bytes but no requests. The daemon may allow other tasks a LOOK earlier.
 */
#define LOOK_GAP_NS	1000000000ULL
#define LOOK_GAP_MAX_NS (16 * LOOK_GAP_NS)
#define BYTES_PAUSE_NS	900000ULL /* less than a tick: timers in between skip the check */

/*
 * The bytes of a task without a slot at its last tick. Tasks whose pids have the same remainder
 * overwrite each other's entry.
 */
struct cold_bytes {
	__u64 seen_ns;
	__u64 bytes;
	__u64 look_next_ns; /* earliest LOOK for this task */
	__u64 look_gap_ns;
	__u64 pid;
};

static struct cold_bytes cold_bytes[WAKEGOV_HOT];

static inline __u64 bytes_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->ioac.read_bytes))
		return 0;
	return task->ioac.read_bytes + task->ioac.write_bytes;
}

/* The task may have exited, and its memory may belong to another task: compares the pid. */
static inline bool is_live(const struct wakegov_slot *slot)
{
	struct task_struct *task = (void *)slot->task;

	return slot->live && (__u32)BPF_CORE_READ(task, pid) == slot->pid;
}

/* The task must pass is_live(). */
static inline void read_bytes(struct wakegov_slot *slot, __u64 now_ns)
{
	struct task_struct *task = (void *)slot->task;
	__u64 bytes;

	if (!bpf_core_field_exists(task->ioac.read_bytes))
		return;
	bytes = BPF_CORE_READ(task, ioac.read_bytes) + BPF_CORE_READ(task, ioac.write_bytes);
	if (bytes == slot->bytes)
		return;
	slot->bytes = bytes;
	if (settings.by_bytes)
		slot->last_start_ns = now_ns;
}

/*
 * Asks the daemon for a look when the task may be hot: when its bytes suffice with requests of the
 * least size.
 */
static __noinline void suspect(struct task_struct *task, struct cold_bytes *seen, __u64 now_ns)
{
	__u64 bytes = bytes_of(task), grown = bytes - seen->bytes,
	      passed_ns = now_ns - seen->seen_ns;
	__u64 least = settings.window_ios * LEAST_BYTES;
	bool known = seen->pid == (__u32)task->pid && passed_ns < LOOK_GAP_NS;

	if (known && grown < least && passed_ns < settings.window_ns)
		return; /* the window is not over yet */
	if (seen->pid != (__u32)task->pid) {
		seen->look_next_ns = 0;
		seen->look_gap_ns = LOOK_GAP_NS;
	}
	seen->seen_ns = now_ns;
	seen->bytes = bytes;
	seen->pid = task->pid;
	if (!known || !least || now_ns < settings.look_next_ns || now_ns < seen->look_next_ns ||
	    grown < least || grown * settings.window_ns < least * passed_ns ||
	    (__u32)task->tgid == settings.own_tgid || find_slot(task->pid))
		return;
	if (!emit_class(WAKEGOV_RECORD_LOOK, 0, 0, true))
		return;
	settings.look_next_ns = now_ns + LOOK_GAP_NS; /* until the daemon allows one earlier */
	seen->look_next_ns = now_ns + seen->look_gap_ns;
	if (seen->look_gap_ns < LOOK_GAP_MAX_NS)
		seen->look_gap_ns *= 2;
}

static inline void watch_bytes(struct task_struct *task, __u64 now_ns)
{
	struct cold_bytes *seen = &cold_bytes[(__u32)task->pid % WAKEGOV_HOT];

	if (settings.by_bytes && bytes_of(task) && now_ns - seen->seen_ns >= BYTES_PAUSE_NS)
		suspect(task, seen, now_ns);
}

/* Reads CPU time and time spent waiting for a CPU; 0 where the kernel does not count it. */
static inline void read_times(struct wakegov_slot *slot)
{
	struct task_struct *task = (void *)slot->task;

	slot->ran_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	if (bpf_core_field_exists(task->sched_info.run_delay))
		slot->delay_ns = BPF_CORE_READ(task, sched_info.run_delay);
}

/* The daemon runs this before it reads the slot. */
SEC("syscall")
int read_task(struct wakegov_watch *watch)
{
	struct wakegov_slot *slot = slot_at(watch->slot);

	if (!is_live(slot))
		return 0;
	read_times(slot);
	read_bytes(slot, bpf_ktime_get_ns());
	return 0;
}
