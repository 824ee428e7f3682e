/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The accounting of CPUs and tasks, one implementation for the BPF side, the simulator and the
 * tests: who ran, when, and what of it is remembered. Times are CLOCK_MONOTONIC, which stands
 * still while the machine is suspended and never goes back; one that seems to is no time at all.
 *
 * A CPU accrues at its level (decay.h) while a task runs. An interrupt of a running task counts as
 * the task's time; one of an idle CPU does not, but for what it took to wake a reader. A task's
 * utilisation goes with it to another CPU: what the one loses the other gains.
 */

#include <stdbool.h>

#include "wakegov/decay.h"

struct account_task {
	__u64 updated_ns; /* util_q is as of then; 0: nothing is known of it yet */
	__u64 ran_ns;	  /* the scheduler's count of its time when it last left a CPU */
	__u32 util_q;	  /* capacity · 2^20 */
	__u32 est_q;	  /* what it is known to need when it runs; see account_task_leaves() */
};

struct account_cpu {
	__u64 updated_ns;    /* util_q and idle_since_ns are as of then */
	__u64 worked_ns;     /* work since, less that of the present time with work */
	__u64 switched_ns;   /* the last switch of tasks; 0: not known */
	__u64 idle_since_ns; /* of the present or the last idle time, less what blips took off it */
	__u64 busy_since_ns; /* of the present time with work; 0: none, or its start is not known */
	__s64 moved_q;	     /* of tasks that came, less of those that left, since updated_ns */
	__u64 moved_ns;	     /* moved_q is as of then */
	__u32 util_q;	     /* capacity · 2^20; to be read by account_util_q() */
	__u32 est_q;	     /* of the task that runs; 0: none, or nothing is known of it */
	__u32 running;	     /* the id of the task that runs; 0: idle */
	__u32 level_q;	     /* at which it accrues */
	__u32 capacity;	     /* 1…1024 */
	__u32 last;	     /* the id of the task that runs or ran last … */
	__u32 last_est_q;    /* … and its est_q */
};

/*
 * What tasks brought and took away. Where more wait than can run the sum is above the capacity, or
 * what one brought would be missing when it leaves; see account_util_q().
 */
static inline __u32 account_moved(__u32 util_q, __s64 moved_q)
{
	__s64 sum_q = util_q + moved_q;

	if (sum_q < 0)
		return 0;
	return sum_q > 0xffffffff ? 0xffffffff : sum_q;
}

VERIFIED_ONCE int account_take_moved(struct account_cpu *cpu, __u64 now_ns)
{
	__u64 passed_ns, factor, size_q;
	__s64 moved_q;

	if (!cpu)
		return 0; /* for the verifier: never so */
	moved_q = __sync_lock_test_and_set(&cpu->moved_q, 0);
	passed_ns = now_ns > cpu->moved_ns ? now_ns - cpu->moved_ns : 0;
	factor = decay_factor(passed_ns);
	/* In two parts, since the product of eight full tasks would have 65 bits. */
	size_q = moved_q < 0 ? -moved_q : moved_q;
	size_q = (size_q >> 31) * factor + ((size_q & (DECAY_ONE - 1)) * factor >> 31);
	cpu->util_q = account_moved(cpu->util_q, moved_q < 0 ? -(__s64)size_q : (__s64)size_q);
	return 0;
}

static inline void account_rest(__u32 *util_q, __u64 *updated_ns, __u64 now_ns)
{
	if (now_ns <= *updated_ns)
		return;
	*util_q = decay_toward(*util_q, 0, now_ns - *updated_ns);
	*updated_ns = now_ns;
}

/*
 * Accounts work from since_ns until now, as if it had come right after the last update. What is
 * left between the two is rest, and is accounted later.
 */
static inline void account_work(__u32 *util_q, __u64 *updated_ns, __u32 level_q, __u64 since_ns,
				__u64 now_ns)
{
	if (since_ns < *updated_ns)
		since_ns = *updated_ns;
	if (now_ns <= since_ns)
		return;
	*util_q = decay_toward(*util_q, level_q, now_ns - since_ns);
	*updated_ns += now_ns - since_ns;
}

/*
 * Short work in between does not end an idle time: each burst takes eight times its length off it,
 * so that a CPU that works an eighth of the time is not idle, and one with a kernel thread's blip
 * now and then is. No more than ACCOUNT_IDLE_CREDIT_NS of idleness can be drawn on.
 */
