// SPDX-License-Identifier: GPL-2.0-only
/* A CPU: what it does now, its run queue, its interrupts, and when its present work is over. */
#include <assert.h>

#include "sim/governor.h"
#include "sim/sim_private.h"

#define NS_PER_MS 1000000ULL
#define MILLI	  1000ULL

void sim_cpu_init(struct sim_cpu *cpu, uint32_t index, uint32_t domain)
{
	*cpu = (struct sim_cpu){ .index = index, .domain = domain };
}

/* Work per millisecond, in thousandths of a cycle of the best CPU. */
static uint64_t speed_mcycles(const struct sim *sim, const struct sim_cpu *cpu)
{
	const struct sim_domain *domain = &sim->domains[cpu->domain];

	return (uint64_t)domain->info->opps[domain->opp].khz * domain->info->work_permille;
}

static uint64_t *work_left(struct sim_cpu *cpu)
{
	return cpu->work == SIM_WORK_THREAD ? &cpu->current->mcycles : &cpu->mcycles;
}

static void account_work(struct sim *sim, struct sim_cpu *cpu, uint64_t passed_ns)
{
	uint64_t done = speed_mcycles(sim, cpu) * passed_ns / NS_PER_MS;
	uint64_t *left = work_left(cpu);
	struct sim_domain *domain = &sim->domains[cpu->domain];

	*left -= done < *left ? done : *left;
	domain->busy_ns[domain->opp] += passed_ns;
	switch (cpu->work) {
	case SIM_WORK_IDLE_EXIT:
		cpu->idle_exit_ns += passed_ns;
		break;
	case SIM_WORK_INTERRUPT:
		cpu->interrupt_ns += passed_ns;
		break;
	default:
		cpu->thread_ns += passed_ns;
		cpu->current->run_ns += passed_ns;
		cpu->current->turn_ns += passed_ns;
	}
}

void sim_cpu_account(struct sim *sim, struct sim_cpu *cpu)
{
	uint64_t passed_ns = sim->now_ns - cpu->since_ns;

	cpu->since_ns = sim->now_ns;
	if (!passed_ns)
		return;
	cpu->runnable_ns += passed_ns * (cpu->n_queued + !!cpu->current);
	if (cpu->work != SIM_WORK_NONE)
		account_work(sim, cpu, passed_ns);
}

/* When the present work is over, or the slice where others wait. */
void sim_cpu_plan(struct sim *sim, struct sim_cpu *cpu)
{
	uint64_t speed = speed_mcycles(sim, cpu), slice_ns = sim->platform->scheduler.slice_ns;
	uint64_t work_ns;

	cpu->generation++;
	if (cpu->work == SIM_WORK_NONE)
		return;
	work_ns = (*work_left(cpu) * NS_PER_MS + speed - 1) / speed;
	if (cpu->work == SIM_WORK_THREAD && cpu->n_queued &&
	    cpu->current->turn_ns + work_ns > slice_ns)
		work_ns = slice_ns > cpu->current->turn_ns ? slice_ns - cpu->current->turn_ns : 0;
	sim_add_event(sim, sim->now_ns + work_ns, SIM_EVENT_CPU, cpu->index, cpu->generation);
}

static void append(struct sim_cpu *cpu, struct sim_thread *thread)
{
	thread->next = NULL;
	thread->state = SIM_THREAD_QUEUED;
	if (cpu->last)
		cpu->last->next = thread;
	else
		cpu->first = thread;
	cpu->last = thread;
	cpu->n_queued++;
}

static struct sim_thread *take_first(struct sim_cpu *cpu)
{
	struct sim_thread *thread = cpu->first;

	if (!thread)
		return NULL;
	cpu->first = thread->next;
	if (!cpu->first)
		cpu->last = NULL;
	cpu->n_queued--;
	return thread;
}

static void start_tick(struct sim *sim, struct sim_cpu *cpu)
{
	uint64_t tick_ns = sim->platform->scheduler.tick_ns;

	if (cpu->ticking)
		return;
	cpu->ticking = true;
	sim_add_event(sim, (sim->now_ns / tick_ns + 1) * tick_ns, SIM_EVENT_TICK, cpu->index, 0);
}

static void switch_to(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *prev,
		      struct sim_thread *next)
{
	if (prev)
		prev->on_cpu_ns += sim->now_ns - prev->since_ns;
	cpu->current = next;
	if (next) {
		next->state = SIM_THREAD_RUNNING;
		next->since_ns = sim->now_ns;
		next->turn_ns = 0;
		next->in_iowait = false;
		start_tick(sim, cpu);
	}
	sim_tell(sim, on_switch, cpu, prev);
}

/* Preempted, and nobody else was there. */
static void go_on(struct sim_cpu *cpu, struct sim_thread *thread)
{
	cpu->current = thread;
	thread->state = SIM_THREAD_RUNNING;
	thread->turn_ns = 0;
}

