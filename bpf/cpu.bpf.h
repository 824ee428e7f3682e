/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Switches of tasks: how busy CPUs are by them, and when a CPU emits a record. */

#include "burst.bpf.h"
#include "chain.bpf.h"
#include "clamped.bpf.h"
#include "hot.bpf.h"
#include "placing.bpf.h"
#include "process.bpf.h"
#include "wakegov/decay.h"

/*
 * Emits a record that makes the daemon sample this CPU. If the ring buffer is full, the CPU keeps
 * news for the daemon's next round: an idle CPU has no next event to try again.
 */
static __noinline void emit_cpu(struct wakegov_cpu *cpu)
{
	if (!emit(WAKEGOV_RECORD_CPU, bpf_get_smp_processor_id(), 0))
		keep_news(cpu, WAKEGOV_NEWS_CPU);
	cpu->armed = 0;
}

/*
 * What a real-time task needs counts for as long as a chain after it came: it may sleep again
 * before the daemon looks. See tracer_read_cpu().
 */
static inline bool holds_realtime(const struct wakegov_cpu *cpu, __u64 now_ns)
{
	return cpu->realtime_q >= cpu->band_low_q &&
	       now_ns < cpu->realtime_ns + WAKEGOV_CHAIN_HOLD_NS;
}

/* The core compares account_need_q() and account_burst_ns() with the same limits. */
static inline bool outside_band(const struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u32 need_q = account_need_q(account_util_q(&cpu->load), cpu->load.est_q);

	if (need_q > cpu->band_high_q || (need_q < cpu->band_low_q && !holds_realtime(cpu, now_ns)))
		return true;
	return cpu->band_burst_ns && account_burst_ns(&cpu->load, now_ns) > cpu->band_burst_ns;
}

static inline bool is_own(struct task_struct *task)
{
	return (__u32)task->tgid == settings.own_tgid;
}

/*
 * The pid of the task; 0 for the idle task and the daemon. The daemon's own work must not raise a
 * frequency, and its own sleep must not wake it.
 */
static inline __u32 seen_pid(struct task_struct *task)
{
	return is_own(task) ? 0 : task->pid;
}

/*
 * Updates the bursts of tasks with storage; NULL: the task has none. Returns whether the daemon
 * waits for the class of one of them.
 */
static __noinline bool switch_classes(struct wakegov_cpu *cpu, struct task_struct *prev,
				      struct task_struct *next, bool sleeps, __u64 now_ns)
{
	bool awaited = false;

	if (prev && seen_pid(prev))
		awaited = leave_cpu(cpu, prev, sleeps, now_ns);
	if (next && seen_pid(next))
		awaited |= enter_cpu(cpu, next, now_ns);
	return awaited;
}

/*
 * Emits a record when a task runs whose idle latency is below the one that the daemon holds, and
 * keeps the lowest since the daemon last read it.
 */
static __noinline void check_idle_latency(__u32 pid)
{
	__u32 *us = bpf_map_lookup_elem(&idle_latencies, &pid);

	if (!us)
		return;
	/* If another CPU overwrites this, the task's next run repeats it. */
	if (*us < idle_asked_us)
		idle_asked_us = *us;
	if (*us < idle_held_us && emit(WAKEGOV_RECORD_IDLE_LATENCY, bpf_get_smp_processor_id(), 0))
		idle_held_us = *us;
}

/* The other work of rules and clamps at a switch. */
static __noinline void switch_ruled(struct wakegov_cpu *cpu, struct task_struct *prev,
				    struct task_struct *next, bool sleeps, __u64 now_ns)
{
	if (settings.follow & WAKEGOV_FOLLOW_COMMANDS)
		learn_command();
	detect_clamps(prev);
	if (settings.placing)
		switch_placed(cpu, prev, next, sleeps, now_ns);
	if (settings.idle_latencies && next->pid)
		check_idle_latency(next->pid);
}

static inline struct account_task *load_of(struct task_struct *task)
{
	return has_storage(task) ? bpf_task_storage_get(&tasks, task, NULL, 0) : NULL;
}

static inline struct account_task *find_or_add_load(struct task_struct *task)
{
	struct account_task *load = find_or_add_stored(&tasks, task);

	if (load && !load->updated_ns)
		load->ran_ns = task->se.sum_exec_runtime;
	return load;
}

static inline struct wakegov_recent *recent_of(struct wakegov_cpu *cpu,
					       const struct task_struct *task)
{
	return &cpu->recent[(__u32)task->pid % WAKEGOV_RECENT];
}

