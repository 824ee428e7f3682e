/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The attributes of tasks for the keys of rules. A change emits a record, and an iterator dumps all
 * tasks on request. A child starts with its parent's attributes, so only children of matching tasks
 * are reported. Most of them wait first, and those that exit during the wait are never reported.
 */

#include "chain_place.bpf.h"
#include "clamped.bpf.h"
#include "maps.bpf.h"
#include "slot.bpf.h"

/*
 * Read before the check that the task is not exiting: if the number is unchanged, the task still
 * lives.
 */
static inline __u32 ends_of(const struct task_struct *task)
{
	__u32 ends = __sync_fetch_and_add(&task_ends[(__u32)task->pid % WAKEGOV_ENDS], 0);

	return task->flags & PF_EXITING ? 0 : ends + 1;
}

static __always_inline void read_facts(struct task_struct *task, struct task_facts *facts)
{
	facts->ends = ends_of(task);
	facts->cpu = task->thread_info.cpu;
	facts->pid = task->pid;
	facts->tgid = task->tgid;
	facts->start_ns = task->start_boottime;
	facts->cgroup_id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	facts->uid = BPF_CORE_READ(task, cred, euid.val);
	facts->scheduler = task->policy;
	facts->nice = task->static_prio - DEFAULT_PRIO;
	facts->kernel_thread = !!(task->flags & PF_KTHREAD);
	facts->parent = BPF_CORE_READ(task, real_parent, tgid);
	BPF_CORE_READ_STR_INTO(&facts->comm, task, comm);
}

static inline struct wakegov_child *child_at(__u32 pid)
{
	return &children[pid % WAKEGOV_CHILDREN];
}

/* Ends the wait of a child. Returns false if it did not wait. */
static inline bool end_child_wait(__u32 pid)
{
	struct wakegov_child *child = child_at(pid);

	return child->pid == pid && __sync_val_compare_and_swap(&child->pid, pid, 0) == pid;
}

/* A full ring buffer is counted, and makes the daemon dump all tasks. */
static inline struct wakegov_facts_record *reserve_facts(void)
{
	struct wakegov_facts_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	struct wakegov_cpu *here;

	if (!record) {
		here = this_cpu();
		if (here)
			here->drops_ring++;
		return NULL;
	}
	record->head.type = WAKEGOV_RECORD_FACTS;
	record->head.cpu = 0;
	record->head.slot = 0;
	record->head.class = 0;
	return record;
}

/* Reports a waiting child with its attributes as of the fork; if not whole, only its parent. */
VERIFIED_ONCE int report_child(__u32 pid, bool whole)
{
	struct wakegov_facts_record *record = NULL;
	struct wakegov_child *child = child_at(pid);
	__u32 parent, clamped;

	if (child->pid != pid)
		return 0;
	parent = child->parent;
	clamped = child->clamped;
	if (whole)
		record = reserve_facts();
	if (record)
		record->facts = child->facts;
	if (!end_child_wait(pid)) {
		if (record)
			bpf_ringbuf_discard(record, 0);
		return 0;
	}
	if (record)
		bpf_ringbuf_submit(record, 0);
	if (clamped)
		emit_class(WAKEGOV_RECORD_CHILD, parent, pid, 0);
	return 0;
}

static __noinline void emit_facts(struct task_struct *task, const char *comm)
{
	struct wakegov_facts_record *record;

	report_child(task->pid, false);
	record = reserve_facts();
	if (!record)
		return;
	read_facts(task, &record->facts);
	if (comm)
		bpf_probe_read_kernel_str(record->facts.comm, sizeof(record->facts.comm), comm);
	bpf_ringbuf_submit(record, 0);
}

/* Reports all threads of the task's process. */
static inline void emit_process(struct task_struct *task)
{
	if (task->signal->nr_threads > 1)
		emit(WAKEGOV_RECORD_SCAN, 0, 0);
	else
		emit_facts(task, NULL);
}

/*
 * Lets the child wait, if it has all effects of its parent's rules already: it inherits classes and
 * clamps, and boosts are for tasks that have lived for longer. Returns false if it may not wait, or
 * if its place is taken.
 */
static inline bool defer_child(__u32 parent_pid, bool clamped, struct task_struct *child)
{
	__u32 pid = child->pid;
	struct wakegov_child *place = child_at(pid);

	if (settings.placing || settings.idle_latencies ||
	    __sync_val_compare_and_swap(&place->pid, 0, WAKEGOV_CHILD_FILLED))
		return false;
	place->parent = parent_pid;
	place->clamped = clamped;
	place->born_ns = bpf_ktime_get_ns();
	read_facts(child, &place->facts);
	__sync_val_compare_and_swap(&place->pid, WAKEGOV_CHILD_FILLED, pid);
	if (!children_wait) {
		children_wait = 1;
		emit(WAKEGOV_RECORD_CHILDREN, 0, 0);
	}
	return true;
}

/* moved: the child has another cgroup than its parent. */
static __noinline void follow_fork(__u32 parent_pid, struct task_struct *child, bool moved)
{
	bool clamped = settings.follow_clamps && has_clamps(child), inherits;
	bool kept = end_keeping(parent_pid);
	__u32 pid = child->pid, one = 1;

	inherits = settings.follow && bpf_map_lookup_elem(&matching, &parent_pid);
	/* Rules see no other difference between a child and its parent. */
	if (inherits || (settings.follow & WAKEGOV_FOLLOW_CGROUPS && moved)) {
		report_child(parent_pid, true);
		if (inherits)
			bpf_map_update_elem(&matching, &pid, &one, BPF_ANY);
		/* A clamp that its parent had for its pieces is no effect of rules. */
		if (inherits && !moved && !kept && defer_child(parent_pid, clamped, child))
			return;
		emit_facts(child, NULL);
	}
	if (clamped)
		emit_class(WAKEGOV_RECORD_CHILD, parent_pid, pid, 0);
}

/* A child that waits disappears unreported. */
static __noinline void follow_end(__u32 pid)
{
	bool waits = end_child_wait(pid);

	if (bpf_map_delete_elem(&matching, &pid) == 0 && !waits)
		emit(WAKEGOV_RECORD_GONE, 0, pid);
}

static __noinline void follow_exec(struct task_struct *task)
{
	__u32 pid = task->pid;

	if (settings.follow & WAKEGOV_FOLLOW_EXECS || bpf_map_lookup_elem(&matching, &pid))
		emit_facts(task, NULL);
}

/* Runs before task->comm changes. An exec renames the task too. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *task, const char *comm)
{
	struct wakegov_slot *slot = find_slot(task->pid);

	count_event(WAKEGOV_TASK_RENAME);
	if (slot)
		bpf_probe_read_kernel_str(slot->comm, sizeof(slot->comm), comm);
	if (settings.follow & WAKEGOV_FOLLOW_RENAMES)
		emit_facts(task, comm);
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_attach_task, struct cgroup *to, const char *path, struct task_struct *task,
	     bool threadgroup)
{
	if (!(settings.follow & WAKEGOV_FOLLOW_CGROUPS))
		return 0;
	count_event(WAKEGOV_CGROUP_MOVE);
	if (threadgroup)
		emit_process(task);
	else
		emit_facts(task, NULL);
	return 0;
}