#define ACCOUNT_IDLE_SHARE     8
#define ACCOUNT_IDLE_CREDIT_NS 40000000ULL

static inline void account_limit_credit(struct account_cpu *cpu)
{
	if (cpu->idle_since_ns + ACCOUNT_IDLE_CREDIT_NS < cpu->updated_ns)
		cpu->idle_since_ns = cpu->updated_ns - ACCOUNT_IDLE_CREDIT_NS;
}

/*
 * Accounts the work that was summed up, as if it had come right after the last update: for twenty
 * short bursts once.
 */
static inline void account_worked(struct account_cpu *cpu, __u64 now_ns)
{
	if (now_ns < cpu->updated_ns + cpu->worked_ns)
		cpu->worked_ns = now_ns > cpu->updated_ns ? now_ns - cpu->updated_ns : 0;
	if (cpu->worked_ns) {
		account_limit_credit(cpu);
		cpu->util_q = decay_toward(cpu->util_q, cpu->level_q, cpu->worked_ns);
		cpu->updated_ns += cpu->worked_ns;
		cpu->idle_since_ns += ACCOUNT_IDLE_SHARE * cpu->worked_ns;
		cpu->worked_ns = 0;
	}
	if (cpu->idle_since_ns > cpu->updated_ns)
		cpu->idle_since_ns = cpu->updated_ns;
}

/* Brings the utilisation of a CPU up to now. */
VERIFIED_ONCE int account_cpu(struct account_cpu *cpu, __u64 now_ns)
{
	if (!cpu)
		return 0; /* for the verifier: never so */
	account_worked(cpu, now_ns);
	if (cpu->busy_since_ns) {
		account_rest(&cpu->util_q, &cpu->updated_ns, cpu->busy_since_ns);
		account_limit_credit(cpu);
		account_work(&cpu->util_q, &cpu->updated_ns, cpu->level_q, 0, now_ns);
	} else {
		account_rest(&cpu->util_q, &cpu->updated_ns, now_ns);
	}
	if (cpu->moved_q)
		account_take_moved(cpu, now_ns);
	return 0;
}

/*
 * A switch brings utilisation up to date only if the last update is longer ago than this. With
 * twice the time, the daemon would learn that much later, at most by a tick, that a CPU has left
 * its band.
 */
#define ACCOUNT_LATE_NS 500000ULL

static inline bool account_is_due(const struct account_cpu *cpu, __u64 now_ns)
{
	return now_ns > cpu->updated_ns + ACCOUNT_LATE_NS || cpu->moved_q;
}

/* The utilisation, no more than the CPU has. */
static inline __u32 account_util_q(const struct account_cpu *cpu)
{
	return cpu->util_q < DECAY_Q(cpu->capacity) ? cpu->util_q : DECAY_Q(cpu->capacity);
}

static inline void account_begin_busy(struct account_cpu *cpu, __u64 now_ns)
{
	if (account_is_due(cpu, now_ns))
		account_cpu(cpu, now_ns);
	cpu->busy_since_ns = now_ns;
}

static inline void account_end_busy(struct account_cpu *cpu, __u64 now_ns)
{
	__u64 since_ns = cpu->busy_since_ns;

	if (since_ns < cpu->updated_ns) {
		/* accounted already, as work in progress */
		cpu->idle_since_ns += ACCOUNT_IDLE_SHARE * (cpu->updated_ns - since_ns);
		since_ns = cpu->updated_ns;
	}
	if (now_ns > since_ns)
		cpu->worked_ns += now_ns - since_ns;
	cpu->busy_since_ns = 0;
}

/* A task is at what it always does until it has done a sixteenth more than is remembered of it. */
static inline bool account_is_news(__u32 util_q, __u32 est_q)
{
	return util_q > est_q + est_q / 16;
}

/*
 * How long it has worked without an idle moment; 0: it is idle. A CPU without one asks for as much
 * as it can show, and at a low frequency that is little: how long it has been at it says more, also
 * of a task that is as late each time.
 */
static inline __u64 account_burst_ns(const struct account_cpu *cpu, __u64 now_ns)
{
	if (!cpu->running || !cpu->busy_since_ns || now_ns < cpu->busy_since_ns)
		return 0;
	return now_ns - cpu->busy_since_ns;
}

