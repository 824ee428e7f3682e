// SPDX-License-Identifier: GPL-2.0-only
/* A thread: from one piece of work to the next, and its sleeps between them. */
#include "sim/governor.h"
#include "sim/sim_private.h"

#define MILLI	     1000ULL
#define LONG_MCYCLES (1000000000 * MILLI) /* of work that another thread ends */

/* What a request costs the thread itself; the rest is in the interrupt. */
static uint64_t io_mcycles(const struct sim *sim, const struct sim_thread *thread)
{
	return thread->group->cycles * (MILLI - sim->platform->costs.interrupt_permille);
}

/* All of a chain's work is with its first thread. A parent may have as many children. */
static void init_turn(struct sim_thread *thread, bool first)
{
	const struct workload_group *group = thread->group;

	thread->rounds_here = first;
	if (first)
		thread->ready = group->engine == WORKLOAD_FORK ? group->threads - 1 : group->depth;
	thread->step = SIM_STEP_TAKE;
}

bool sim_thread_is_child(const struct sim_thread *thread)
{
	return thread->group->engine == WORKLOAD_FORK && !thread->rounds_here;
}

void sim_thread_init(const struct sim *sim, struct sim_thread *thread,
		     const struct workload_group *group, bool first)
{
	thread->group = group;
	thread->state = SIM_THREAD_ASLEEP;
	if (group->engine == WORKLOAD_CHAIN || group->engine == WORKLOAD_FORK) {
		init_turn(thread, first);
		return;
	}
	thread->step = SIM_STEP_SEND;
	thread->batch = group->depth;
	thread->mcycles = group->engine == WORKLOAD_BUSY ? group->cycles * MILLI
							 : io_mcycles(sim, thread);
}

static void sleep_until(struct sim *sim, struct sim_thread *thread, uint64_t ns)
{
	thread->state = SIM_THREAD_ASLEEP;
	sim_add_event(sim, ns, SIM_EVENT_WAKE, thread->index, ++thread->sleeps);
}

static void think(struct sim *sim, struct sim_thread *thread)
{
	sleep_until(sim, thread, sim->now_ns + thread->group->think_ns);
}

/* A round that took longer than a period is late, and the next one does not make up for it. */
static void begin_round(struct sim *sim, struct sim_thread *thread)
{
	thread->round_ns += thread->group->period_ns;
	if (thread->round_ns > sim->now_ns)
		sleep_until(sim, thread, thread->round_ns);
	else
		thread->round_ns = sim->now_ns;
}

static void advance_busy(struct sim *sim, struct sim_thread *thread)
{
	thread->rounds++;
	thread->mcycles = thread->group->cycles * MILLI;
	if (thread->group->think_ns)
		think(sim, thread);
	else if (thread->group->period_ns)
		begin_round(sim, thread);
}

/*
 * A chain's thread takes its next piece of work, or waits for one; the first begins a round. So
 * does a parent before each child.
 */
static void take_turn(struct sim *sim, struct sim_thread *thread)
{
	if (!thread->ready) {
		thread->step = SIM_STEP_TAKE;
		thread->state = SIM_THREAD_ASLEEP;
		thread->mcycles = 0; /* it looks again as soon as it runs */
		return;
	}
	thread->ready--;
	thread->step = SIM_STEP_SEND;
	thread->mcycles = thread->group->cycles * MILLI;
	if (!thread->rounds_here)
		return;
	thread->rounds++;
	thread->mcycles = thread->group->first_cycles * MILLI;
	if (thread->group->think_ns)
		think(sim, thread);
	else if (thread->group->period_ns)
		begin_round(sim, thread);
}

/* Returns whether the other one is woken. */
static bool pass_on(struct sim *sim, struct sim_thread *thread, struct sim_thread *to)
{
	to->ready++;
	if (to->state != SIM_THREAD_ASLEEP || to->step != SIM_STEP_TAKE)
		return false;
	sim_thread_wake(sim, to, thread);
	return true;
}

/* What it does now is done. */
static void end_piece(struct sim *sim, struct sim_thread *thread)
{
	struct sim_cpu *cpu = &sim->cpus[thread->cpu];

	sim_cpu_account(sim, cpu);
	thread->mcycles = 0;
	if (cpu->current == thread)
		sim_cpu_plan(sim, cpu);
}

static void advance_chain(struct sim *sim, struct sim_thread *thread)
{
	uint64_t look_ns = thread->group->look_ns;

	if (thread->step == SIM_STEP_SEND && pass_on(sim, thread, thread->successor) && look_ns) {
		thread->successor->goes_on = thread;
		thread->step = SIM_STEP_ON;
		thread->mcycles = LONG_MCYCLES;
		return;
	}
	if (thread->step == SIM_STEP_TAKE && thread->goes_on) {
		thread->step = SIM_STEP_LOOK;
		sleep_until(sim, thread, sim->now_ns + look_ns);
		return;
	}
	if (thread->goes_on)
		end_piece(sim, thread->goes_on);
	thread->goes_on = NULL;
	take_turn(sim, thread);
}

