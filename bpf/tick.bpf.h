/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The scheduler's tick: accounts a task that runs on without a switch, and gives tasks their
 * storage.
 */

#include "cpu.bpf.h"

/*
 * Only a task that runs at a tick gets task storage: its bursts are long enough to matter. A tick
 * may allocate it; a switch, under the run queue's lock, may not.
 */
static inline void account_running(struct wakegov_cpu *cpu, __u64 stolen_ns, __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct account_task *load = find_or_add_load(task);

	if (stolen_ns)
		account_stolen(&cpu->load, load, stolen_ns, now_ns);
	/* The task may be real-time only since the last tick. */
	if (is_realtime(task)) {
		account_known_need(&cpu->load, realtime_need_q(&cpu->load, task));
		cpu->load.est_q = cpu->load.last_est_q;
	} else if (settings.new_tasks && now_ns - task->start_time < ACCOUNT_NEW_NS) {
		account_new_task(&cpu->load, now_ns - task->start_time, now_ns);
		cpu->load.est_q = cpu->load.last_est_q;
	}
	account_cpu(&cpu->load, now_ns);
	if (!load)
		return;
	account_task_ran(load, &cpu->load, now_ns);
	load->ran_ns = task->se.sum_exec_runtime;
}

#define TICK_NS 900000ULL /* less than any tick of the scheduler */
#define LATE_NS 500000ULL

/*
 * How late the timer is because the hypervisor took the CPU away; 0 for a delay that interrupts
 * explain. Expiry times of clocks other than CLOCK_MONOTONIC lie far in the future.
 */
static inline __u64 lateness(const struct hrtimer *timer, __u64 now_ns)
{
	__s64 late_ns = (__s64)now_ns - timer->node.expires;

	return late_ns > (__s64)LATE_NS ? late_ns : 0;
}

/*
 * Whether this CPU did the tick's work a moment ago. Timers of a disk or a server may expire far
 * more often than the tick, so this reads no clock: the timers' expiry times show the time, and
 * jiffies show when the hypervisor took the CPU away.
 */
static inline bool is_early(struct wakegov_cpu *cpu, const struct hrtimer *timer)
{
	__u64 jiffies = bpf_jiffies64();

	if (cpu->ticked_jiffies == jiffies && (__u64)timer->node.expires < cpu->ticked_ns + TICK_NS)
		return true;
	cpu->ticked_jiffies = jiffies;
	return false;
}

/* The task ran before the programs were attached: for the accounting it begins now. */
static inline void begin_found(struct wakegov_cpu *cpu, struct task_struct *task)
{
	__u64 now_ns = bpf_ktime_get_ns();

	if (!seen_pid(task))
		return;
	cpu->met_ns = now_ns;
	account_task_comes(load_of(task), &cpu->load, task->pid, now_ns);
	account_switch(&cpu->load, task->pid, now_ns);
}

/* While only ticks are traced: when a tick last met a task on a CPU of the domain. */
static __u64 domain_ticked_ns[WAKEGOV_DOMAINS];

/*
 * A domain's ticks end when all its CPUs are idle, so each tick checks another CPU's domain: if one
 * CPU in four works, a domain of one CPU is checked every four ticks.
 */
static __noinline int watch_domains(struct wakegov_cpu *cpu, __u64 now_ns)
{
	const struct wakegov_cpu *other;
	__u64 ticked_ns;

	domain_ticked_ns[cpu->domain % WAKEGOV_DOMAINS] = now_ns;
	other = cpu_at(cpu->watched++);
	if (!other) {
		cpu->watched = 0;
		return 0;
	}
	ticked_ns = domain_ticked_ns[other->domain % WAKEGOV_DOMAINS];
	if (ticks_ended || ticked_ns < settings.only_ticks_since_ns ||
	    now_ns < ticked_ns + WAKEGOV_NO_TICK_NS)
		return 0;
	ticks_ended = 1;
	emit(WAKEGOV_RECORD_NEWS, 0, 0);
	return 0;
}

/*
 * Whether the task has run since before the last tick, or ticks have met it before. The start of a
 * task that came at an unaccounted switch is unknown.
 */
static inline bool has_run_on(struct wakegov_cpu *cpu, const struct task_struct *task, __u64 now_ns)
{
	if (cpu->load.switched_ns)
		return now_ns - cpu->load.switched_ns >= TICK_NS;
	cpu->load.switched_ns = now_ns;
	return has_storage(task);
}

static __noinline int account_at_tick(struct task_struct *task, const struct hrtimer *timer)
{
	struct wakegov_cpu *cpu = this_cpu();
	__u64 now_ns, stolen_ns, ticked_ns;
	bool awaited = false;

	if (!cpu)
		return 0;
	if (!cpu->load.running || is_own(task)) {
		begin_found(cpu, task);
		return 0;
	}
	if (is_early(cpu, timer))
		return 0;
	now_ns = bpf_ktime_get_ns();
	ticked_ns = cpu->ticked_ns;
	cpu->ticked_ns = now_ns;
	cpu->ticks++;
	if (settings.only_ticks_since_ns)
		watch_domains(cpu, now_ns);
	detect_clamps(task);	   /* a busy loop has no switch */
	watch_bytes(task, now_ns); /* a polling task never sleeps */
	if (settings.chains)
		tick_chains(cpu, task);
	/*
	 * A task that came unseen: the scheduler updates sum_exec_runtime at the end of a tick, so
	 * the second tick can tell when it came.
	 */
	if (!cpu->load.busy_since_ns && !ticked_ns)
		return 0;
	if (!cpu->load.busy_since_ns)
		account_came(&cpu->load, ran_unseen_ns(cpu, task), ticked_ns);
	if (!has_run_on(cpu, task, now_ns) || now_ns - cpu->load.updated_ns < TICK_NS)
		return 0;
	cpu->events[WAKEGOV_TICK]++;
	if (settings.follow & WAKEGOV_FOLLOW_COMMANDS)
		learn_command();
	stolen_ns = lateness(timer, now_ns);
	/*
	 * Time before the timer's expiry may have been stolen too. Drop all of it, so that it makes
	 * no burst long.
	 */
	if (settings.n_clamp_classes && stolen_ns)
		cpu->met_ns = now_ns;
	else if (settings.n_clamp_classes || (settings.follow_own && own_clamps(task)))
		awaited = tick_bursts(cpu, task, now_ns);
	account_running(cpu, stolen_ns, now_ns);
	if (settings.chains && !settings.only_ticks_since_ns)
		choose_following(cpu, now_ns);
	if (cpu->armed & WAKEGOV_ARM_BAND)
		awaited |= outside_band(cpu, now_ns);
	if (awaited)
		emit_cpu(cpu);
	return 0;
}

/*
 * The scheduler's tick is an hrtimer, at whose function programs.c attaches this where it can. It
 * shows a task that runs on without a switch. An idle CPU has no tick: its timers are ignored.
 */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_tick, struct hrtimer *timer)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->pid && !(task->flags & PF_IDLE) ? account_at_tick(task, timer) : 0;
}