/* What is asked for: the utilisation, and not less than the running task is known to need. */
static inline __u32 account_need_q(__u32 util_q, __u32 est_q)
{
	return util_q > est_q ? util_q : est_q;
}

/* The task slept, waited or was not there from its last update until now. */
static inline void account_task_rested(struct account_task *task, __u64 now_ns)
{
	account_rest(&task->util_q, &task->updated_ns, now_ns);
}

/* The task runs on this CPU, since the last switch at least. */
static inline void account_task_ran(struct account_task *task, const struct account_cpu *cpu,
				    __u64 now_ns)
{
	account_task_rested(task, cpu->switched_ns);
	account_work(&task->util_q, &task->updated_ns, cpu->level_q, cpu->switched_ns, now_ns);
}

/*
 * The task, which runs since since_ns, leaves the CPU. If it sleeps, its utilisation updates est_q
 * as the scheduler updates util_est: a rise is taken at once, of a fall a quarter. Rest that is not
 * accounted yet makes util_q old; est_q is then left as it is.
 */
static inline void account_task_leaves(struct account_task *task, struct account_cpu *cpu,
				       __u64 since_ns, bool sleeps, __u64 now_ns)
{
	if (now_ns > task->updated_ns + ACCOUNT_LATE_NS)
		account_task_rested(task, since_ns);
	account_work(&task->util_q, &task->updated_ns, cpu->level_q, since_ns, now_ns);
	if (!sleeps || task->updated_ns < now_ns)
		return;
	if (task->util_q >= task->est_q)
		task->est_q = task->util_q;
	else
		task->est_q -= (task->est_q - task->util_q) / 4;
	cpu->last_est_q = task->est_q;
}

/*
 * What a task needed is remembered for so long. One that slept for longer may do something else;
 * most that do are the kernel's own, and have an idle machine wake up for nothing.
 */
#define ACCOUNT_MEMORY_NS 500000000ULL

/*
 * The task was the last one here, and the CPU was idle for a moment at most: what is remembered of
 * it still holds.
 */
static inline bool account_is_back(const struct account_cpu *cpu, __u32 next, __u64 now_ns)
{
	return next == cpu->last && (cpu->running || now_ns <= cpu->switched_ns + ACCOUNT_LATE_NS);
}

/*
 * Accounts what the task did on this CPU unseen, as if right after its last update. ran_ns is the
 * scheduler's count of its time, less that since the last switch.
 */
static inline void account_task_did(struct account_task *task, const struct account_cpu *cpu,
				    __u64 ran_ns, __u64 now_ns)
{
	__u64 end_ns = task->updated_ns + (ran_ns - task->ran_ns);

	account_work(&task->util_q, &task->updated_ns, cpu->level_q, 0,
		     end_ns < now_ns ? end_ns : now_ns);
	task->ran_ns = ran_ns;
}

/* The CPU gets this task, which is not back. NULL: nothing is known of it. */
static inline void account_task_comes(struct account_task *task, struct account_cpu *cpu, __u32 id,
				      __u64 now_ns)
{
	cpu->last = id;
	cpu->last_est_q = 0;
	if (!task || !task->updated_ns)
		return;
	if (cpu->running)
		account_cpu(cpu, now_ns);
	if (now_ns > task->updated_ns + ACCOUNT_MEMORY_NS)
		task->est_q = 0;
	account_task_rested(task, now_ns);
	cpu->last_est_q = task->est_q;
}

/* The CPU gets a task whose class, not its past, says what it needs. */
static inline void account_known_need(struct account_cpu *cpu, __u32 need_q)
{
	if (need_q > cpu->last_est_q)
		cpu->last_est_q = need_q;
}

/*
 * Of a new task nothing is known: as in the kernel's post_init_entity_util_avg() it may need half
 * of what the CPU had to spare then. That decays with its age, and what the task has done is in the
 * CPU's utilisation u, at its level L: if it ran all the while,
 *
 *	(u + L + (capacity − L) · 2^(−age / half-life)) / 2
 *
 * After some half-lives it is no longer new.
 */
#define ACCOUNT_NEW_NS (2 * DECAY_HALF_LIFE_NS)

