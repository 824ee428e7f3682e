/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Chains: tasks that work for each other in turn (include/wakegov/chain.h). The current task wakes
 * the next one, unless an interrupt came in between. Then the current task is a bystander, and the
 * wait was for a timer or a device. A softirq may be the current task's own work: a packet to this
 * machine is received as soon as its sender enables softirqs. A network card raises the same one.
 *
 * Tasks woken by an input event such as a key press, directly or through others, count as the
 * event's work, as if their chain had always worked.
 *
 * Only tasks with a place are followed (chain_place.bpf.h); all others cost one test.
 */

#include "burst.bpf.h"
#include "chain_place.bpf.h"
#include "following.bpf.h"
#include "interrupt.bpf.h"
#include "slot.bpf.h"

#define NET_RX_SOFTIRQ 3 /* include/linux/interrupt.h */

/*
 * A user perceives a reaction within this time as immediate (Card, Moran and Newell 1983). Twice
 * the time: work that goes on after an event has the highest frequency for that much longer.
 */
#define INPUT_NS 100000000ULL

/* The current task of a CPU … */
enum context {
	SENT_PACKET = 1 << 0, /* … sent the packet that is received here next */
	AT_INPUT = 1 << 1,    /* … handles an input event, or is a bystander: is_at_input() */
	OF_INPUT = 1 << 2,    /* … works for an input event, or a piece that is waited for */
	OF_KERNEL = 1 << 3,   /* … is a kernel thread */
	OF_PIECE = 1 << 4,    /* … has woken no other task in its present piece */
	BESIDE = 1 << 5,      /* … works beside a busy task: is_beside() */
};

/*
 * Whether the current task has no part in this wake-up. Softirqs are the work of ksoftirqd/N. An
 * unrelated one before the next switch is attributed to this task; we cannot tell them apart.
 */
static inline bool is_bystander(const struct wakegov_cpu *cpu, __u32 interrupts)
{
	if (!interrupts || (interrupts == IN_SOFTIRQ && cpu->context & SENT_PACKET))
		return false;
	return interrupts != IN_SOFTIRQ || !is_kthread(bpf_get_current_task_btf(), "ksoftirq");
}

