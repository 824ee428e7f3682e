/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The attributes of tasks that rules ask for. A change emits a record, and an iterator dumps all
 * tasks on request. A child starts with its parent's attributes, so only forks of tasks that match
 * rules emit a record.
 */

#include "maps.bpf.h"
#include "slot.bpf.h"

static inline void read_facts(struct task_struct *task, struct task_facts *facts)
{
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

/* A full ring buffer is counted: the daemon then has all tasks dumped. */
static __noinline void emit_facts(struct task_struct *task, const char *comm)
{
	struct wakegov_facts_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	struct wakegov_cpu *here;

	if (!record) {
		here = this_cpu();
		if (here)
			here->drops_ring++;
		return;
	}
	record->head.type = WAKEGOV_RECORD_FACTS;
	record->head.cpu = 0;
	record->head.slot = 0;
	record->head.class = 0;
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

/* moved: its cgroup is not the parent's. */
static __noinline void follow_fork(__u32 parent_pid, struct task_struct *child, bool moved)
{
	__u32 pid = child->pid, one = 1;

	if (bpf_map_lookup_elem(&matching, &parent_pid))
		bpf_map_update_elem(&matching, &pid, &one, BPF_ANY);
	else if (!(settings.follow & WAKEGOV_FOLLOW_CGROUPS) || !moved)
		return; /* rules see nothing in it that its parent has not */
	emit_facts(child, NULL);
}

static __noinline void follow_end(__u32 pid)
{
	if (bpf_map_delete_elem(&matching, &pid) == 0)
		emit(WAKEGOV_RECORD_GONE, 0, pid);
}

static __noinline void follow_exec(struct task_struct *task)
{
	__u32 pid = task->pid;

	if (settings.follow & WAKEGOV_FOLLOW_EXECS || bpf_map_lookup_elem(&matching, &pid))
		emit_facts(task, NULL);
}

/* Runs before task->comm has the new name; an exec renames as well. */
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