static inline void account_new_task(struct account_cpu *cpu, __u64 age_ns, __u64 now_ns)
{
	if (age_ns > ACCOUNT_NEW_NS)
		return;
	account_cpu(cpu, now_ns);
	account_known_need(cpu,
			   account_util_q(cpu) / 2 +
				   decay_toward(DECAY_Q(cpu->capacity), cpu->level_q, age_ns) / 2);
}

/*
 * The CPU switches to the task with the id next, or is idle: 0. Before it account_task_leaves()
 * and, unless next is back, account_task_comes().
 */
static inline __attribute__((always_inline)) void account_switch(struct account_cpu *cpu,
								 __u32 next, __u64 now_ns)
{
	if (!next) {
		if (cpu->running)
			account_end_busy(cpu, now_ns);
		cpu->est_q = 0;
	} else {
		if (!cpu->running)
			account_begin_busy(cpu, now_ns);
		else if (account_is_due(cpu, now_ns))
			account_cpu(cpu, now_ns);
		cpu->est_q = cpu->last_est_q;
	}
	cpu->running = next;
	cpu->switched_ns = now_ns;
}

/* The task, of which est_q is known, runs, and it is not noted since when. */
static inline void account_unseen(struct account_cpu *cpu, __u32 next, __u32 est_q)
{
	cpu->running = next;
	cpu->last = next;
	cpu->last_est_q = est_q;
	cpu->est_q = est_q;
}

/* The CPU switches from one task to the next. */
static inline void account_pass(struct account_cpu *cpu, __u32 next, __u32 est_q)
{
	account_unseen(cpu, next, est_q);
	cpu->switched_ns = 0;
}

/* The task comes to an idle CPU. */
static inline void account_come_unseen(struct account_cpu *cpu, __u32 next, __u32 est_q)
{
	account_unseen(cpu, next, est_q);
	cpu->busy_since_ns = 0;
}

/*
 * The task that runs came to an idle CPU unseen, ran_ns before now; no more than the CPU was idle.
 * Returns when.
 */
static inline __u64 account_came(struct account_cpu *cpu, __u64 ran_ns, __u64 now_ns)
{
	__u64 since_ns = cpu->switched_ns;

	if (now_ns > since_ns + ran_ns)
		since_ns = now_ns - ran_ns;
	account_begin_busy(cpu, since_ns);
	cpu->switched_ns = since_ns;
	return since_ns;
}

/*
 * A task that is made, or that ends, hands its work to another: a shell that runs one short process
 * after the other is as busy as one long task, and none of them alone shows it.
 */
static inline void account_task_hands_on(const struct account_task *from, struct account_task *to)
{
	__u32 util_q = from->util_q;

	if (to->updated_ns < from->updated_ns)
		account_task_rested(to, from->updated_ns);
	if (util_q > to->util_q)
		to->util_q = util_q;
	if (util_q > to->est_q)
		to->est_q = util_q;
}

/*
 * The CPU was taken away for this time until now, as a virtual machine's is: the time is accounted
 * to no task. It is less in all than the time since the last event. load is the running task's;
 * NULL: not known.
 */
static inline void account_stolen(struct account_cpu *cpu, struct account_task *load,
				  __u64 stolen_ns, __u64 now_ns)
{
	__u64 since_ns = cpu->updated_ns;

	if (cpu->switched_ns > since_ns)
		since_ns = cpu->switched_ns;
	if (now_ns <= since_ns)
		return;
	if (stolen_ns > now_ns - since_ns)
		stolen_ns = now_ns - since_ns;
	cpu->updated_ns += stolen_ns;
	cpu->busy_since_ns += stolen_ns;
	cpu->switched_ns += stolen_ns;
	if (load && load->updated_ns && load->updated_ns + stolen_ns <= now_ns)
		load->updated_ns += stolen_ns;
}

/* The task, which does not run, goes from one CPU to the other; either may be NULL. */
static inline void account_move(struct account_task *task, struct account_cpu *from,
				struct account_cpu *to, __u64 now_ns)
{
	account_task_rested(task, now_ns);
	if (from) {
		__sync_fetch_and_add(&from->moved_q, -(__s64)task->util_q);
		from->moved_ns = now_ns;
	}
	if (to) {
		__sync_fetch_and_add(&to->moved_q, (__s64)task->util_q);
		to->moved_ns = now_ns;
	}
}
