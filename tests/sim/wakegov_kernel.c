// SPDX-License-Identifier: GPL-2.0-only
#include "sim/wakegov_kernel.h"

#include "wakegov/decay.h"

#define MOVE_GAP_NS 1000000ULL /* as in src/tracer/tracer.c */

static bool outside_band(const struct wakegov_sim_cpu *c, uint64_t now_ns)
{
	uint32_t need_q = account_need_q(account_util_q(&c->load), c->load.est_q);

	if (need_q > c->band.high_q || need_q < c->band.low_q)
		return true;
	return c->band.burst_ns && account_burst_ns(&c->load, now_ns) > c->band.burst_ns;
}

void wakegov_sim_tell_cpu(struct sim *sim, struct wakegov_sim_cpu *c)
{
	c->told = true;
	wakegov_sim_run_at(sim, sim->now_ns + WAKEGOV_SIM_LATENCY_NS);
}

/* As emit_cpu(): it is looked at once. */
static void tell_cpu(struct sim *sim, struct wakegov_sim_cpu *c)
{
	c->armed_band = false;
	c->armed_idle = false;
	wakegov_sim_tell_cpu(sim, c);
}

/* Only those that a tick has met are known. */
static struct account_task *load_of(struct wakegov_sim *w, const struct sim_thread *thread)
{
	struct account_task *load = thread ? &w->tasks[thread->index].load : NULL;

	return load && load->updated_ns ? load : NULL;
}

void wakegov_sim_on_switch(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *prev)
{
	struct wakegov_sim *w = sim->governor_data;
	struct wakegov_sim_cpu *c = &w->cpus[cpu->index];
	struct account_task *left = c->load.running ? load_of(w, prev) : NULL;
	bool goes_idle = c->load.running && !cpu->current;
	uint32_t id = cpu->current ? cpu->current->index + 1 : 0;

	if (left)
		account_task_leaves(left, &c->load, c->load.switched_ns,
				    prev->state == SIM_THREAD_ASLEEP, sim->now_ns);
	if (id && !account_is_back(&c->load, id, sim->now_ns))
		account_task_comes(load_of(w, cpu->current), &c->load, id, sim->now_ns);
	if (id && w->tasks[cpu->current->index].forked_ns)
		account_new_task(&c->load, sim->now_ns - w->tasks[cpu->current->index].forked_ns,
				 sim->now_ns);
	account_switch(&c->load, id, sim->now_ns);
	if ((c->armed_idle && goes_idle) ||
	    (c->armed_band && c->load.running &&
	     (c->load.updated_ns == sim->now_ns ? outside_band(c, sim->now_ns)
						: c->load.est_q > c->band.high_q)))
		tell_cpu(sim, c);
	wakegov_sim_chain_switch(sim, cpu, prev);
}

void wakegov_sim_on_tick(struct sim *sim, struct sim_cpu *cpu)
{
	struct wakegov_sim *w = sim->governor_data;
	struct wakegov_sim_cpu *c = &w->cpus[cpu->index];

	if (!c->load.running)
		return;
	account_cpu(&c->load, sim->now_ns);
	account_task_ran(&w->tasks[cpu->current->index].load, &c->load, sim->now_ns);
	wakegov_sim_chain_tick(sim, cpu);
	if (c->armed_band && outside_band(c, sim->now_ns))
		tell_cpu(sim, c);
}

void wakegov_sim_on_frequency(struct sim *sim, uint32_t domain)
{
	struct wakegov_sim *w = sim->governor_data;
	const struct platform_domain *info = sim->domains[domain].info;

	sim_for_each_cpu(sim, cpu, domain)
		w->cpus[cpu].load.level_q = decay_level_q(info->capacity, sim_khz(sim, domain),
							  platform_max_khz(info));
}

static void tell_task(struct sim *sim, struct wakegov_sim_task *t)
{
	t->told = true;
	wakegov_sim_run_at(sim, sim->now_ns + WAKEGOV_SIM_LATENCY_NS);
}

static void enter(struct sim *sim, struct wakegov_sim_task *t, uint32_t cpu)
{
	t->has_slot = true;
	t->cpu = cpu;
	t->io_waits = t->window_waits;
	t->io_starts = t->window_starts;
	t->last_io_ns = sim->now_ns;
	t->told_move_ns = sim->now_ns;
	tell_task(sim, t);
}

