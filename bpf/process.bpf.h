/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The program and the arguments of processes. Both are read without a lock and without a page
 * fault, so that no process can make its reader wait. The kernel knows the program of any task.
 * Arguments lie in the process's own memory, so they are read while the process is the current one.
 */

#include "facts.bpf.h"

static const struct wakegov_process nothing_known;

/* The state of the walk from a file to the root. */
struct exe_walk {
	struct wakegov_process *process;
	struct mount *mount;
	struct dentry *dentry;
	__u32 used;
};

static inline long end_walk(struct exe_walk *walk, __u32 bytes)
{
	walk->process->exe_bytes = bytes;
	walk->process->exe_is_long = 0;
	return 1;
}

/* One step for bpf_loop(), as d_path() walks. Returns 1 at the last. */
static long step_up(__u32 index, struct exe_walk *walk)
{
	struct dentry *dentry = walk->dentry;
	struct mount *mount = walk->mount;
	long n;

	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = BPF_CORE_READ(mount, mnt_parent);
		return walk->mount == mount ? end_walk(walk, walk->used) : 0;
	}
	if (walk->used >= WAKEGOV_EXE_SIZE)
		return 1;
	n = bpf_probe_read_kernel_str(&walk->process->exe[walk->used], WAKEGOV_NAME_SIZE,
				      BPF_CORE_READ(dentry, d_name.name));
	if (n <= 0)
		return end_walk(walk, 0);
	walk->used += n;
	walk->dentry = BPF_CORE_READ(dentry, d_parent);
	/* A file without a directory, as of memfd_create(), is its own parent. */
	return walk->dentry == dentry ? end_walk(walk, walk->used) : 0;
}

/*
 * Walks up to the root of the mount namespace. The verifier checks the step of bpf_loop() once, but
 * a plain loop in every state: that took a third of the time to load all programs.
 */
static __noinline void read_exe(struct mm_struct *mm, struct wakegov_process *process)
{
	struct file *file = BPF_CORE_READ(mm, exe_file);
	struct exe_walk walk = {
		.process = process,
		.dentry = BPF_CORE_READ(file, f_path.dentry),
		.mount = (void *)BPF_CORE_READ(file, f_path.mnt) -
			 bpf_core_field_offset(struct mount, mnt),
	};

	process->exe_bytes = 0;
	process->exe_is_long = !!file; /* until the walk reaches the root */
	if (file)
		bpf_loop(WAKEGOV_EXE_DEPTH, step_up, &walk, 0);
}

/* Reads the arguments of the current process, or of its new child. */
static __noinline void read_command(struct mm_struct *mm, struct wakegov_process *process)
{
	__u64 start = BPF_CORE_READ(mm, arg_start);
	__u64 bytes = BPF_CORE_READ(mm, arg_end) - start;

	if (bytes > WAKEGOV_COMMAND_SIZE)
		bytes = WAKEGOV_COMMAND_SIZE;
	if (bpf_probe_read_user(process->command, bytes, (const void *)start) < 0)
		return;
	process->command_bytes = bytes;
	process->command_is_read = 1;
}

static inline struct wakegov_process *find_process(__u32 tgid)
{
	return bpf_map_lookup_elem(&processes, &tgid);
}

/* Counted for the real user, whom a setuid program does not change. */
static inline struct wakegov_process *add_process(struct task_struct *task, __u32 tgid)
{
	__u32 uid = BPF_CORE_READ(task, cred, uid.val);
	struct wakegov_process *process;

	if ((uid &&
	     !wakegov_shares_allow(&process_shares, uid, n_processes, WAKEGOV_USER_PLACES)) ||
	    bpf_map_update_elem(&processes, &tgid, &nothing_known, BPF_NOEXIST)) {
		__sync_fetch_and_add(&processes_refused, 1);
		return NULL;
	}
	__sync_fetch_and_add(&n_processes, 1);
	__sync_fetch_and_add(wakegov_shares_of(&process_shares, uid), 1);
	process = find_process(tgid);
	if (process)
		process->uid = uid;
	return process;
}

static inline void remove_process(__u32 tgid)
{
	struct wakegov_process *process = find_process(tgid);
	__u32 uid;

	if (!process)
		return;
	uid = process->uid;
	if (bpf_map_delete_elem(&processes, &tgid))
		return;
	__sync_fetch_and_add(&n_processes, -1);
	__sync_fetch_and_add(wakegov_shares_of(&process_shares, uid), -1);
}

static __noinline void learn_process(struct task_struct *task, bool is_current)
{
	__u32 tgid = task->tgid;
	struct wakegov_process *process = find_process(tgid) ?: add_process(task, tgid);
	struct mm_struct *mm = task->mm;

	if (!process)
		return;
	process->command_is_read = 0;
	read_exe(mm, process);
	if (is_current && settings.follow & WAKEGOV_FOLLOW_COMMANDS)
		read_command(mm, process);
	process->mm = (__u64)mm;
}

/*
 * Adds a process that began before processes were followed. A different mm shows a missed exec. An
 * exec during this function shows too; the entry may then mix both programs.
 */
static __noinline void add_found_process(struct task_struct *task)
{
	struct wakegov_process *process;
	struct mm_struct *mm = task->mm;

	if (!mm || task->flags & PF_KTHREAD)
		return;
	process = find_process(task->tgid);
	if (process && process->mm == (__u64)mm)
		return;
	learn_process(task, false);
	process = find_process(task->tgid);
	if (process && process->mm != (__u64)task->mm)
		emit(WAKEGOV_RECORD_SCAN, 0, 0);
}

/*
 * Reads the arguments of the current process if it began before processes were followed. In a
 * switch the current process is the one that stops running.
 */
VERIFIED_ONCE int learn_command(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wakegov_process *process;
	struct mm_struct *mm = task->mm;

	if (!mm || task->flags & PF_KTHREAD)
		return 0;
	process = find_process(task->tgid);
	if (!process || process->command_is_read || process->mm != (__u64)mm)
		return 0;
	read_command(mm, process);
	if (process->command_is_read)
		emit_process(task);
	return 0;
}

/* Writes the CPU of a task, which moves keep up to date unless no program was attached. */
static inline void find_cpu(struct task_struct *task)
{
	struct wakegov_slot *slot = may_be_hot(task->pid) ? find_slot(task->pid) : NULL;

	if (slot && slot->tgid == (__u32)task->tgid)
		slot->cpu = task->thread_info.cpu;
}

/* Writes the attributes of every task that is not exiting, for the daemon to read. */
SEC("iter/task")
int dump_tasks(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_facts facts = {};

	if (!task || task->flags & PF_EXITING)
		return 0;
	if (settings.follow & WAKEGOV_FOLLOW_PROCESSES)
		add_found_process(task);
	report_child(task->pid, true);
	find_cpu(task);
	n_stored_found += count_stored(task);
	read_facts(task, &facts);
	bpf_seq_write(context->meta->seq, &facts, sizeof(facts));
	return 0;
}
