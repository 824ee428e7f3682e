/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Interrupts: how busy an idle CPU is by them, and to whom the current task is a bystander. */

#include "cpu.bpf.h"

/*
 * Accounts interrupts of an idle CPU; an interrupt of a task is in the task's time already, and the
 * daemon's time is not accounted. As in a switch, only a CPU that has work compares with the band.
 */
static inline int begin_interrupt(struct wakegov_cpu *cpu, enum wakegov_program program)
{
	if (cpu->load.running || bpf_get_current_pid_tgid())
		return 0;
	cpu->events[program]++;
	account_begin_interrupt(&cpu->load, bpf_ktime_get_ns());
	return 0;
}

static inline int end_interrupt(struct wakegov_cpu *cpu, enum wakegov_program program)
{
	__u64 now_ns;

	if (!cpu->load.interrupts)
		return 0;
	cpu->events[program]++;
	now_ns = bpf_ktime_get_ns();
	if (account_end_interrupt(&cpu->load, now_ns) && cpu->armed & WAKEGOV_ARM_BAND &&
	    account_util_q(&cpu->load) > cpu->band_high_q)
		emit_cpu(cpu);
	return 0;
}

#define IRQF_PERCPU 0x400 /* include/linux/interrupt.h */

/*
 * On Arm the CPU's own timer and its IPIs come through these tracepoints, on x86 they do not. They
 * are not accounted on either: a disk's timer would cost two looks at the clock for each request,
 * and whether a timer wakes a task is seen at the timer. NULL: it is one of those.
 */
static inline struct wakegov_cpu *cpu_of_device(const struct irqaction *action)
{
	return action->flags & IRQF_PERCPU ? NULL : this_cpu();
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_handler_entry, int irq, struct irqaction *action)
{
	struct wakegov_cpu *cpu = cpu_of_device(action);

	if (!cpu)
		return 0;
	cpu->context |= IN_INTERRUPT;
	return begin_interrupt(cpu, WAKEGOV_IRQ_ENTRY);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_handler_exit, int irq, struct irqaction *action)
{
	struct wakegov_cpu *cpu = cpu_of_device(action);

	if (!cpu)
		return 0;
	cpu->context &= ~(IN_INTERRUPT | AT_INPUT);
	return end_interrupt(cpu, WAKEGOV_IRQ_EXIT);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
	struct wakegov_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	enter_softirq(cpu, vector);
	return begin_interrupt(cpu, WAKEGOV_SOFTIRQ_ENTRY);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
	struct wakegov_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	cpu->context &= ~(IN_SOFTIRQ | AT_INPUT);
	return end_interrupt(cpu, WAKEGOV_SOFTIRQ_EXIT);
}
