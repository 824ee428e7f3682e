// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains as bpf/chain.bpf.h follows them, by the same formulas (wakegov/chain.h): of threads that a
 * tick has met, and their children. They are followed all the time, which bpf/following.bpf.h does
 * only where they change; there are no threads of the kernel, and no input events.
 */
#include "sim/sim_private.h"
#include "sim/wakegov_kernel.h"

/* The only generation, as they are followed all the time. */
#define GENERATION 1

static struct chain_task *chain_of(struct wakegov_sim *w, const struct sim_thread *thread)
{
	return thread && w->tasks[thread->index].has_chain ? &w->tasks[thread->index].chain : NULL;
}

static uint32_t level_of(const struct wakegov_sim_cpu *c)
{
	return c->load.level_q >> DECAY_Q_SHIFT;
}

static bool know_chain(struct sim *sim, struct chain_task *chain, uint32_t level)
{
	return chain_know(chain, GENERATION, 0, sim->now_ns, level);
}

/* As tick_chains() there. */
void wakegov_sim_chain_tick(struct sim *sim, struct sim_cpu *cpu)
{
	struct wakegov_sim *w = sim->governor_data;
	const struct sim_thread *thread = cpu->current;

	if (!w->policy.chains)
		return;
	w->tasks[thread->index].has_chain = true;
	if (sim_thread_is_child(thread))
		w->tasks[thread->successor->index].has_chain = true;
	know_chain(sim, &w->tasks[thread->index].chain, level_of(&w->cpus[cpu->index]));
}

/* As is_beyond_own() in bpf/chain.bpf.h. */
static bool is_beyond_own(const struct wakegov_sim_cpu *c, uint32_t need_q, uint64_t now_ns)
{
	__u64 updated_ns = c->load.updated_ns;
	uint32_t util_q = account_util_q(&c->load);

	need_q = chain_compared_q(need_q, c->load.capacity);
	if (need_q <= util_q && !c->load.running)
		account_rest(&util_q, &updated_ns, now_ns);
	return need_q > account_need_q(util_q, c->load.est_q);
}

/* As note_chain() there, where chains are followed all the time. */
static void note_chain(struct sim *sim, struct wakegov_sim_cpu *c, const struct chain_task *chain,
		       uint32_t id)
{
	struct input_chain *noted = &c->chain;
	uint32_t need_q = chain->util_q;
	bool over = sim->now_ns > noted->seen_ns + WAKEGOV_CHAIN_HOLD_NS / 2;

	if (chain_is_compared(&c->compared, need_q, WAKEGOV_CHAIN_STEP_NS, sim->now_ns) &&
	    need_q <= c->band.chain_q)
		return;
	chain_compare(&c->compared, need_q, sim->now_ns);
	if ((need_q < noted->util_q - noted->util_q / CHAIN_NEAR && !over) ||
	    !is_beyond_own(c, need_q, sim->now_ns))
		return;
	if (need_q > noted->util_q || over) {
		noted->util_q = need_q;
		noted->pid = id;
		noted->waker = chain->waker.pid;
	}
	if (sim->now_ns > noted->seen_ns + WAKEGOV_CHAIN_STEP_NS)
		noted->seen_ns = sim->now_ns;
	if (need_q <= c->band.chain_q)
		return;
	c->band.chain_q = UINT32_MAX;
	wakegov_sim_tell_cpu(sim, c);
}

void wakegov_sim_chain_switch(struct sim *sim, struct sim_cpu *cpu, const struct sim_thread *prev)
{
	struct wakegov_sim *w = sim->governor_data;
	struct wakegov_sim_cpu *c = &w->cpus[cpu->index];
	struct chain_task *leaves = chain_of(w, prev), *comes = chain_of(w, cpu->current);

	if (leaves && prev->state == SIM_THREAD_ASLEEP) {
		know_chain(sim, leaves, level_of(c));
		chain_sleep(leaves, sim->now_ns, level_of(c));
	}
	if (!comes)
		return;
	if (know_chain(sim, comes, level_of(c)))
		chain_come(comes, sim->now_ns, level_of(c));
	if (comes->waker.pid)
		note_chain(sim, c, comes, cpu->current->index + 1);
	else
		c->compared.near_q = 0;
}

/* A timer ended its wait, and no device. */
static void wake_by_timer(struct wakegov_sim *w, struct chain_task *chain)
{
	const struct chain_task *waker = chain->waker.pid ? &w->tasks[chain->waker.pid - 1].chain
							  : NULL;

	if (waker && waker->generation == GENERATION && !waker->slept_ns)
		chain_credit_waker(chain, waker->since.at_ns);
}

/* As wake_chain() in bpf/chain_wake.bpf.h. */
void wakegov_sim_chain_wake(struct sim *sim, const struct sim_thread *thread)
{
	struct wakegov_sim *w = sim->governor_data;
	const struct chain_task *from = chain_of(w, thread->waker);
	struct chain_task *chain = chain_of(w, thread);
	struct wakegov_sim_cpu *c;

	if (!chain || !chain->slept_ns)
		return;
	if (!thread->waker && thread->step != SIM_STEP_TAKE)
		wake_by_timer(w, chain);
	if (!from || from->generation != GENERATION)
		return;
	c = &w->cpus[thread->waker->cpu];
	if (!chain_wake(chain, from->since.at_ns, thread->waker->index + 1))
		chain_follow(chain, from, level_of(c));
	else if (chain->util_q > c->compared.near_q)
		note_chain(sim, c, chain, thread->index + 1);
}

void wakegov_sim_chain_fork(struct sim *sim, const struct sim_thread *thread,
			    const struct sim_thread *parent)
{
	struct wakegov_sim *w = sim->governor_data;
	const struct chain_task *from = chain_of(w, parent);

	if (!from || from->generation != GENERATION || from->slept_ns)
		return;
	w->tasks[thread->index].has_chain = true;
	chain_fork(from, &w->tasks[thread->index].chain, parent->index + 1);
}
