// SPDX-License-Identifier: GPL-2.0-only
#include "sim/pelt.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/sim_private.h"
#include "wakegov/decay.h"

#define PERIOD_NS     (1024 * 1000ULL)
#define RUNNABLE_MOST 3 /* threads; three full ones are more than any capacity */

int pelt_init(struct pelt *pelt, const struct sim *sim, bool invariant)
{
	*pelt = (struct pelt){ .invariant = invariant };
	for (uint32_t cpu = 0; cpu < sim->platform->n_cpus; cpu++) {
		const struct platform_domain *domain = sim->domains[sim->cpus[cpu].domain].info;

		pelt->cpus[cpu].level_q = DECAY_Q(domain->capacity);
		if (invariant)
			pelt->cpus[cpu].level_q = decay_level_q(domain->capacity,
								sim_khz(sim, sim->cpus[cpu].domain),
								platform_max_khz(domain));
	}
	pelt->threads = calloc(sim->n_threads, sizeof(*pelt->threads));
	return pelt->threads ? 0 : -ENOMEM;
}

void pelt_deinit(struct pelt *pelt)
{
	free(pelt->threads);
	pelt->threads = NULL;
}

/* The level of what took part_ns of passed_ns. */
static uint32_t share(uint32_t level_q, uint64_t part_ns, uint64_t passed_ns)
{
	return part_ns >= passed_ns ? level_q : (uint64_t)level_q * part_ns / passed_ns;
}

static uint32_t share_runnable(uint32_t level_q, uint64_t part_ns, uint64_t passed_ns)
{
	uint64_t most_ns = RUNNABLE_MOST * passed_ns;

	if (part_ns > most_ns)
		part_ns = most_ns;
	return (uint64_t)level_q * part_ns / passed_ns;
}

bool pelt_update_cpu(struct pelt *pelt, struct sim *sim, uint32_t index)
{
	struct pelt_cpu *p = &pelt->cpus[index];
	struct sim_cpu *cpu = &sim->cpus[index];
	uint64_t before_ns = p->updated_ns, passed_ns = sim->now_ns - before_ns;
	uint32_t run_q, runnable_q, interrupt_q;

	sim_cpu_account(sim, cpu);
	if (!passed_ns)
		return false;
	run_q = share(p->level_q, cpu->thread_ns - p->thread_ns, passed_ns);
	runnable_q = share_runnable(p->level_q, cpu->runnable_ns - p->runnable_ns, passed_ns);
	interrupt_q = share(p->level_q, cpu->interrupt_ns - p->interrupt_ns, passed_ns);
	p->util_q = decay_toward(p->util_q, run_q, passed_ns);
	p->runnable_q = decay_toward(p->runnable_q, runnable_q, passed_ns);
	p->interrupt_q = decay_toward(p->interrupt_q, interrupt_q, passed_ns);
	p->updated_ns = sim->now_ns;
	p->thread_ns = cpu->thread_ns;
	p->runnable_ns = cpu->runnable_ns;
	p->interrupt_ns = cpu->interrupt_ns;
	return before_ns / PERIOD_NS != sim->now_ns / PERIOD_NS;
}

static struct pelt_thread *update_thread(struct pelt *pelt, struct sim *sim,
					 const struct sim_thread *thread)
{
	struct pelt_thread *p = &pelt->threads[thread->index];
	uint64_t passed_ns = sim->now_ns - p->updated_ns;
	uint32_t level_q = pelt->cpus[thread->cpu].level_q;

	if (!passed_ns)
		return p;
	p->util_q = decay_toward(p->util_q, share(level_q, thread->run_ns - p->run_ns, passed_ns),
				 passed_ns);
	p->updated_ns = sim->now_ns;
	p->run_ns = thread->run_ns;
	return p;
}

void pelt_on_wake(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread)
{
	struct pelt_thread *p = update_thread(pelt, sim, thread);

	p->queued = true;
	pelt->cpus[thread->cpu].est_q += p->est_q;
}

/* util_est goes up at once, and a quarter of the way down. */
void pelt_on_sleep(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread)
{
	struct pelt_thread *p = update_thread(pelt, sim, thread);

	if (p->queued)
		pelt->cpus[thread->cpu].est_q -= p->est_q;
	p->queued = false;
	if (p->util_q >= p->est_q)
		p->est_q = p->util_q;
	else
		p->est_q -= (p->est_q - p->util_q) / 4;
}

void pelt_on_switch(struct pelt *pelt, struct sim *sim, const struct sim_thread *prev)
{
	if (prev)
		update_thread(pelt, sim, prev);
}

/* As post_init_entity_util_avg(): half of what the CPU has left. */
void pelt_on_fork(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread)
{
	const struct platform_domain *domain = sim->domains[sim->cpus[thread->cpu].domain].info;
	struct pelt_cpu *cpu = &pelt->cpus[thread->cpu];
	uint32_t capacity_q = DECAY_Q(domain->capacity), util_q = 0;

	pelt_update_cpu(pelt, sim, thread->cpu);
	if (cpu->util_q < capacity_q)
		util_q = (capacity_q - cpu->util_q) / 2;
	cpu->util_q += util_q;
	pelt->threads[thread->index] = (struct pelt_thread){
		.util_q = util_q,
		.updated_ns = sim->now_ns,
		.run_ns = thread->run_ns,
		.queued = true,
	};
}

void pelt_on_exit(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread)
{
	struct pelt_thread *p = update_thread(pelt, sim, thread);
	struct pelt_cpu *cpu = &pelt->cpus[thread->cpu];

	pelt_update_cpu(pelt, sim, thread->cpu);
	cpu->util_q -= p->util_q < cpu->util_q ? p->util_q : cpu->util_q;
	p->util_q = 0;
}

void pelt_on_move(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread,
		  uint32_t from)
{
	uint32_t util_q = update_thread(pelt, sim, thread)->util_q;
	struct pelt_cpu *left = &pelt->cpus[from], *entered = &pelt->cpus[thread->cpu];

	pelt_update_cpu(pelt, sim, from);
	pelt_update_cpu(pelt, sim, thread->cpu);
	left->util_q -= util_q < left->util_q ? util_q : left->util_q;
	entered->util_q += util_q;
	if (entered->util_q > DECAY_Q(1024))
		entered->util_q = DECAY_Q(1024);
}

void pelt_on_frequency(struct pelt *pelt, struct sim *sim, uint32_t domain)
{
	const struct platform_domain *info = sim->domains[domain].info;

	sim_for_each_cpu(sim, cpu, domain) {
		pelt_update_cpu(pelt, sim, cpu);
		pelt_on_switch(pelt, sim, sim->cpus[cpu].current);
		if (pelt->invariant)
			pelt->cpus[cpu].level_q = decay_level_q(
				info->capacity, sim_khz(sim, domain), platform_max_khz(info));
	}
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

uint32_t pelt_need_cap(const struct pelt *pelt, uint32_t cpu, uint32_t capacity)
{
	const struct pelt_cpu *p = &pelt->cpus[cpu];
	uint32_t est_cap = p->est_q >> DECAY_Q_SHIFT;
	uint32_t cap = larger(larger(DECAY_CAP(p->util_q), DECAY_CAP(p->runnable_q)), est_cap);
	uint32_t interrupt_cap = DECAY_CAP(p->interrupt_q);

	if (interrupt_cap >= capacity)
		return capacity;
	cap = cap * (capacity - interrupt_cap) / capacity + interrupt_cap;
	return cap < capacity ? cap : capacity;
}
