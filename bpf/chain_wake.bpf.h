/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Who wakes a task of a chain, and what comes of it (chain.bpf.h). */

#include "chain.bpf.h"
#include "hot.bpf.h"

#define EV_KEY	 1 /* include/uapi/linux/input-event-codes.h */
#define KEY_DOWN 1 /* a value; 0: up, 2: it repeats */

/*
 * Input events that begin a chain: a key or a button goes down; a touch is a button. The program
 * reads neither the key nor the device. The motion of a pointer begins no chain, nor does the
 * release or repetition of a key, or a switch. A click that ends within INPUT_NS is one event's
 * work.
 *
 * There is no tracepoint. drivers/input/input.c calls this function for each event that changes
 * something, before it passes the event on; drivers also report unchanged buttons with each motion.
 * The reader of the device is woken before the interrupt ends, or before the injecting task sleeps.
 */
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

/*
 * An event in an interrupt is over with it. When that is is not seen: another one of the same kind
 * in the same jiffy, or the next, is taken for it.
 */
static inline bool is_at_input(const struct wakegov_cpu *cpu, __u32 interrupts)
{
	if (!(cpu->context & AT_INPUT) || interrupts != cpu->input_interrupts)
		return false;
	return !interrupts || (__u32)bpf_jiffies64() - cpu->input_jiffy <= 1;
}

/*
 * Raises the CPU where the task did such work last, and those where kernel threads did it for its
 * I/O. It is not there yet: its CPU has to wake up first.
 */
static __noinline void prepare_task(struct chain_task *chain, __u32 need_q, __u32 pid)
{
	prepare_cpu(chain->cpu_next - 1, need_q, pid);
	for (int i = 0; i < 2 && chain->io_cpus[i]; i++) {
		prepare_cpu(chain->io_cpus[i] - 1, need_q, pid);
		chain->io_cpus[i] = 0;
	}
}

#define PIECE_TASKS 3 /* that are prepared for; those that come after them are raised in turn */

/*
 * The piece will go through the tasks through which the last one went, and mostly on their CPUs:
 * raised now, they are fast in time, and take no wake-up of the daemon each.
 */
static __noinline void prepare_piece(struct chain_task *chain, __u32 need_q)
{
	struct chain_task *next = chain;
	__u32 pid;

	for (int i = 0; i < PIECE_TASKS && next; i++) {
		pid = next->next;
		next = find_chain(pid);
		if (!next || next == chain || next->flags & CHAIN_EXITED)
			break;
		prepare_task(next, need_q, pid);
	}
	chain->next = 0;
}

/*
 * An input event, or the current task at its work, wakes this one, which may have been met by no
 * tick so far.
 */
static __noinline int wake_by_input(struct wakegov_cpu *cpu, struct task_struct *task,
				    __u32 interrupts)
{
	__u64 now_ns = bpf_ktime_get_ns(), until_ns = now_ns + INPUT_NS;
	bool is_event = is_at_input(cpu, interrupts);
	struct chain_task *from, *chain;
	__u32 flags = CHAIN_INPUT;

	if (!is_event) {
		from = is_bystander(cpu, interrupts) ? NULL
						     : find_chain(bpf_get_current_pid_tgid());
		flags = from ? from->flags & CHAIN_HURRIES : 0;
		until_ns = flags ? from->input_ns : 0;
		if (flags)
			from->next = task->pid;
	}
	if (until_ns <= now_ns || (__u32)task->tgid == settings.own_tgid)
		return 0;
	chain = claim_chain(task, true, chain_clock(task));
	if (chain) {
		chain->input_ns = until_ns;
		chain->flags |= flags;
		if (is_event)
			prepare_piece(chain, CHAIN_ONE);
	}
	return 0;
}

/*
 * Shorter work, at full capacity, is over before a clock has changed, or saves less than the
 * daemon's own work takes: timers of an idle desktop are so short. With twice the time, a piece
 * that is twice as long at a low clock goes without.
 */
#define PIECE_LEAST_US 250

/*
 * Whether the clock of the task's pieces is chosen elsewhere: where it does I/O, its boost is tried
 * and kept only if it pays. Tasks of SCHED_IDLE, and those that want no floor, have said enough.
 */
static inline bool is_exempt(const struct task_struct *task)
{
	return task->policy == SCHED_IDLE || wants_no_floor(task) ||
	       (may_be_hot(task->pid) && find_slot(task->pid));
}

/*
 * The current task wakes the first other one in its piece, who may wait for what it does. If that
 * is a wait for I/O, as where a file system is in user space, the pieces are a part of that I/O,
 * whose boost is tried.
 */
