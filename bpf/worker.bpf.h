/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * io_uring's workers. When a request cannot be sent at once, because no tag is free or the file
 * system would sleep, the kernel hands it to a worker thread of the ring's owner. The worker sends
 * and waits in the owner's place, so its I/O counts for the owner.
 */

#include "slot.bpf.h"

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
