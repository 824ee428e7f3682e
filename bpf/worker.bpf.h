/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * io_uring's workers. What cannot be sent at once, because no tag is free or the file system would
 * sleep, is handed to threads that the kernel makes beside the task that owns the ring. They send
 * its requests and wait in its place, each for a few: it is the owner whose I/O that is.
 */

#include "slot.bpf.h"

#define WORKER_PREFIX 8 /* "iou-wrk-" */

/*
 * The kernel calls a worker by its owner's pid, as ps shows it: io_wq_worker() in io-wq.c. The
 * structures that lead there are others in 6.3 and newer, and libbpf would want rights that the
 * daemon has not, to look for those that are missing in the kernel's modules. 0: it was renamed.
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

/* The slot of the owner; NULL: it is no worker, or its owner is not known to do I/O. */
static inline struct wakegov_slot *find_owner(struct task_struct *task)
{
	__u32 pid = task->flags & PF_IO_WORKER ? owner_of(task) : 0;

	return pid ? find_slot(pid) : NULL;
}