static __noinline int wake_in_piece(struct wakegov_cpu *cpu, bool serves_io)
{
	struct chain_task *chain = find_chain(bpf_get_current_pid_tgid());

	if (!chain)
		return 0;
	cpu->context &= ~OF_PIECE;
	chain->flags &= ~CHAIN_PIECE;
	chain->others = PIECE_FADE;
	if (!serves_io)
		return 0;
	chain->flags &= ~CHAIN_WAITED;
	chain->piece.score = 0;
	chain->piece.kind = PIECE_UNKNOWN;
	chain->piece.n = PIECE_TURNS_END;
	return 0;
}

/*
 * So many pieces without a fork, and without a wake-up by another task, show a task that may keep
 * its clamp while it sleeps. With twice as many, it has slow pieces for as much longer.
 */
#define KEPT_AFTER 16

/*
 * Something outside ends the task's external wait: votes, and where its pieces are waited for, or
 * a turn of the high clock may tell, this one has the clock that waiting is worth. The kernel's own
 * threads are exempt. A task that a timer wakes and that wakes no other task is exempt as well: its
 * pauses look waited for, but no other task waits. A packet wakes its task in a softirq instead.
 * Where they are due, the chain has at least the utilisation that its longest piece needs.
 */
static __noinline int begin_piece(struct wakegov_cpu *cpu, struct chain_task *chain,
				  const struct task_struct *task, __u32 interrupts)
{
	__u64 now_ns = bpf_ktime_get_ns(), ahead_ns = chains_skipped_ns + clock_ahead_ns;
	__u32 interval_us, util_q, rest_q;

	chain->flags = (chain->flags & ~CHAIN_WAITED) | CHAIN_PIECE;
	if (!chain->others && interrupts & IN_HARDIRQ) {
		chain->pieces_of = 0;
		goto exempt;
	}
	if (!chain->pieces_of)
		chain->piece = (struct piece){ 0 };
	else if (chain->pieces_of != settings.chains)
		piece_miss(&chain->piece);
	chain->pieces_of = settings.chains;
	chain_was_on(chain, chain->slept_ns, cpu->load.level_q >> DECAY_Q_SHIFT);
	interval_us = piece_begin(&chain->piece, chain->slept_ns + ahead_ns, now_ns,
				  chain->lost_ns);
	chain->others -= chain->others > 0;
	if (chain->piece.peak_us < PIECE_LEAST_US || is_exempt(task))
		goto exempt;
	util_q = DECAY_Q(piece_due_util(&chain->piece, interval_us));
	if (util_q) {
		/* Its waker is not forgotten: a chain without one asks for nothing. */
		rest_q = chain_rest(chain, now_ns - ahead_ns - chain->slept_ns);
		chain_begin(chain, now_ns - ahead_ns, rest_q > util_q ? rest_q : util_q);
	}
	chain->hurried = chain->waker.pid ? 0 : chain->hurried + (chain->hurried < KEPT_AFTER);
	keep_clamp(chain, task->pid,
		   chain->hurried == KEPT_AFTER && !(chain->flags & CHAIN_FORKS) &&
			   chain->piece.score <= -PIECE_SCORE_VERDICT);
	if (!piece_hurries(&chain->piece) || !cpu->waiting_q)
		return 0;
	chain->flags |= CHAIN_WAITED;
	chain->input_ns = now_ns + INPUT_NS;
	prepare_task(chain, cpu->waiting_q, task->pid);
	prepare_piece(chain, cpu->waiting_q);
	return 0;
exempt:
	chain->hurried = 0;
	keep_clamp(chain, task->pid, false);
	return 0;
}

/*
 * No task wakes this one, or so it seems. Where it is a timer it may look what its waker does. One
 * that waits for a disk does not.
 */
static inline void wake_from_outside(struct wakegov_cpu *cpu, const struct task_struct *task,
				     __u32 interrupts)
{
	struct chain_task *chain = find_chain(task->pid);

	if (!chain || !chain->slept_ns || chain->generation != settings.chains ||
	    is_in_iowait(task))
		return;
	if (interrupts != IN_SOFTIRQ)
		credit_waker(chain);
	if (chain->slept_ns && !(task->flags & PF_KTHREAD))
		begin_piece(cpu, chain, task, interrupts);
}

/*
 * The current task of this CPU, which is idle or interrupted, or has no chain so far as is known,
 * wakes this one. Returns whether it has one.
 */
static __noinline bool has_waker(struct wakegov_cpu *cpu, const struct task_struct *task,
				 __u32 interrupts)
{
	bool outside = is_bystander(cpu, interrupts);
	__u32 pid = bpf_get_current_pid_tgid();
	struct chain_task *chain;

	if (outside || (!interrupts && !pid))
		wake_from_outside(cpu, task, interrupts);
	if (!pid || outside)
		return false;
	chain = find_chain(pid);
	if (!chain || chain->flags & CHAIN_EXITED)
		return false;
	resume_current(cpu, chain, chain_clock(bpf_get_current_task_btf()));
	return true;
}

