/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Tasks: wake-up, migration, fork, exec and exit. */

#include "block.bpf.h"
#include "burst.bpf.h"
#include "chain_wake.bpf.h"
#include "clamped.bpf.h"
#include "cpu.bpf.h"
#include "facts.bpf.h"
#include "placing.bpf.h"
#include "process.bpf.h"

/* Not inline: other wake-ups would pay for the registers that it saves. */
static __noinline void wake_ruled(struct task_struct *task)
{
	wake_task(task);
	if (settings.placing)
		waking_placed(task);
}

/*
 * An interrupt ends the wait of a task. On an idle CPU the interrupt's time so far is the task's
 * work, and the CPU's. A task in an I/O wait did not wait for a timer.
 */
static __noinline void wake_hot(struct wakegov_slot *slot, struct wakegov_cpu *cpu,
				const struct task_struct *task)
{
	__u64 now_ns, took_ns;

	if (!slot || !cpu || !interrupts_here(cpu))
		return;
	/* An older time: the programs were detached, and the interrupt's end was missed. */
	if (cpu->interrupted_ns > cpu->load.switched_ns) {
		now_ns = bpf_ktime_get_ns();
		took_ns = now_ns - cpu->interrupted_ns;
		slot->interrupts_ns += took_ns;
		cpu->load.worked_ns += took_ns;
		cpu->interrupted_ns = now_ns; /* the rest is work of the next task that it wakes */
	}
	if (is_in_iowait(task) && slot->device != WAKEGOV_NO_DEVICE)
		device_at(slot->device)->completion_cpu = bpf_get_smp_processor_id();
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	if (followed_chains)
		wake_chain(task);
	if (settings.at_every_switch || clamps_seen)
		wake_ruled(task);
	if (settings.learns && may_be_hot(task->pid))
		wake_hot(find_slot(task->pid), count_event(WAKEGOV_SCHED_WAKING), task);
	return 0;
}

/* The task takes its utilisation along. */
static inline void move_load(struct task_struct *task, struct wakegov_cpu *from_cpu,
			     struct wakegov_cpu *to_cpu)
{
	struct account_task *load = load_of(task);
	__u64 now_ns;

	if (!load || !load->updated_ns)
		return;
	now_ns = bpf_ktime_get_ns();
	account_task_did(load, &from_cpu->load, task->se.sum_exec_runtime, now_ns);
	account_move(load, &from_cpu->load, &to_cpu->load, now_ns);
}

/* Wake-ups that move a task and the load balancer's moves both pass here. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate_task, struct task_struct *task, int to)
{
	struct wakegov_cpu *from_cpu, *to_cpu;
	struct wakegov_slot *slot;
	__u64 now_ns;

	count_event(WAKEGOV_SCHED_MIGRATE);
	from_cpu = cpu_at(task->thread_info.cpu);
	to_cpu = cpu_at(to);
	if (!from_cpu || !to_cpu)
		return 0;
	move_load(task, from_cpu, to_cpu);
	move_chain(task->pid, to_cpu);
	slot = may_be_hot(task->pid) ? find_slot(task->pid) : NULL;
	if (!slot)
		return 0;
	from_cpu = cpu_at(slot->cpu);
	slot->cpu = to;
	if (!from_cpu || from_cpu->domain == to_cpu->domain)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (now_ns - slot->told_move_ns < settings.move_gap_ns)
		return 0;
	if (emit(WAKEGOV_RECORD_TASK, to, slot_index(slot)))
		slot->told_move_ns = now_ns;
	return 0;
}

/* The work of a task that came unseen is accounted when it leaves. */
static inline void bring_up_to_date(struct account_task *load, const struct task_struct *task,
				    const struct wakegov_cpu *cpu)
{
	__u64 now_ns = bpf_ktime_get_ns();

	account_task_did(load, &cpu->load, task->se.sum_exec_runtime, now_ns);
	if (cpu->load.busy_since_ns && cpu->load.switched_ns)
		account_task_ran(load, &cpu->load, now_ns);
}