/* There is one that has not begun, or has ended: the parent counts them. */
static void fork_child(struct sim *sim, struct sim_thread *parent)
{
	struct sim_thread *child = parent + 1;

	while (child->step == SIM_STEP_EXIT)
		child++;
	child->step = SIM_STEP_EXIT;
	child->mcycles = child->group->cycles * MILLI;
	child->cpu = parent->cpu;
	child->cpu = sim_place_woken(sim, child);
	child->asleep_ns += sim->now_ns - child->asleep_since_ns;
	child->state = SIM_THREAD_QUEUED;
	sim_tell(sim, on_fork, child, parent);
	sim_cpu_enqueue(sim, &sim->cpus[child->cpu], child);
}

static void advance_fork(struct sim *sim, struct sim_thread *thread)
{
	if (thread->step == SIM_STEP_EXIT) {
		thread->step = SIM_STEP_TAKE;
		thread->state = SIM_THREAD_ASLEEP;
		sim_tell(sim, on_exit, thread, thread->successor);
		pass_on(sim, thread, thread->successor);
		return;
	}
	if (thread->step == SIM_STEP_SEND)
		fork_child(sim, thread);
	take_turn(sim, thread);
}

/* Takes what has completed, or waits until something has. */
static void take_batch(struct sim *sim, struct sim_thread *thread)
{
	if (!thread->ready) {
		thread->step = SIM_STEP_TAKE;
		thread->state = SIM_THREAD_ASLEEP;
		thread->mcycles = 0; /* it looks again as soon as it runs */
		thread->in_iowait = thread->group->engine != WORKLOAD_LIBAIO;
		return;
	}
	thread->batch = thread->ready;
	thread->ready = 0;
	thread->mcycles = thread->group->batch_cycles * MILLI;
	if (thread->group->think_ns) {
		thread->step = SIM_STEP_THINK;
		return;
	}
	thread->step = SIM_STEP_SEND;
	thread->mcycles += io_mcycles(sim, thread);
}

static void send_one(struct sim *sim, struct sim_thread *thread)
{
	thread->io_starts++;
	thread->last_io_ns = sim->now_ns;
	sim_tell(sim, on_io_start, thread);
	sim_device_submit(sim, &sim->devices[thread->group->device], thread->index, thread->cpu);
	thread->mcycles = io_mcycles(sim, thread);
	if (--thread->batch == 0)
		take_batch(sim, thread);
}

void sim_thread_advance(struct sim *sim, struct sim_thread *thread)
{
	if (thread->group->engine == WORKLOAD_BUSY) {
		advance_busy(sim, thread);
		return;
	}
	if (thread->group->engine == WORKLOAD_CHAIN) {
		advance_chain(sim, thread);
		return;
	}
	if (thread->group->engine == WORKLOAD_FORK) {
		advance_fork(sim, thread);
		return;
	}
	switch (thread->step) {
	case SIM_STEP_TAKE:
		take_batch(sim, thread);
		break;
	case SIM_STEP_THINK:
		thread->step = SIM_STEP_SEND;
		thread->mcycles = io_mcycles(sim, thread);
		think(sim, thread);
		break;
	default:
		send_one(sim, thread);
		break;
	}
}

uint64_t sim_thread_on_cpu_ns(const struct sim *sim, const struct sim_thread *thread)
{
	if (thread->state != SIM_THREAD_RUNNING)
		return thread->on_cpu_ns;
	return thread->on_cpu_ns + sim->now_ns - thread->since_ns;
}

/* One that waits is woken; one that thinks finds it when it has thought. */
void sim_thread_complete(struct sim *sim, struct sim_thread *thread)
{
	thread->ready++;
	thread->io_done++;
	if (thread->state == SIM_THREAD_ASLEEP && thread->step == SIM_STEP_TAKE)
		sim_thread_wake(sim, thread, NULL);
}

/* Another thread may have woken it before its first event: its sleeps since then are not that
 * one's. */
void sim_thread_on_event(struct sim *sim, struct sim_thread *thread, uint64_t sleep)
{
	if (thread->state == SIM_THREAD_ASLEEP && thread->sleeps == sleep)
		sim_thread_wake(sim, thread, NULL);
}

void sim_thread_wake(struct sim *sim, struct sim_thread *thread, const struct sim_thread *waker)
{
	uint32_t from = thread->cpu;

	thread->waker = waker;
	if (thread->in_iowait) {
		thread->io_waits++;
		thread->last_io_ns = sim->now_ns;
	}
	thread->cpu = sim_place_woken(sim, thread);
	thread->asleep_ns += sim->now_ns - thread->asleep_since_ns;
	thread->state = SIM_THREAD_QUEUED;
	if (thread->cpu != from)
		sim_tell(sim, on_move, thread, from);
	sim_tell(sim, on_wake, thread);
	sim_cpu_enqueue(sim, &sim->cpus[thread->cpu], thread);
}
