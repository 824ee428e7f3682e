/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Whether this CPU handles an interrupt, by the kernel's preempt count. Programs at each
 * interrupt's start and end would know it too, but run a hundred times as often as the question
 * arises. Also, while readers are measured: since when a device's interrupt has kept the CPU from
 * idling.
 */

#include "maps.bpf.h"

/* Bits of the preempt count, include/linux/preempt.h; NMI's bits follow those of interrupts. */
#define IN_SOFTIRQ 0x00000100 /* a softirq is served; twice this where softirqs are disabled */
#define IN_HARDIRQ 0x00ff0000

/* On x86 the offset of the per-CPU variable from the run queue; 0: this kernel has none. */
const volatile __s64 preempt_count_at = 0;
/* Whether the kernel has bpf_rdonly_cast(), since 6.2. */
const volatile bool casts = false;

extern void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym __weak;

/* A copy by a helper costs 120 instructions more. */
static inline __u32 read_number(__u64 address)
{
	const struct plist_node *begins_with_int;
	__u32 number = 0;

	if (casts) {
		begins_with_int = bpf_rdonly_cast((const void *)address,
						  bpf_core_type_id_kernel(struct plist_node));
		return begins_with_int->prio;
	}
	bpf_probe_read_kernel(&number, sizeof(number), (const void *)address);
	return number;
}

static inline bool has_queue(void)
{
	return bpf_core_field_exists(
		((struct task_struct *)NULL)->se.cfs_rq); /* CONFIG_FAIR_GROUP_SCHED */
}

static inline __u32 preempt_count(struct wakegov_cpu *cpu)
{
	/* Whether the kernel keeps it in each task. */
	if (bpf_core_field_exists(((struct task_struct *)NULL)->thread_info.preempt_count))
		return bpf_get_current_task_btf()->thread_info.preempt_count;
	if (!preempt_count_at || !has_queue())
		return 0;
	if (!cpu->preempt_count)
		cpu->preempt_count = (__u64)bpf_get_current_task_btf()->se.cfs_rq->rq +
				     preempt_count_at;
	return read_number(cpu->preempt_count);
}

/*
 * The bits IN_HARDIRQ and IN_SOFTIRQ of this CPU; 0: no interrupt. PREEMPT_RT counts softirqs in
 * the task that serves them.
 */
static inline __u32 interrupts_here(struct wakegov_cpu *cpu)
{
	__u32 count = preempt_count(cpu), softirqs = count;

	if (bpf_core_field_exists(((struct task_struct *)NULL)->softirq_disable_cnt))
		softirqs = bpf_get_current_task_btf()->softirq_disable_cnt;
	return (count & IN_HARDIRQ) | (softirqs & IN_SOFTIRQ);
}

#define IRQF_PERCPU 0x400 /* include/linux/interrupt.h */

/*
 * On Arm the CPU's own timer and its IPIs pass these tracepoints, on x86 they do not: neither
 * measures them. An interrupt of a running task counts as the task's time.
 */
SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_handler_entry, int irq, struct irqaction *action)
{
	struct wakegov_cpu *cpu;

	if (action->flags & IRQF_PERCPU || bpf_get_current_pid_tgid())
		return 0;
	cpu = count_event(WAKEGOV_IRQ_ENTRY);
	if (cpu)
		cpu->interrupted_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_handler_exit, int irq, struct irqaction *action)
{
	struct wakegov_cpu *cpu;

	if (action->flags & IRQF_PERCPU || bpf_get_current_pid_tgid())
		return 0;
	cpu = count_event(WAKEGOV_IRQ_EXIT);
	if (cpu)
		cpu->interrupted_ns = 0;
	return 0;
}