static inline bool is_recent(struct wakegov_cpu *cpu, const struct task_struct *task)
{
	return recent_of(cpu, task)->pid == (__u32)task->pid;
}

/* Whether the task's remembered need is news for this CPU. */
static inline bool needs_more(const struct wakegov_cpu *cpu, __u32 est_q)
{
	return est_q > cpu->band_high_q && cpu->armed & WAKEGOV_ARM_BAND;
}

/*
 * Most switches of a task are accounted with the first one of the next jiffy, without a clock read.
 * A task such as a reader comes to an idle CPU for a moment at each request. If it did so before,
 * it comes and leaves *unseen*: the CPU records only that it runs. Its CPU time follows later from
 * the scheduler's sum_exec_runtime.
 */
static inline bool comes_unseen(struct wakegov_cpu *cpu, const struct task_struct *next)
{
	const struct wakegov_recent *recent = recent_of(cpu, next);
	__u32 est_q = recent->est_q, pid = next->pid;

	if (recent->pid != pid || !recent->is_short || needs_more(cpu, est_q))
		return false;
	account_come_unseen(&cpu->load, pid, est_q);
	cpu->came_ran_ns = next->se.sum_exec_runtime;
	cpu->ticked_ns = 0;
	return true;
}

/* Counts a wait for I/O. Returns false if that needs a clock read. */
static inline bool counts_wait(struct wakegov_cpu *cpu, struct task_struct *task, __u32 state)
{
	struct wakegov_slot *slot;

	if (!is_in_iowait(task))
		return true;
	slot = find_slot(task->pid);
	if (!slot)
		return false;
	note_wait(slot, state, cpu->load.switched_ns);
	return true;
}

/* Whether the task has been accounted here in this jiffy. */
static inline bool was_accounted(struct wakegov_cpu *cpu, const struct task_struct *task)
{
	return is_recent(cpu, task) && recent_of(cpu, task)->jiffy == (__u32)bpf_jiffies64();
}

static inline bool leaves_unseen(struct wakegov_cpu *cpu, struct task_struct *prev, __u32 state)
{
	if (!was_accounted(cpu, prev) || cpu->load.busy_since_ns || !counts_wait(cpu, prev, state))
		return false;
	cpu->load.worked_ns += prev->se.sum_exec_runtime - cpu->came_ran_ns;
	cpu->load.running = 0;
	cpu->load.est_q = 0;
	if (cpu->armed & WAKEGOV_ARM_IDLE)
		emit_cpu(cpu);
	return true;
}

/*
 * The arguments of sched_switch: bool preempt, struct task_struct *prev, *next, unsigned int
 * prev_state. Each is read where it is needed, and preempt not as a bool: kept in callee-saved
 * registers they would cost more instructions.
 */
typedef const volatile unsigned long long *switch_arguments;

static inline struct task_struct *prev_of(switch_arguments arguments)
{
	return (void *)arguments[1];
}

static inline struct task_struct *next_of(switch_arguments arguments)
{
	return (void *)arguments[2];
}

/* The state of the leaving task; 0: it is still runnable. */
static inline __u32 sleeps_after(switch_arguments arguments)
{
	return arguments[0] ? 0 : arguments[3];
}

/*
 * idle_inject/N, with which a cooling device idles a CPU that has work. play_idle_precise() sets
 * PF_IDLE only after the switch to it.
 */
static inline bool injects_idle(const struct task_struct *task)
{
	return task->prio < MAX_RT_PRIO && is_kthread(task, "idle_inj");
}

/* A switch between two tasks does not change how busy the CPU is. */
static inline bool passes_unseen(struct wakegov_cpu *cpu, switch_arguments arguments)
{
	struct task_struct *prev = prev_of(arguments), *next = next_of(arguments);
	bool prev_stored = has_storage(prev), next_stored = has_storage(next);
	__u32 est_q = 0;

	if (settings.at_every_switch || cpu->load.running != (__u32)prev->pid ||
	    !cpu->load.busy_since_ns || is_own(next) ||
	    (next->prio < MAX_RT_PRIO && (is_realtime(next) || injects_idle(next))) ||
	    (is_in_iowait(prev) && sleeps_after(arguments)))
		return false;
	/* An unknown task counts for its CPU only. */
	if (prev_stored ? !was_accounted(cpu, prev)
			: (__u32)bpf_jiffies64() != cpu->accounted_jiffy)
		return false;
	if (next_stored) {
		est_q = recent_of(cpu, next)->est_q;
		if (!is_recent(cpu, next) || needs_more(cpu, est_q))
			return false;
	}
	account_pass(&cpu->load, next->pid, est_q);
	return true;
}