static inline void hand_on_load(struct task_struct *parent, struct task_struct *child,
				struct wakegov_cpu *cpu)
{
	struct account_task *from = load_of(parent), *to;

	if (!cpu || !from || !from->updated_ns || !cpu->load.running)
		return;
	bring_up_to_date(from, parent, cpu);
	to = find_or_add_load(child);
	if (to)
		account_task_hands_on(from, to);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	hand_on_load(parent, child, count_event(WAKEGOV_PROCESS_FORK));
	inherit_class(parent, child);
	if (settings.chains && !settings.only_ticks_since_ns)
		fork_chain(parent, child);
	return 0;
}

/*
 * The current task has forked this one. The kernel skips a program that the same program interrupts
 * on a CPU; a task cannot be preempted here, so no child is missed.
 */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *child)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct wakegov_cpu *cpu;

	count_event(WAKEGOV_WAKEUP_NEW);
	if (settings.new_tasks) {
		cpu = cpu_at(child->thread_info.cpu);
		if (cpu)
			cpu->accounted_jiffy = 0; /* makes its first switch accounted */
	}
	if (settings.follow & WAKEGOV_FOLLOW_PROCESSES && child->tgid != parent->tgid && child->mm)
		learn_process(child, true);
	if (settings.placing)
		fork_placed(parent->pid, child); /* first, as it still has its parent's affinity */
	if (settings.follow || settings.follow_clamps)
		follow_fork(parent->pid, child, child->cgroups != parent->cgroups);
	return 0;
}

/* Drops all that is stored by this number. */
static inline void end_number(struct task_struct *task, __u32 pid)
{
	struct wakegov_slot *slot;

	forget_task(task, pid);
	if (settings.chains)
		exit_chain(pid);
	if (settings.follow)
		follow_end(pid);
	if (settings.placing)
		bpf_map_delete_elem(&placed, &pid);
	slot = find_slot(pid);
	if (!slot)
		return;
	slot->live = 0;
	emit(WAKEGOV_RECORD_TASK, slot->cpu, slot_index(slot));
}

/*
 * A thread other than the leader gets the leader's number when it execs. This copies its state, as
 * if it had forked that task and exited.
 */
static __noinline void change_number(struct task_struct *task, __u32 old_pid)
{
	if (settings.placing)
		fork_placed(old_pid, task);
	follow_fork(old_pid, task, false);
	end_number(task, old_pid);
}

/* on_task_rename() reads its new name. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *task, int old_pid)
{
	count_event(WAKEGOV_PROCESS_EXEC);
	if (task->pid != old_pid)
		change_number(task, old_pid);
	if (settings.follow & WAKEGOV_FOLLOW_PROCESSES)
		learn_process(task, true);
	if (settings.follow)
		follow_exec(task);
	return 0;
}

/*
 * An exiting process returns its utilisation to its parent, where the work goes on; a thread does
 * not.
 */
static inline void give_back_load(struct task_struct *task, struct wakegov_cpu *cpu)
{
	struct account_task *from = load_of(task), *to;

	if (!cpu || !from || !from->updated_ns || !cpu->load.running || task->pid != task->tgid)
		return;
	bring_up_to_date(from, task, cpu);
	to = find_or_add_load(task->real_parent);
	if (to)
		account_task_hands_on(from, to);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_sched_process_exit, struct task_struct *task)
{
	struct wakegov_cpu *cpu = count_event(WAKEGOV_PROCESS_EXIT);

	__sync_fetch_and_add(&task_ends[(__u32)task->pid % WAKEGOV_ENDS], 1);
	give_back_load(task, cpu);
	if (settings.follow & WAKEGOV_FOLLOW_PROCESSES && !task->signal->live.counter)
		remove_process(task->tgid);
	end_number(task, task->pid);
	__sync_fetch_and_add(&n_stored, -count_stored(task));
	return 0;
}
