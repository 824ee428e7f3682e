/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Counts the I/O of tasks. A task with enough I/O in a window claims a slot, from which the daemon
 * then reads its totals.
 */

#include "bytes.bpf.h"
#include "slot.bpf.h"

enum io_kind { IO_WAIT, IO_START };

/*
 * I/O of tasks without a slot in the present window. Tasks whose pids have the same remainder share
 * one count, so a slow task may claim a slot; the daemon releases it.
 */
struct cold_tasks {
	__u64 window_ns; /* start of the window */
	__u32 n[2];	 /* by enum io_kind */
};

static struct cold_tasks cold_tasks[WAKEGOV_HOT];

static inline void enter(struct task_struct *task, const struct cold_tasks *cold, __u64 now_ns)
{
	__u32 index = claim_slot_index(task->pid);
	struct wakegov_slot *slot = slot_at(index);
	struct wakegov_cpu *cpu;

	if (index == WAKEGOV_SLOTS) {
		cpu = this_cpu();
		if (cpu)
			cpu->drops_slots++;
		return;
	}
	slot->tgid = task->tgid;
	slot->cpu = task->thread_info.cpu;
	slot->live = task->pid;
	slot->io_waits = cold->n[IO_WAIT];
	slot->io_starts = cold->n[IO_START];
	slot->sync_waits = 0;
	slot->last_start_ns = 0;
	slot->last_wait_ns = now_ns;
	slot->told_move_ns = now_ns;
	slot->hold_ns = 0;
	slot->request_ns = 0;
	slot->task = (unsigned long)task;
	slot->bytes = bytes_of(task);
	slot->interrupts_ns = 0;
	slot->ran_ns = 0;
	slot->delay_ns = 0;
	slot->device = WAKEGOV_NO_DEVICE;
	for (int i = 0; i < WAKEGOV_SLOT_IOS; i++)
		slot->ios[i].device = WAKEGOV_NO_DEVICE;
	BPF_CORE_READ_STR_INTO(&slot->comm, task, comm);
	if (!emit(WAKEGOV_RECORD_TASK, slot->cpu, slot_index(slot)))
		give_back_slot(slot); /* the next full window tries again */
}

/*
 * A task that is younger than a window may be a command that reads its program and ends: to learn
 * of each would attach and detach programs at it, for which every CPU is interrupted.
 */
static __noinline void count_cold_io(struct task_struct *task, enum io_kind kind, __u64 now_ns)
{
	struct cold_tasks *cold = &cold_tasks[(__u32)task->pid % WAKEGOV_HOT];

	if (!settings.window_ios || (__u32)task->tgid == settings.own_tgid)
		return;
	if (now_ns - cold->window_ns > settings.window_ns) {
		cold->window_ns = now_ns;
		cold->n[IO_WAIT] = 0;
		cold->n[IO_START] = 0;
	}
	if (++cold->n[kind & 1] < settings.window_ios)
		return;
	if (now_ns - task->start_time >= settings.window_ns)
		enter(task, cold, now_ns);
	cold->window_ns = 0;
}

/*
 * An uninterruptible wait is for the request that the task has just sent; others are for any
 * request in its queue.
 */
static inline void note_wait(struct wakegov_slot *slot, __u32 state, __u64 now_ns)
{
	slot->io_waits++;
	slot->sync_waits += state / TASK_UNINTERRUPTIBLE % 2;
	slot->last_wait_ns = now_ns;
}

/* Counts an I/O wait. Waits of io_uring's workers are not counted: their owner waits as well. */
static inline void count_wait(struct task_struct *task, struct wakegov_slot *slot, __u32 state,
			      __u64 now_ns)
{
	if (!slot) {
		if (!find_owner(task))
			count_cold_io(task, IO_WAIT, now_ns);
		return;
	}
	note_wait(slot, state, now_ns);
}

/*
 * A boost ends a hold time after its task's last I/O. A timer for each slot waits for that moment
 * and emits a record, so the daemon need not wake up to check.
 */

struct hold {
	struct bpf_timer timer;
};

/* By the index of the slot. */
MAP(ARRAY, 0, WAKEGOV_SLOTS, struct hold) holds SEC(".maps");

/* Emits one record. If the ring buffer is full, tries again after another hold time. */
static int on_hold_end(void *map, __u32 *index, struct hold *hold)
{
	struct wakegov_slot *slot = slot_at(*index);
	__u64 hold_ns = slot->hold_ns, now_ns, end_ns;

	if (!hold_ns || !slot->live)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (settings.by_bytes && is_live(slot))
		read_bytes(slot, now_ns);
	end_ns = wakegov_slot_last_ns(slot) + hold_ns;
	if (end_ns > now_ns)
		hold_ns = end_ns - now_ns;
	else if (emit(WAKEGOV_RECORD_TASK, slot->cpu, *index)) {
		slot->hold_ns = 0;
		return 0;
	}
	bpf_timer_start(&hold->timer, hold_ns, 0);
	return 0;
}

/* The daemon runs this: the programs at wake-ups run under locks, and cannot set up a timer. */
SEC("syscall")
int watch_hold(struct wakegov_watch *watch)
{
	__u32 index = watch->slot;
	struct hold *hold = bpf_map_lookup_elem(&holds, &index);

	if (!hold)
		return 0;
	bpf_timer_init(&hold->timer, &holds, CLOCK_MONOTONIC); /* fails if it was done before */
	bpf_timer_set_callback(&hold->timer, on_hold_end);
	return bpf_timer_start(&hold->timer, watch->hold_ns, 0);
}
