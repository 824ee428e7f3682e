/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* CPUs: utilisation as time goes by, frequency, and when user space is to hear of it. */

#include "burst.bpf.h"
#include "think.bpf.h"
#include "wakegov/decay.h"

/* Brings the utilisation of the CPU that this runs on up to now. */
static inline void account(struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u32 level_q = cpu->running_pid ? cpu->level_q : 0;

	if (now_ns > cpu->updated_ns)
		cpu->util_q = decay_toward(cpu->util_q, level_q, now_ns - cpu->updated_ns);
	cpu->updated_ns = now_ns;
}

/* Tells once that the CPU needs a look; a full ring leaves it armed, so the next event tries again.
 */
static inline void tell_cpu(struct wakegov_cpu *cpu)
{
	if (tell(WAKEGOV_RECORD_CPU, bpf_get_smp_processor_id(), 0))
		cpu->armed = 0;
}

static inline bool outside_band(const struct wakegov_cpu *cpu)
{
	return cpu->util_q > cpu->band_high_q || cpu->util_q < cpu->band_low_q;
}

/*
 * Short work in between does not end an idle time: each burst takes eight times its length off it,
 * so that a CPU that works an eighth of the time is not idle, and one with a kernel thread's blip
 * now and then is. No more than IDLE_CREDIT_NS of idleness can be drawn on.
 */
#define IDLE_SHARE     8
#define IDLE_CREDIT_NS 40000000ULL

static inline void begin_busy(struct wakegov_cpu *cpu, __u64 now_ns)
{
	cpu->busy_since_ns = now_ns;
	if (cpu->idle_since_ns + IDLE_CREDIT_NS < now_ns)
		cpu->idle_since_ns = now_ns - IDLE_CREDIT_NS;
}

static inline void begin_idle(struct wakegov_cpu *cpu, __u64 now_ns)
{
	cpu->idle_since_ns += IDLE_SHARE * (now_ns - cpu->busy_since_ns);
	if (cpu->idle_since_ns > now_ns)
		cpu->idle_since_ns = now_ns;
}

/*
 * Who runs, as far as anyone is told: 0 when idle, and while the daemon itself runs. Its own work
 * is no reason to raise a clock, and its going to sleep none to wake it.
 */
static inline __u32 seen_pid(struct task_struct *task)
{
	return (__u32)task->tgid == settings.own_tgid ? 0 : task->pid;
}

/* Who leaves and who comes, for the clamp sets; true: the daemon waits for one of them. */
static inline bool switch_bursts(struct wakegov_cpu *cpu, struct task_struct *prev,
				 struct task_struct *next, bool sleeps, __u64 now_ns)
{
	bool awaited = false;

	if (settings.n_sets) {
		if (seen_pid(prev))
			awaited = leave_cpu(cpu, prev, sleeps, now_ns);
		if (seen_pid(next))
			awaited |= enter_cpu(cpu, next, now_ns);
	}
	cpu->run_since_ns = now_ns;
	return awaited;
}

/*
 * The band is looked at for a CPU that has work only: what an idle one remembers may well be
 * outside, and then each switch to the daemon and back would wake the daemon.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct wakegov_cpu *cpu = count_event(WAKEGOV_SCHED_SWITCH);
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 armed, next_pid;
	bool goes_idle, awaited;

	if (!cpu)
		return 0;
	account(cpu, now_ns);
	if (prev_state && !preempt && may_be_hot(prev->pid))
		begin_sleep(prev, now_ns);
	awaited = switch_bursts(cpu, prev, next, prev_state && !preempt, now_ns);
	armed = cpu->armed;
	next_pid = seen_pid(next);
	goes_idle = cpu->running_pid && !next_pid;
	if (!cpu->running_pid && next_pid)
		begin_busy(cpu, now_ns);
	if (goes_idle)
		begin_idle(cpu, now_ns);
	cpu->running_pid = next_pid;
	if (awaited || (armed & WAKEGOV_ARM_IDLE && goes_idle) ||
	    (armed & WAKEGOV_ARM_BAND && next_pid && outside_band(cpu)))
		tell_cpu(cpu);
	return 0;
}

/*
 * The scheduler's tick is a timer of this kind. It is what shows a task that runs on without a
 * switch; an idle CPU has no tick, and what else expires there is not looked at.
 */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_tick)
{
	struct wakegov_cpu *cpu = this_cpu();
	bool awaited = false;
	__u64 now_ns;

	if (!cpu || !cpu->running_pid || !(settings.n_sets || cpu->armed & WAKEGOV_ARM_BAND))
		return 0;
	cpu->events[WAKEGOV_TICK]++;
	now_ns = bpf_ktime_get_ns();
	if (settings.n_sets)
		awaited = meet_task(cpu, bpf_get_current_task_btf(), now_ns);
	if (cpu->armed & WAKEGOV_ARM_BAND) {
		account(cpu, now_ns);
		awaited |= outside_band(cpu);
	}
	if (awaited)
		tell_cpu(cpu);
	return 0;
}

/*
 * Runs on the CPU that changes the frequency, which need not be the one whose frequency it is: so
 * only the level is replaced, and time since that CPU's last event (a tick at most) is accounted
 * at the new one.
 */
SEC("tp_btf/cpu_frequency")
int BPF_PROG(on_cpu_frequency, unsigned int freq_khz, unsigned int cpu_id)
{
	struct wakegov_cpu *cpu = cpu_at(cpu_id);

	count_event(WAKEGOV_CPU_FREQUENCY);
	if (!cpu || !cpu->max_khz)
		return 0;
	cpu->freq_khz = freq_khz;
	cpu->level_q = decay_level_q(cpu->capacity, freq_khz, cpu->max_khz);
	return 0;
}

SEC("tp_btf/cpu_frequency_limits")
int BPF_PROG(on_cpu_frequency_limits, struct cpufreq_policy *policy)
{
	count_event(WAKEGOV_CPU_LIMITS);
	tell(WAKEGOV_RECORD_LIMITS, policy->cpu, 0);
	return 0;
}