static void count_io(struct sim *sim, const struct sim_thread *thread, bool is_wait)
{
	struct wakegov_sim *w = sim->governor_data;
	struct wakegov_sim_task *t = &w->tasks[thread->index];

	if (t->has_slot) {
		*(is_wait ? &t->io_waits : &t->io_starts) += 1;
		t->last_io_ns = sim->now_ns;
		return;
	}
	if (sim->now_ns - t->window_ns > io_boost_entry_ns(&w->policy.io_boost)) {
		t->window_ns = sim->now_ns;
		t->window_waits = 0;
		t->window_starts = 0;
	}
	if (++*(is_wait ? &t->window_waits : &t->window_starts) < w->window_ios)
		return;
	enter(sim, t, thread->cpu);
	t->window_ns = sim->now_ns;
	t->window_waits = 0;
	t->window_starts = 0;
}

/* As wake_hot() in bpf/task.bpf.h. */
static void wake_hot(struct sim *sim, struct sim_thread *thread)
{
	struct wakegov_sim *w = sim->governor_data;
	struct wakegov_sim_task *t = &w->tasks[thread->index];
	uint32_t cpu = w->completion_cpus[thread->group->device];
	struct wakegov_sim_cpu *c = &w->cpus[cpu];

	if (!w->learns || !t->has_slot || c->load.running ||
	    sim->cpus[cpu].work != SIM_WORK_INTERRUPT)
		return;
	t->interrupts_ns += sim->now_ns - c->interrupted_ns;
	c->load.worked_ns += sim->now_ns - c->interrupted_ns;
}

void wakegov_sim_on_wake(struct sim *sim, struct sim_thread *thread)
{
	wakegov_sim_chain_wake(sim, thread);
	wake_hot(sim, thread);
	if (thread->in_iowait)
		count_io(sim, thread, true);
}

/* As hand_on_load() and give_back_load() in bpf/task.bpf.h: the one that has it runs. */
static void hand_on_load(struct sim *sim, const struct sim_thread *thread,
			 const struct sim_thread *to)
{
	struct wakegov_sim *w = sim->governor_data;
	struct account_task *load = load_of(w, thread);

	if (!load)
		return;
	account_task_ran(load, &w->cpus[thread->cpu].load, sim->now_ns);
	account_task_hands_on(load, &w->tasks[to->index].load);
}

void wakegov_sim_on_fork(struct sim *sim, struct sim_thread *thread, struct sim_thread *parent)
{
	struct wakegov_sim *w = sim->governor_data;

	w->tasks[thread->index] = (struct wakegov_sim_task){ .forked_ns = sim->now_ns };
	hand_on_load(sim, parent, thread);
	wakegov_sim_chain_fork(sim, thread, parent);
}

void wakegov_sim_on_exit(struct sim *sim, struct sim_thread *thread, struct sim_thread *parent)
{
	hand_on_load(sim, thread, parent);
}

void wakegov_sim_on_io_start(struct sim *sim, struct sim_thread *thread)
{
	struct wakegov_sim *w = sim->governor_data;
	struct wakegov_sim_task *t = &w->tasks[thread->index];

	t->device = thread->group->device;
	t->ios++;
	count_io(sim, thread, false);
}

void wakegov_sim_on_io_complete(struct sim *sim, struct sim_thread *thread, struct sim_cpu *cpu)
{
	struct wakegov_sim *w = sim->governor_data;

	w->completion_cpus[thread->group->device] = cpu->index;
	w->cpus[cpu->index].interrupted_ns = sim->now_ns;
}

void wakegov_sim_on_move(struct sim *sim, struct sim_thread *thread, uint32_t from)
{
	struct wakegov_sim *w = sim->governor_data;
	struct wakegov_sim_task *t = &w->tasks[thread->index];

	if (load_of(w, thread))
		account_move(&t->load, &w->cpus[from].load, &w->cpus[thread->cpu].load,
			     sim->now_ns);
	if (!t->has_slot)
		return;
	t->cpu = thread->cpu;
	if (sim->cpus[from].domain == sim->cpus[thread->cpu].domain ||
	    sim->now_ns - t->told_move_ns < MOVE_GAP_NS)
		return;
	t->told_move_ns = sim->now_ns;
	tell_task(sim, t);
}
