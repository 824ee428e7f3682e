/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Tasks: who waits for I/O, and how often. A task that does it fast enough takes a slot, and from
 * then on the daemon reads its totals there.
 */

#include "maps.bpf.h"

enum io_kind { IO_WAIT, IO_START };

static inline struct wakegov_slot *slot_at(__u32 index)
{
	return bpf_map_lookup_elem(&slots, &index);
}

/* The task's slot if it still has one: the daemon gives slots of lapsed tasks to others. */
static inline struct wakegov_slot *slot_of(struct task_state *state, __u32 pid)
{
	struct wakegov_slot *slot;

	if (!state->slot)
		return NULL;
	slot = slot_at(state->slot - 1);
	if (slot && slot->pid == pid)
		return slot;
	state->slot = 0;
	return NULL;
}

/* The slot of any task, and its index; NULL for the many that have none. */
static inline struct wakegov_slot *slot_of_task(struct task_struct *task, __u32 *ret_index)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, NULL, 0);
	struct wakegov_slot *slot;

	if (!state)
		return NULL;
	slot = slot_of(state, task->pid);
	*ret_index = state->slot - 1;
	return slot;
}

static inline struct wakegov_slot *take_slot(struct task_state *state, __u32 pid)
{
	__u32 first = pid * 2654435761U; /* Knuth's multiplicative hash */
	struct wakegov_slot *slot;

	for (int i = 0; i < WAKEGOV_SLOT_PROBES; i++) {
		__u32 index = (first + i) % WAKEGOV_SLOTS;

		slot = slot_at(index);
		if (slot && !__sync_val_compare_and_swap(&slot->pid, 0, pid)) {
			state->slot = index + 1;
			return slot;
		}
	}
	return NULL;
}

static inline void count_dropped_slot(void)
{
	struct wakegov_cpu *cpu = this_cpu();

	if (cpu)
		cpu->drops_slots++;
}

static inline void enter(struct task_struct *task, struct task_state *state, __u64 now_ns)
{
	struct wakegov_slot *slot = take_slot(state, task->pid);

	if (!slot) {
		count_dropped_slot();
		return;
	}
	slot->tgid = task->tgid;
	slot->cpu = task->thread_info.cpu;
	slot->exited = 0;
	slot->io_waits = state->window_waits;
	slot->io_starts = state->window_starts;
	slot->last_io_ns = now_ns;
	slot->told_move_ns = now_ns;
	BPF_CORE_READ_STR_INTO(&slot->comm, task, comm);
	if (!tell(WAKEGOV_RECORD_TASK, slot->cpu, state->slot - 1)) {
		slot->pid = 0; /* tried again when the next window is full */
		state->slot = 0;
	}
}

static inline void count_in_window(struct task_struct *task, struct task_state *state,
				   enum io_kind kind, __u64 now_ns)
{
	__u32 *count = kind == IO_WAIT ? &state->window_waits : &state->window_starts;

	if (now_ns - state->window_ns > settings.window_ns) {
		state->window_ns = now_ns;
		state->window_waits = 0;
		state->window_starts = 0;
	}
	if (++*count < settings.window_ios)
		return;
	enter(task, state, now_ns);
	state->window_ns = now_ns;
	state->window_waits = 0;
	state->window_starts = 0;
}

static inline void count_io(struct task_struct *task, enum io_kind kind)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct task_state *state;
	struct wakegov_slot *slot;

	if (!settings.window_ios || (__u32)task->tgid == settings.own_tgid)
		return;
	state = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) {
		count_dropped_slot();
		return;
	}
	slot = slot_of(state, task->pid);
	if (!slot) {
		count_in_window(task, state, kind, now_ns);
		return;
	}
	if (kind == IO_WAIT)
		slot->io_waits++;
	else
		slot->io_starts++;
	slot->last_io_ns = now_ns;
}

/*
 * The end of an I/O wait: in_iowait is still set when the task is woken (it clears it itself when
 * it runs). A task that wakes itself never slept.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	if (!BPF_CORE_READ_BITFIELD(task, in_iowait))
		return 0;
	if (task == bpf_get_current_task_btf())
		return 0;
	count_event(WAKEGOV_SCHED_WAKING);
	count_io(task, IO_WAIT);
	return 0;
}

/* Kernel threads write back for others: what they start is not their own wait. */
static inline void count_block_start(enum wakegov_program program)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!task->pid || task->flags & PF_KTHREAD)
		return;
	count_event(program);
	count_io(task, IO_START);
}

/* Once per request, where the kernel has it (6.5 and newer). */
SEC("tp_btf/block_io_start")
int BPF_PROG(on_block_io_start, struct request *request)
{
	count_block_start(WAKEGOV_BLOCK_START);
	return 0;
}

/* Where it has not: a request that is requeued is issued, and counted, again. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_rq_issue, struct request *request)
{
	count_block_start(WAKEGOV_BLOCK_ISSUE);
	return 0;
}

/* Wake-ups that move a task and the load balancer's moves both pass here. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate_task, struct task_struct *task, int to)
{
	struct wakegov_cpu *from_cpu, *to_cpu;
	struct wakegov_slot *slot;
	__u64 now_ns;
	__u32 index;

	count_event(WAKEGOV_SCHED_MIGRATE);
	slot = slot_of_task(task, &index);
	if (!slot)
		return 0;
	from_cpu = cpu_at(slot->cpu);
	to_cpu = cpu_at(to);
	slot->cpu = to;
	if (!from_cpu || !to_cpu || from_cpu->domain == to_cpu->domain)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (now_ns - slot->told_move_ns < settings.move_gap_ns)
		return 0;
	if (tell(WAKEGOV_RECORD_TASK, to, index))
		slot->told_move_ns = now_ns;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	count_event(WAKEGOV_PROCESS_FORK);
	return 0;
}

/* A new program has a new name; its thread goes on as the same task. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *task)
{
	struct wakegov_slot *slot;
	__u32 index;

	count_event(WAKEGOV_PROCESS_EXEC);
	slot = slot_of_task(task, &index);
	if (slot)
		BPF_CORE_READ_STR_INTO(&slot->comm, task, comm);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_sched_process_exit, struct task_struct *task)
{
	struct wakegov_slot *slot;
	__u32 index;

	count_event(WAKEGOV_PROCESS_EXIT);
	slot = slot_of_task(task, &index);
	if (!slot)
		return 0;
	slot->exited = 1;
	tell(WAKEGOV_RECORD_TASK, slot->cpu, index);
	return 0;
}
