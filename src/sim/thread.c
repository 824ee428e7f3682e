// SPDX-License-Identifier: GPL-2.0-only
/* A thread: from one piece of work to the next, and its sleeps between them. */
#include "sim/governor.h"
#include "sim/sim_private.h"

#define MILLI 1000ULL

/* What a request costs the thread itself; the rest is in the interrupt. */
static uint64_t io_mcycles(const struct sim *sim, const struct sim_thread *thread)
{
	return thread->group->cycles * (MILLI - sim->platform->costs.interrupt_permille);
}

void sim_thread_init(const struct sim *sim, struct sim_thread *thread,
		     const struct workload_group *group)
{
	thread->group = group;
	thread->state = SIM_THREAD_ASLEEP;
	thread->step = SIM_STEP_SEND;
	thread->batch = group->depth;
	thread->mcycles = group->engine == WORKLOAD_BUSY ? group->cycles * MILLI
							 : io_mcycles(sim, thread);
}

static void sleep_until(struct sim *sim, struct sim_thread *thread, uint64_t ns)
{
	thread->state = SIM_THREAD_ASLEEP;
	sim_add_event(sim, ns, SIM_EVENT_WAKE, thread->index, 0);
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
	sim_device_submit(sim, &sim->devices[thread->group->device], thread);
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
	switch (thread->step) {
	case SIM_STEP_TAKE:
		take_batch(sim, thread);
		break;
	case SIM_STEP_THINK:
		thread->step = SIM_STEP_SEND;
		thread->mcycles = io_mcycles(sim, thread);
		think(sim, thread);
		break;
	case SIM_STEP_SEND:
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
		sim_thread_wake(sim, thread);
}

void sim_thread_wake(struct sim *sim, struct sim_thread *thread)
{
	uint32_t from = thread->cpu;

	if (thread->in_iowait) {
		thread->io_waits++;
		thread->last_io_ns = sim->now_ns;
	}
	thread->cpu = sim_place_woken(sim, thread);
	thread->state = SIM_THREAD_QUEUED;
	if (thread->cpu != from)
		sim_tell(sim, on_move, thread, from);
	sim_tell(sim, on_wake, thread);
	sim_cpu_enqueue(sim, &sim->cpus[thread->cpu], thread);
}
