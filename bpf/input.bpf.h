/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Input events that begin a chain: a key or a button goes down; a touch is a button. The programs
 * read neither the key nor the device. The motion of a pointer begins no chain, nor does the
 * release or repetition of a key, or a switch. A click that ends within INPUT_NS is one event's
 * work.
 *
 * There is no tracepoint. drivers/input/input.c calls this function for each event that changes
 * something, before it passes the event on; drivers also report unchanged buttons with each motion.
 * The reader of the device is woken before the interrupt ends, or before the injecting task sleeps.
 */

#include "chain.bpf.h"

#define EV_KEY	 1 /* include/uapi/linux/input-event-codes.h */
#define KEY_DOWN 1 /* a value; 0: up, 2: it repeats */

SEC("fentry/add_input_randomness")
int BPF_PROG(on_add_input_randomness, unsigned int type, unsigned int code, unsigned int value)
{
	struct wakegov_cpu *cpu;
	__u64 now_ns;

	if (type != EV_KEY || value != KEY_DOWN)
		return 0;
	cpu = count_event(WAKEGOV_INPUT_EVENT);
	now_ns = bpf_ktime_get_ns();
	if (chains_resume_ns)
		resume_chains(now_ns);
	if (!cpu || !followed_chains)
		return 0;
	follow_chains_until(now_ns + INPUT_NS);
	cpu->context |= AT_INPUT;
	cpu->input_interrupts = interrupts_here(cpu);
	cpu->input_jiffy = bpf_jiffies64();
	return 0;
}
