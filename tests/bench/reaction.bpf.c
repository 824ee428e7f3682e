// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a process takes from when it is woken up to when it has written a frequency: the end of
 * the first pwrite() after that. For reaction.c; the process is wakegovd, or a loop that does
 * nothing else and is woken up through the ring buffer here.
 */
#include "kernel.h"

#define SAMPLES_MAX 4096

/* Of <asm/ptrace.h>, x86's. */
struct pt_regs {
	unsigned long orig_ax;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

__u64 samples_ns[SAMPLES_MAX];
__u64 woken_ns;
__u32 n_samples;
__u32 watched; /* the process */
__u32 load;    /* the task that is told of when it begins to run; 0: none is */
__u32 write_number;

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 *event;

	if (!load || (__u32)next->pid != load)
		return 0;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (event)
		bpf_ringbuf_submit(event, 0);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	if ((__u32)task->pid == watched)
		woken_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
	if ((__u32)bpf_get_current_pid_tgid() != watched || regs->orig_ax != write_number ||
	    !woken_ns || n_samples >= SAMPLES_MAX)
		return 0;
	samples_ns[n_samples % SAMPLES_MAX] = bpf_ktime_get_ns() - woken_ns;
	n_samples++;
	woken_ns = 0;
	return 0;
}