/*
 * The current kernel thread sends a request. If a task with I/O woke it, or woke the kernel thread
 * that did, they work for that task whenever they are woken. RCU's threads send nothing.
 */
static __noinline int send_for_waker(struct wakegov_cpu *cpu, __u32 pid)
{
	struct chain_task *sender = find_chain(pid), *waker;

	if (!cpu || !sender || interrupts_here(cpu))
		return 0;
	waker = find_chain(sender->waker.pid);
	if (!waker || !(waker->flags & CHAIN_KERNEL))
		waker = sender;
	pid = waker->waker.pid;
	if (pid && find_slot(pid)) {
		waker->serves = pid;
		sender->serves = pid;
	}
	return 0;
}

/* The current kernel thread ends a wait of this task: since when that began, it worked for it. */
static __noinline int end_wait(struct wakegov_cpu *cpu, __u32 pid)
{
	struct wakegov_slot *slot;
	__u64 now_ns, since_ns;

	slot = may_be_hot(pid) ? serve(cpu, pid) : NULL;
	if (!cpu || !slot || !settings.learns)
		return 0;
	now_ns = bpf_ktime_get_ns();
	since_ns = cpu->chain_since_ns + chains_skipped_ns + clock_ahead_ns;
	if (since_ns < slot->last_wait_ns)
		since_ns = slot->last_wait_ns;
	if (since_ns < now_ns)
		slot->interrupts_ns += now_ns - since_ns;
	return 0;
}

/*
 * Learns whether the current task waits for this one. Threads of one process count as if they did,
 * as one may poll the memory for what the other does. So do the kernel's.
 */
static __noinline int look_at_waker(struct chain_task *chain, const struct task_struct *task)
{
	const struct task_struct *waker = bpf_get_current_task_btf();

	if (task->mm && waker->mm && task->mm != waker->mm)
		chain_look(chain, waker->pid, waker->nvcsw);
	else
		chain->one_way = 0;
	return 0;
}

/*
 * The current task wakes this one. Most wakers are on for longer than the other one slept: then
 * only its place is looked up. A kernel thread that a device or a timer woke meanwhile, such as a
 * worker that ends writes, has little utilisation of its own, and yet the chain waits for it: what
 * the chain needs is needed here as well. One that does I/O itself is tried for a boost instead.
 */
static inline void wake_chain(struct task_struct *task)
{
	struct wakegov_cpu *cpu = this_cpu();
	struct chain_task *chain, *from;
	__u64 now_ns;
	__u32 waker, interrupts;

	if (!cpu)
		return;
	interrupts = interrupts_here(cpu);
	if (cpu->context & (AT_INPUT | OF_INPUT | OF_KERNEL | OF_PIECE)) {
		if (cpu->context & OF_PIECE && !is_bystander(cpu, interrupts))
			wake_in_piece(cpu, !interrupts && (is_in_iowait(task) ||
							   task->flags & PF_IO_WORKER));
		if (cpu->context & (AT_INPUT | OF_INPUT))
			wake_by_input(cpu, task, interrupts);
		if (cpu->context & OF_KERNEL && !is_bystander(cpu, interrupts))
			end_wait(cpu, task->pid);
	}
	if ((!cpu->chain_since_ns || is_bystander(cpu, interrupts)) &&
	    !has_waker(cpu, task, interrupts))
		return;
	chain = find_chain(task->pid);
	if (!chain || !chain->slept_ns)
		return;
	if (chain->generation != settings.chains &&
	    !chain_know_asleep(chain, settings.chains, chains_unpaused))
		return;
	waker = bpf_get_current_pid_tgid();
	if (!waker)
		return;
	if (cpu->context & BESIDE)
		chain->one_way = CHAIN_ONE_WAY;
	else if (chain_is_looked_at(chain))
		look_at_waker(chain, task);
	if (chain_wake(chain, cpu->chain_since_ns, waker)) {
		if (chain->util_q <= cpu->compared.near_q)
			return;
	} else {
		from = find_chain(waker);
		if (!from)
			return;
		if (from->generation == settings.chains && !from->slept_ns)
			chain_follow(chain, from, cpu->load.level_q >> DECAY_Q_SHIFT);
		if (!(bpf_get_current_task_btf()->flags & PF_KTHREAD) || may_be_hot(waker))
			return;
	}
	now_ns = chain_clock(bpf_get_current_task_btf());
	if (!(cpu->context & BESIDE) && !is_no_news(cpu, chain->util_q, now_ns))
		note_chain(cpu, chain->util_q, waker, task, now_ns);
}