static inline bool switch_unseen(struct wakegov_cpu *cpu, switch_arguments arguments)
{
	if (!prev_of(arguments)->pid)
		return comes_unseen(cpu, next_of(arguments));
	return next_of(arguments)->pid
		       ? passes_unseen(cpu, arguments)
		       : leaves_unseen(cpu, prev_of(arguments), sleeps_after(arguments));
}

/* The CPU time of the running task, which came unseen. */
static inline __u64 ran_unseen_ns(struct wakegov_cpu *cpu, const struct task_struct *task)
{
	return is_recent(cpu, task) ? task->se.sum_exec_runtime - cpu->came_ran_ns : 0;
}

/* The running task came unseen. Returns whether the CPU left its band meanwhile by being idle. */
static inline bool date_burst(struct wakegov_cpu *cpu, const struct task_struct *task, __u64 now_ns)
{
	__u64 since_ns = account_came(&cpu->load, ran_unseen_ns(cpu, task), now_ns);

	return cpu->armed & WAKEGOV_ARM_BAND && cpu->load.updated_ns == since_ns &&
	       outside_band(cpu, since_ns);
}

/* The task's own utilisation is as of its last accounted switch. */
static inline void account_leaving(struct wakegov_cpu *cpu, struct task_struct *task, __u32 sleeps,
				   __u64 now_ns)
{
	struct account_task *load = bpf_task_storage_get(&tasks, task, NULL, 0);
	__u64 ran_ns = task->se.sum_exec_runtime;

	if (!load || !load->updated_ns)
		return;
	account_task_leaves(load, &cpu->load, now_ns - (ran_ns - load->ran_ns), sleeps, now_ns);
	load->ran_ns = ran_ns;
}

static inline void account_coming(struct wakegov_cpu *cpu, struct task_struct *task, bool stored,
				  __u64 now_ns)
{
	struct account_task *load = stored ? bpf_task_storage_get(&tasks, task, NULL, 0) : NULL;

	if (load && load->updated_ns)
		account_task_did(load, &cpu->load, task->se.sum_exec_runtime, now_ns);
	account_task_comes(load, &cpu->load, task->pid, now_ns);
}

/*
 * Remembers the leaving task, which may come back. While each switch is accounted, only a task that
 * was remembered before comes unseen. A real-time task never does.
 */
static inline void note_recent(struct wakegov_cpu *cpu, const struct task_struct *task,
			       __u64 now_ns)
{
	struct wakegov_recent *recent = recent_of(cpu, task);
	bool may_pass = !settings.at_every_switch && !(task->flags & PF_EXITING) &&
			!is_realtime(task);

	recent->pid = may_pass ? task->pid : 0;
	recent->est_q = cpu->load.last_est_q;
	recent->jiffy = cpu->accounted_jiffy;
	recent->is_short = now_ns < cpu->load.busy_since_ns + ACCOUNT_LATE_NS;
}

/*
 * While tasks wait for the CPU it needs what all of them ask for, as in schedutil: cpu_util() in
 * kernel/sched/fair.c since Linux 6.5. Its own utilisation does not show that at a low clock.
 */
static inline void account_waiting(struct wakegov_cpu *cpu, const struct task_struct *task)
{
	const struct rq *rq;
	__u64 need;

	if (!bpf_core_field_exists(task->se.cfs_rq))
		return;
	rq = task->se.cfs_rq->rq;
	if (rq->nr_running < 2)
		return;
	need = rq->cfs.avg.runnable_avg;
	if (need > cpu->load.capacity)
		need = cpu->load.capacity;
	cpu->load.est_q = account_need_q(cpu->load.est_q, DECAY_Q(need));
}

/*
 * Accounts the utilisation of both tasks, except the idle task, injected idleness and the daemon.
 * While the daemon runs, the preempted task keeps running for the accounting. Otherwise the CPU
 * would look idle to the daemon, and report that task's need as soon as the daemon sleeps.
 */
