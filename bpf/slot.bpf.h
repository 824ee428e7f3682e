/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Slots: where the daemon reads the totals of tasks that do I/O, the *hot* ones. */

#include "maps.bpf.h"

/* The number of hot tasks whose pid has this remainder; 0: skips the look-up of the slot. */
static inline __u32 *hot_count(__u32 pid)
{
	return (__u32 *)&hot_tasks[pid % WAKEGOV_HOT];
}

static inline bool may_be_hot(__u32 pid)
{
	return hot_tasks[pid % WAKEGOV_HOT];
}

static inline struct wakegov_slot *slot_at(__u32 index)
{
	return &slots[index % WAKEGOV_SLOTS];
}

static inline __u32 slot_place(__u32 pid, int probe)
{
	return (pid * 2654435761U + probe) % WAKEGOV_SLOTS; /* Knuth's multiplicative hash */
}

static __noinline struct wakegov_slot *find_displaced_slot(__u32 pid)
{
	for (int i = 1; i < WAKEGOV_SLOT_PROBES; i++) {
		struct wakegov_slot *slot = slot_at(slot_place(pid, i));

		if (slot->live == pid)
			return slot;
	}
	return NULL;
}

/*
 * The slot of a task. A hot task mostly has it in the first place tried, and this skips the
 * counters of may_be_hot(). Where most tasks are cold, call that first.
 */
static inline struct wakegov_slot *find_slot(__u32 pid)
{
	struct wakegov_slot *slot = slot_at(slot_place(pid, 0));

	if (slot->live == pid)
		return slot;
	return may_be_hot(pid) ? find_displaced_slot(pid) : NULL;
}

static inline __u32 slot_index(const struct wakegov_slot *slot)
{
	return slot->id % WAKEGOV_SLOTS;
}

/* Claims a slot for the task. Returns its index, or WAKEGOV_SLOTS if all are taken. */
VERIFIED_ONCE __u32 claim_slot_index(__u32 pid)
{
	for (int i = 0; i < WAKEGOV_SLOT_PROBES; i++) {
		__u32 index = slot_place(pid, i);
		struct wakegov_slot *slot = slot_at(index);

		if (!__sync_val_compare_and_swap(&slot->pid, 0, pid)) {
			__sync_fetch_and_add(hot_count(pid), 1);
			/* Generations are odd, so that no id is 0. */
			slot->id = (((slot->id >> WAKEGOV_SLOT_BITS) + 2) | 1)
					   << WAKEGOV_SLOT_BITS |
				   index;
			return index;
		}
	}
	return WAKEGOV_SLOTS;
}

/* Releases a slot that the daemon has not seen. The daemon releases all others. */
static inline void give_back_slot(struct wakegov_slot *slot)
{
	__sync_fetch_and_add(hot_count(slot->pid), -1);
	slot->live = 0;
	slot->pid = 0;
}

/*
 * io_uring's workers. When a request cannot be sent at once, because no tag is free or the file
 * system would sleep, the kernel hands it to a worker thread of the ring's owner. The worker sends
 * and waits in the owner's place, so its I/O counts for the owner.
 */

#define WORKER_PREFIX 8 /* "iou-wrk-" */

/*
 * The owner's pid, which io_wq_worker() in io-wq.c writes into the worker's name; 0: it was
 * renamed. The structures that lead to the owner changed in 6.3, and libbpf would search the BTF of
 * modules for a missing one, which the daemon may not do.
 */
static __noinline __u32 owner_of(struct task_struct *task)
{
	char comm[sizeof(task->comm)];
	__u32 pid = 0;

	if (BPF_CORE_READ_STR_INTO(&comm, task, comm) <= WORKER_PREFIX)
		return 0;
	for (__u32 i = WORKER_PREFIX; i < sizeof(comm) && comm[i]; i++) {
		__u32 digit = comm[i] - '0';

		if (digit > 9)
			return 0;
		pid = pid * 10 + digit;
	}
	return pid;
}

/* The slot of the owner; NULL: the task is no worker, or its owner has no slot. */
static inline struct wakegov_slot *find_owner(struct task_struct *task)
{
	__u32 pid = task->flags & PF_IO_WORKER ? owner_of(task) : 0;

	return pid ? find_slot(pid) : NULL;
}
