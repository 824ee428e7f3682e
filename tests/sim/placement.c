// SPDX-License-Identifier: GPL-2.0-only
/* Where threads run. The rules stand in sim.h. */
#include "sim/sim_private.h"

static bool may_run(const struct sim_thread *thread, uint32_t cpu)
{
	return thread->group->cpus >> cpu & 1;
}

static bool is_idle(const struct sim_cpu *cpu)
{
	return !cpu->current && !cpu->n_queued;
}

static uint32_t capacity(const struct sim *sim, uint32_t cpu)
{
	return sim->platform->domains[sim->platform->cpu_domain[cpu]].capacity;
}

static bool is_better(const struct sim *sim, uint32_t a, uint32_t b)
{
	if (sim->platform->scheduler.small_first)
		return capacity(sim, a) < capacity(sim, b);
	return capacity(sim, a) > capacity(sim, b);
}

/* The CPU with the fewest of the threads placed so far, the best first. */
static uint32_t place(const struct sim *sim, const struct sim_thread *thread,
		      const uint32_t *n_placed)
{
	uint32_t best = SIM_NO_CPU;

	for (uint32_t cpu = 0; cpu < sim->platform->n_cpus; cpu++) {
		if (!may_run(thread, cpu))
			continue;
		if (best == SIM_NO_CPU || n_placed[cpu] < n_placed[best] ||
		    (n_placed[cpu] == n_placed[best] && is_better(sim, cpu, best)))
			best = cpu;
	}
	return best;
}

void sim_place_all(struct sim *sim)
{
	uint32_t n_placed[PLATFORM_CPUS_MAX] = {};

	for (uint32_t i = 0; i < sim->n_threads; i++) {
		if (sim_thread_is_child(&sim->threads[i]))
			continue;
		sim->threads[i].cpu = place(sim, &sim->threads[i], n_placed);
		n_placed[sim->threads[i].cpu]++;
	}
}

uint32_t sim_place_woken(const struct sim *sim, const struct sim_thread *thread)
{
	uint32_t domain = sim->cpus[thread->cpu].domain, best = SIM_NO_CPU;

	if (is_idle(&sim->cpus[thread->cpu]))
		return thread->cpu;
	for (uint32_t cpu = 0; cpu < sim->platform->n_cpus; cpu++) {
		if (!may_run(thread, cpu) || !is_idle(&sim->cpus[cpu]))
			continue;
		if (sim->cpus[cpu].domain == domain)
			return cpu;
		if (best == SIM_NO_CPU || capacity(sim, cpu) > capacity(sim, best))
			best = cpu;
	}
	return best == SIM_NO_CPU ? thread->cpu : best;
}