/* Interrupts come first, then prev if it may go on, then the queue. */
static void choose_work(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *prev)
{
	struct sim_thread *next = cpu->current;

	if (cpu->n_interrupts) {
		uint32_t request = cpu->interrupts[cpu->first_interrupt];
		struct sim_thread *thread = sim_sender(sim, request);

		if (prev && !cpu->current)
			switch_to(sim, cpu, prev, take_first(cpu));
		cpu->work = SIM_WORK_INTERRUPT;
		cpu->mcycles = thread->group->cycles * sim->platform->costs.interrupt_permille;
		sim_tell(sim, on_io_complete, thread, cpu);
	} else {
		if (!next)
			next = take_first(cpu);
		if (next != prev)
			switch_to(sim, cpu, prev, next);
		else if (!cpu->current && next)
			go_on(cpu, next);
		cpu->work = cpu->current ? SIM_WORK_THREAD : SIM_WORK_NONE;
	}
	sim_cpu_plan(sim, cpu);
}

static void leave_idleness(struct sim *sim, struct sim_cpu *cpu)
{
	cpu->work = SIM_WORK_IDLE_EXIT;
	cpu->mcycles = sim->platform->costs.idle_exit_cycles * MILLI;
	sim_cpu_plan(sim, cpu);
}

static void preempt(struct sim *sim, struct sim_cpu *cpu)
{
	struct sim_thread *prev = cpu->current;

	append(cpu, prev);
	cpu->current = NULL;
	choose_work(sim, cpu, prev);
}

/* A thread that has just been woken: it is next if the current one had its share. */
static void put_first(struct sim_cpu *cpu, struct sim_thread *thread)
{
	thread->next = cpu->first;
	thread->state = SIM_THREAD_QUEUED;
	cpu->first = thread;
	if (!cpu->last)
		cpu->last = thread;
	cpu->n_queued++;
}

void sim_cpu_enqueue(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *thread)
{
	uint64_t granularity_ns = sim->platform->scheduler.wakeup_granularity_ns;

	sim_cpu_account(sim, cpu);
	if (cpu->chooses) {
		append(cpu, thread);
		return;
	}
	if (cpu->work == SIM_WORK_THREAD && cpu->current->turn_ns >= granularity_ns) {
		put_first(cpu, thread);
		preempt(sim, cpu);
		return;
	}
	append(cpu, thread);
	if (cpu->work == SIM_WORK_NONE)
		leave_idleness(sim, cpu);
	else if (cpu->work == SIM_WORK_THREAD)
		sim_cpu_plan(sim, cpu);
}

void sim_cpu_interrupt(struct sim *sim, struct sim_cpu *cpu, uint32_t request)
{
	assert(cpu->n_interrupts < cpu->size);
	sim_cpu_account(sim, cpu);
	cpu->interrupts[(cpu->first_interrupt + cpu->n_interrupts++) % cpu->size] = request;
	if (cpu->work == SIM_WORK_NONE)
		leave_idleness(sim, cpu);
	else if (cpu->work == SIM_WORK_THREAD)
		choose_work(sim, cpu, cpu->current);
}

static void finish_interrupt(struct sim *sim, struct sim_cpu *cpu)
{
	struct sim_thread *thread = sim_sender(sim, cpu->interrupts[cpu->first_interrupt]);

	cpu->first_interrupt = (cpu->first_interrupt + 1) % cpu->size;
	cpu->n_interrupts--;
	sim_thread_complete(sim, thread);
}

static void finish_piece(struct sim *sim, struct sim_cpu *cpu)
{
	struct sim_thread *thread = cpu->current;

	cpu->chooses = true;
	sim_thread_advance(sim, thread);
	cpu->chooses = false;
	if (thread->state == SIM_THREAD_ASLEEP) {
		thread->asleep_since_ns = sim->now_ns;
		cpu->current = NULL;
		sim_tell(sim, on_sleep, thread);
	}
}

void sim_cpu_on_event(struct sim *sim, struct sim_cpu *cpu, uint64_t generation)
{
	struct sim_thread *prev = cpu->current;

	if (generation != cpu->generation)
		return;
	sim_cpu_account(sim, cpu);
	if (cpu->work == SIM_WORK_INTERRUPT) {
		finish_interrupt(sim, cpu);
	} else if (cpu->work == SIM_WORK_THREAD && !prev->mcycles) {
		finish_piece(sim, cpu);
	} else if (cpu->work == SIM_WORK_THREAD) {
		preempt(sim, cpu);
		return;
	}
	choose_work(sim, cpu, prev);
}

/* An idle CPU has no tick. */
void sim_cpu_on_tick(struct sim *sim, struct sim_cpu *cpu)
{
	cpu->ticking = false;
	if (!cpu->current)
		return;
	sim_cpu_account(sim, cpu);
	start_tick(sim, cpu);
	sim_tell(sim, on_tick, cpu);
}