/* A packet to this machine, or one from outside. A softirq that sends changes nothing. */
SEC("tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, unsigned int vector)
{
	struct wakegov_cpu *cpu;
	__u32 interrupts;

	if (vector != NET_RX_SOFTIRQ || !followed_chains)
		return 0;
	cpu = count_event(WAKEGOV_SOFTIRQ_RAISE);
	if (!cpu)
		return 0;
	interrupts = interrupts_here(cpu);
	if (interrupts & IN_HARDIRQ)
		cpu->context &= ~SENT_PACKET;
	else if (!interrupts)
		cpu->context |= SENT_PACKET;
	return 0;
}

/*
 * The chains' clock: the run queue's, which the scheduler has updated for this switch, less the
 * time in which chains were not followed.
 */
static inline __u64 chain_clock(const struct task_struct *task)
{
	if (!bpf_core_field_exists(task->se.cfs_rq)) /* CONFIG_FAIR_GROUP_SCHED */
		return bpf_ktime_get_ns() - chains_skipped_ns;
	return task->se.cfs_rq->rq->clock - chains_skipped_ns;
}

static __noinline void emit_chain(struct wakegov_cpu *cpu, __u32 index)
{
	cpu->chain_high_q = 0xffffffff;
	if (!emit(WAKEGOV_RECORD_CPU, index, 0))
		keep_news(cpu, WAKEGOV_NEWS_CPU);
}

/*
 * Raises a CPU's frequency before work that is waited for arrives there. A task there may write its
 * chain at the same time: the same values, or right ones at the next switch.
 */
static __noinline int prepare_cpu(__u32 index, __u32 need_q, __u32 pid)
{
	struct wakegov_cpu *cpu = cpu_at(index);
	__u64 now_ns = bpf_ktime_get_ns();

	if (!cpu)
		return 0;
	if (cpu->chain.need_q > need_q && now_ns < cpu->chain.seen_ns + WAKEGOV_CHAIN_HOLD_NS)
		return 0;
	cpu->chain.need_q = need_q;
	cpu->chain.pid = pid;
	cpu->chain.waker = 0;
	cpu->chain.seen_ns = now_ns;
	if (cpu->chain_high_q < need_q)
		emit_chain(cpu, index);
	return 0;
}

/* Whether the need is above the CPU's own demand. */
static inline bool is_beyond_own(const struct wakegov_cpu *cpu, __u32 need_q)
{
	__u64 updated_ns = cpu->load.updated_ns;
	__u32 util_q = account_util_q(&cpu->load);

	need_q = chain_compared_q(need_q, cpu->load.capacity);
	if (need_q <= util_q && !cpu->load.running)
		account_rest(&util_q, &updated_ns, bpf_ktime_get_ns());
	return need_q > account_need_q(util_q, cpu->load.est_q);
}

/*
 * What a chain needs while this task works for it. The task's own maximum clamp, which the kernel
 * applies under uclamp, also holds for its chain: less the default headroom, which the core adds.
 */
static inline __u32 chain_need_q(__u32 util_q, const struct task_struct *task)
{
	__u32 most = own_most(task), most_q = DECAY_Q(most * 4 / 5);

	return most < WAKEGOV_CAPACITY_MAX && most_q < util_q ? most_q : util_q;
}

/*
 * A task is tiny if it has less than 1/CHAIN_TINY of its chain's time, and of its own life, on a
 * CPU that does nearly nothing of the chain. At a fifth of the highest frequency it prolongs the
 * chain by less than a 30th. Twice that share can prolong the chain twice as much.
 */
#define CHAIN_TINY	128
#define CHAIN_ELSEWHERE 16

static inline bool is_tiny(const struct wakegov_cpu *cpu, const struct task_struct *task,
			   __u32 util_q)
{
	return (__u64)task->se.avg.util_avg < DECAY_CAP(util_q) / CHAIN_TINY &&
	       account_util_q(&cpu->load) < util_q / CHAIN_ELSEWHERE &&
	       task->se.sum_exec_runtime < (bpf_ktime_get_ns() - task->start_time) / CHAIN_TINY;
}

#define CHAIN_HOPS 4

/*
 * The one with the lowest cap among the task's waker, who woke that one, and so on; the waker where
 * none has a cap. The cap of a task holds for all that it wakes, directly or through others.
 */
static __noinline __u32 capped_waker(__u32 waker)
{
	__u32 pid = waker, lowest = NO_CAP;

	for (int hop = 0; hop < CHAIN_HOPS && settings.n_clamp_classes; hop++) {
		const __u32 *class = bpf_map_lookup_elem(&task_classes, &pid);
		const struct chain_task *chain = find_chain(pid);

		if (class && cap_of(*class) < lowest) {
			lowest = cap_of(*class);
			waker = pid;
		}
		pid = chain ? chain->waker.pid : 0;
	}
	return waker;
}

/*
 * Keeps the highest need above the CPU's own demand within the last half of a hold time, and emits
 * a record if the present frequency does not cover it. A lower need may replace it in the other
 * half: a kept need must not end between two arrivals. Returns whether a record was emitted.
 */
static __noinline int note_chain(struct wakegov_cpu *cpu, __u32 util_q, __u32 waker,
				 const struct task_struct *task, __u64 now_ns)
{
	struct wakegov_chain *noted = &cpu->chain;
	__u32 need_q = chain_need_q(util_q, task);
	__u64 clock_ns = now_ns + chains_skipped_ns;
	bool over = clock_ns > noted->clock_ns + WAKEGOV_CHAIN_HOLD_NS ||
		    now_ns > noted->chain_ns + WAKEGOV_CHAIN_HOLD_NS / 2;

	chain_compare(&cpu->compared, util_q, now_ns);
	if ((need_q < noted->need_q - noted->need_q / CHAIN_NEAR && !over) ||
	    !is_beyond_own(cpu, need_q) || (waker && is_tiny(cpu, task, util_q)))
		return 0;
	if (need_q > noted->need_q || over) {
		noted->need_q = need_q;
		noted->pid = task->pid;
		noted->waker = capped_waker(waker);
		__builtin_memcpy(cpu->chain_comm, task->comm, sizeof(cpu->chain_comm));
	}
	if (clock_ns > noted->clock_ns + WAKEGOV_CHAIN_STEP_NS) {
		noted->seen_ns = bpf_ktime_get_ns();
		note_arrival(now_ns - noted->chain_ns, noted->seen_ns);
		noted->clock_ns = clock_ns;
		noted->chain_ns = now_ns;
	}
	if (need_q <= cpu->chain_high_q)
		return 0;
	if (!over)
		chains_change = true;
	emit_chain(cpu, bpf_get_smp_processor_id());
	return 1;
}

/* Most switches of a steady chain end here. */
static inline bool is_no_news(const struct wakegov_cpu *cpu, __u32 need_q, __u64 now_ns)
{
	return chain_is_compared(&cpu->compared, need_q, WAKEGOV_CHAIN_STEP_NS, now_ns) &&
	       need_q <= cpu->chain_high_q;
}

/* Whether the first waker that waits for its own, or has none, is at work. */
static __noinline bool follows_busy(const struct chain_task *chain)
{
	for (int hop = 0; hop < CHAIN_HOPS && chain; hop++) {
		if (!chain_is_one_way(chain))
			return !chain->slept_ns && !(chain->flags & CHAIN_EXITED);
		chain = find_chain(chain->waker.pid);
	}
	return false;
}

/*
 * Whether the task works beside a busy one that waits neither for it nor for those in between. Then
 * its need is its own. Once the busy one sleeps or ends, what it has left is waited for.
 */
static inline bool is_beside(const struct chain_task *chain)
{
	return chain_is_one_way(chain) && follows_busy(chain);
}

/* The task's last waker still worked when it was last seen. */
static inline void credit_waker(struct chain_task *chain)
{
	const struct chain_task *waker = find_chain(chain->waker.pid);

	if (waker && !waker->slept_ns && waker->generation >= chains_unpaused &&
	    !(waker->flags & CHAIN_EXITED))
		chain_credit_waker(chain, waker->since.at_ns);
}

/*
 * The task is on, for the first time since chains are followed again. If it slept before, its last
 * waker may have woken it in the meantime. Returns 0.
 */
static __noinline int resume_chain(struct chain_task *chain, __u64 now_ns, __u32 level)
{
	if (chain->slept_ns)
		credit_waker(chain);
	chain_know(chain, settings.chains, chains_unpaused, now_ns, level);
	return 0;
}

/* Returns whether the task was in this generation; if not, its on-time begins now. */
static inline bool know_chain(struct chain_task *chain, __u64 now_ns, __u32 level)
{
	return chain->generation == settings.chains || resume_chain(chain, now_ns, level);
}

/*
 * The current task is on, and had no switch on this CPU since chains are followed again: it works
 * for long, or polls.
 */
static inline void resume_current(struct wakegov_cpu *cpu, struct chain_task *chain, __u64 now_ns)
{
	know_chain(chain, now_ns, cpu->load.level_q >> DECAY_Q_SHIFT);
	cpu->chain_since_ns = chain->since.at_ns;
}

#define CHAIN_HURRIES (CHAIN_INPUT | CHAIN_WAITED)

/*
 * A task waits for I/O in work that is waited for: until its end, the kernel threads that work do
 * it for that task, as who decrypts what is read. The interrupt that wakes them does not say it.
 */
static __u64 io_awaited_ns;
static __u32 io_awaited_by;

/* The current task, at a switch to it and at each tick, during work that is waited for. */
static __noinline int hurry(struct wakegov_cpu *cpu, struct chain_task *chain,
			    const struct task_struct *task, __u64 now_ns)
{
	__u64 at_ns = bpf_ktime_get_ns();
	__u32 need_q;

	if (at_ns > chain->input_ns) {
		chain->flags &= ~CHAIN_HURRIES;
		chain->hurried = 0;
		keep_clamp(chain, task->pid, false);
		return 0;
	}
	cpu->context |= OF_INPUT;
	if (task->flags & PF_KTHREAD && !chain->works)
		return 0;
	if (io_awaited_ns && !(task->flags & PF_KTHREAD))
		io_awaited_ns = 0;
	chain->cpu_next = bpf_get_smp_processor_id() + 1;
	need_q = chain->flags & CHAIN_INPUT ? CHAIN_ONE : cpu->waiting_q;
	if (!is_no_news(cpu, need_q, now_ns))
		note_chain(cpu, need_q, 0, task, now_ns);
	return 0;
}

/*
 * A kernel thread ends what a task with I/O waits for, as who decrypts what is read does, or sends
 * its requests: what the clock of the task is worth to it, it is worth here. Of two tasks the first
 * one stays. Returns the task's slot; NULL: it has none.
 */
static __noinline struct wakegov_slot *serve(struct wakegov_cpu *cpu, __u32 pid)
{
	struct wakegov_slot *slot = find_slot(pid);
	__u64 now_ns = bpf_ktime_get_ns();
	bool is_another;

	if (!cpu || !slot)
		return NULL;
	is_another = cpu->served_pid != pid;
	if (is_another && now_ns <= cpu->served_ns + WAKEGOV_CHAIN_HOLD_NS / 2)
		return slot;
	if (is_another || now_ns > cpu->served_ns + WAKEGOV_CHAIN_HOLD_NS)
		emit_chain(cpu, bpf_get_smp_processor_id());
	cpu->served_pid = pid;
	cpu->served_ns = now_ns;
	return slot;
}

/*
 * Most kernel threads only hand on what others wait for, as one that flushes a terminal does. One
 * that worked for this long at full capacity in one of its last runs, as who encrypts packets does,
 * is waited for as well. With twice the time, a run may take as much longer at a low clock; with
 * half, the daemon's own work takes as long as what is saved.
 */
#define WORKS_NS 100000

/* The current kernel thread does what that task waits for. */
static inline void work_for_awaiting(struct chain_task *chain)
{
	struct chain_task *awaiting = find_chain(io_awaited_by);
	__u16 cpu_next = bpf_get_smp_processor_id() + 1;

	chain->flags |= CHAIN_WAITED;
	chain->input_ns = io_awaited_ns;
	if (!awaiting || awaiting->io_cpus[0] == cpu_next)
		return;
	awaiting->io_cpus[1] = awaiting->io_cpus[0];
	awaiting->io_cpus[0] = cpu_next;
}

static __noinline void leave_flagged(const struct wakegov_cpu *cpu, struct chain_task *chain,
				     const struct task_struct *task)
{
	__u64 ran_ns = task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;

	if (chain->flags & CHAIN_HURRIES && is_in_iowait(task)) {
		io_awaited_ns = chain->input_ns;
		io_awaited_by = task->pid;
	}
	if (!(chain->flags & CHAIN_KERNEL))
		return;
	if (ran_ns * (cpu->load.level_q >> DECAY_Q_SHIFT) / 1024 >= WORKS_NS)
		chain->works = PIECE_FADE;
	else
		chain->works -= chain->works > 0;
}

static __noinline int come_flagged(struct wakegov_cpu *cpu, struct chain_task *chain,
				   const struct task_struct *task, __u64 now_ns)
{
	if (chain->flags & CHAIN_EXITED && !(task->flags & PF_EXITING)) {
		chain->generation = 0; /* another task has this number */
		chain->pieces_of = 0;
		return 0;
	}
	if (chain->flags & CHAIN_KERNEL && task->flags & PF_KTHREAD) {
		cpu->context |= OF_KERNEL;
		if (chain->serves && !chain->slept_ns)
			serve(cpu, chain->serves);
		if (chain->works && io_awaited_ns && bpf_ktime_get_ns() < io_awaited_ns)
			work_for_awaiting(chain);
	}
	if (chain->flags & CHAIN_PIECE)
		cpu->context |= OF_PIECE;
	return chain->flags & CHAIN_HURRIES ? hurry(cpu, chain, task, now_ns) : 0;
}

/* Called at each switch. The daemon has no chain. */
static inline void switch_chains(struct wakegov_cpu *cpu, struct task_struct *prev,
				 struct task_struct *next, bool sleeps)
{
	struct chain_task *leaves = sleeps ? find_chain(prev->pid) : NULL;
	struct chain_task *comes = find_chain(next->pid);
	__u32 level = cpu->load.level_q >> DECAY_Q_SHIFT;
	__u64 now_ns;

	if (!leaves) {
		if (!comes)
			return;
		__asm__ volatile(""); /* or a compiler tests both pointers as one number */
	}
	now_ns = chain_clock(comes ? next : prev);
	if (leaves) {
		know_chain(leaves, now_ns, level);
		chain_sleep(leaves, now_ns, level);
		if (leaves->flags & (CHAIN_KERNEL | CHAIN_HURRIES))
			leave_flagged(cpu, leaves, prev);
	}
	if (!comes)
		return;
	if (comes->flags)
		come_flagged(cpu, comes, next, now_ns);
	if (know_chain(comes, now_ns, level))
		chain_come(comes, now_ns, level);
	cpu->chain_since_ns = comes->since.at_ns;
	if (!comes->waker.pid)
		cpu->compared.near_q = 0;
	else if (is_no_news(cpu, comes->util_q, now_ns))
		return;
	else if (is_beside(comes))
		cpu->context |= BESIDE;
	else
		note_chain(cpu, comes->util_q, comes->waker.pid, next, now_ns);
}

/*
 * Called at a tick that meets the task. The task may belong to a chain, however short its bursts
 * are. So may its parent, which a tick may never meet: it works only for a moment between its
 * children. A task that polls has no switch, and yet wakes others. Nor has one that works on what a
 * busy task left for it.
 */
static inline void tick_chains(struct wakegov_cpu *cpu, struct task_struct *task)
{
	struct task_struct *parent = task->real_parent;
	__u64 now_ns = chain_clock(task);
	struct chain_task *chain = claim_chain(task, true, now_ns);

	claim_chain(parent, true, now_ns);
	if (!chain || !followed_chains)
		return;
	if (cpu->context & OF_INPUT)
		hurry(cpu, chain, task, now_ns);
	if (!cpu->chain_since_ns || chain->generation != settings.chains)
		resume_current(cpu, chain, now_ns);
	else if (chain_is_one_way(chain) && !is_beside(chain))
		note_chain(cpu, chain->util_q, chain->waker.pid, task, now_ns);
}

static inline void fork_chain(struct task_struct *parent, struct task_struct *child)
{
	struct chain_task *from = find_chain(parent->pid), *to;

	/* It may have worked on since before a pause, without a switch or a tick. */
	if (from && followed_chains && from->generation != settings.chains)
		resume_chain(from, chain_clock(parent), WAKEGOV_CAPACITY_MAX);
	if (!from || from->generation != settings.chains || (from->slept_ns && followed_chains))
		return;
	from->others = PIECE_FADE; /* the piece is not its own alone */
	to = claim_chain(child, false, from->updated_ns);
	if (to)
		chain_fork(from, to, parent->pid);
}

/*
 * The task moves to another CPU during a pause. Its need must be seen there, unless that CPU
 * compared as much lately and the result holds until the pause ends.
 */
static inline void move_chain(__u32 pid, const struct wakegov_cpu *to)
{
	__u64 now_ns, resume_ns = chains_resume_ns, counts_ns = WAKEGOV_CHAIN_HOLD_NS;
	const struct chain_task *chain = resume_ns ? find_chain(pid) : NULL;

	if (!chain || !chain->waker.pid)
		return;
	now_ns = bpf_ktime_get_ns();
	if (now_ns < resume_ns)
		counts_ns -= resume_ns - now_ns;
	if (!chain_is_compared(&to->compared, chain->util_q, counts_ns,
			       chain_clock(bpf_get_current_task_btf())))
		resume_chains(now_ns);
}

/* It still wakes who waits for its end, and may sleep before. */
static inline void exit_chain(__u32 pid)
{
	struct chain_task *chain = find_chain(pid);

	keep_clamp(chain, pid, false);
	if (chain)
		chain->flags = CHAIN_EXITED;
}