static inline bool switch_tasks(struct wakegov_cpu *cpu, struct task_struct *prev,
				struct task_struct *next, bool prev_stored, bool next_stored,
				__u32 sleeps, __u64 now_ns)
{
	__u32 next_pid = next->pid;
	bool left_band = false;

	/* Not equal while the daemon runs, or before the first switch. */
	if (cpu->load.running && cpu->load.running == (__u32)prev->pid) {
		if (!cpu->load.busy_since_ns)
			left_band = date_burst(cpu, prev, now_ns);
		if (prev_stored)
			account_leaving(cpu, prev, sleeps, now_ns);
		note_recent(cpu, prev, now_ns);
	}
	if (is_own(next)) {
		if (is_own(prev))
			return false;
		next_pid = sleeps ? 0 : prev->pid;
	} else if (injects_idle(next)) {
		next_pid = 0;
	} else if (next_pid) {
		if (!account_is_back(&cpu->load, next_pid, now_ns))
			account_coming(cpu, next, next_stored, now_ns);
		if (is_realtime(next)) {
			cpu->realtime_q = realtime_need_q(&cpu->load, next);
			cpu->realtime_ns = now_ns;
			account_known_need(&cpu->load, cpu->realtime_q);
		} else if (settings.new_tasks) {
			account_new_task(&cpu->load, now_ns - next->start_time, now_ns);
		}
	}
	account_switch(&cpu->load, next_pid, now_ns);
	if (next_pid && !is_own(next))
		account_waiting(cpu, next);
	return left_band;
}

/* Counts a wait for I/O, or checks for I/O without a wait. */
static inline void go_to_sleep(struct task_struct *task, __u32 state, __u64 now_ns)
{
	if (is_in_iowait(task))
		count_wait(task, find_slot(task->pid), state, now_ns);
	else
		watch_bytes(task, now_ns);
}

/*
 * Only a CPU with work compares its utilisation with the band. An idle CPU's may be outside, and
 * each switch to the daemon and back would then wake the daemon.
 */
static inline bool needs_look(const struct wakegov_cpu *cpu, bool worked, __u64 now_ns)
{
	if (!cpu->load.running)
		return worked && cpu->armed & WAKEGOV_ARM_IDLE;
	if (!(cpu->armed & WAKEGOV_ARM_BAND))
		return false;
	return cpu->load.updated_ns == now_ns ? outside_band(cpu, now_ns)
					      : cpu->load.est_q > cpu->band_high_q;
}

/*
 * Not inline: unaccounted switches would pay for the registers that it saves. It reads the
 * program's arguments itself, so that the verifier checks it from one state only.
 */
static __noinline int account_at_switch(struct wakegov_cpu *cpu, switch_arguments arguments)
{
	struct task_struct *prev = prev_of(arguments), *next = next_of(arguments);
	__u32 sleeps = sleeps_after(arguments);
	/* Loaded once, before there are branches: see has_storage(). */
	bool prev_stored = has_storage(prev), next_stored = has_storage(next);
	__u64 now_ns = bpf_ktime_get_ns();
	bool worked, awaited;

	cpu->accounted_jiffy = bpf_jiffies64();
	if (sleeps)
		go_to_sleep(prev, sleeps, now_ns);
	worked = cpu->load.running;
	awaited = switch_tasks(cpu, prev, next, prev_stored, next_stored, sleeps, now_ns);
	awaited |= needs_look(cpu, worked, now_ns);
	if (settings.at_switch)
		switch_ruled(cpu, prev, next, sleeps, now_ns);
	if (settings.n_clamp_classes)
		awaited |= switch_classes(cpu, prev_stored ? prev : NULL, next_stored ? next : NULL,
					  sleeps, now_ns);
	if (settings.chains) {
		compare_clocks(chain_clock(prev) + chains_skipped_ns, now_ns);
		choose_following(cpu, now_ns);
	}
	cpu->met_ns = now_ns;
	if (awaited)
		emit_cpu(cpu);
	return 0;
}

static __noinline int chains_at_switch(struct wakegov_cpu *cpu, switch_arguments arguments)
{
	struct task_struct *prev = prev_of(arguments), *next = next_of(arguments);

	cpu->context = 0; /* no switch happens in an interrupt */
	cpu->chain_since_ns = 0;
	switch_chains(cpu, prev, next, sleeps_after(arguments));
	return 0;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(switch_arguments arguments)
{
	struct wakegov_cpu *cpu = count_event(WAKEGOV_SCHED_SWITCH);

	if (!cpu)
		return 0;
	if (followed_chains)
		chains_at_switch(cpu, arguments);
	if (switch_unseen(cpu, arguments))
		return 0;
	return account_at_switch(cpu, arguments);
}
