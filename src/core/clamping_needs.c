// SPDX-License-Identifier: GPL-2.0-only
/*
 * What I/O and chains ask of their tasks' clamps (clamping.c): the minimum that a boost needs, or
 * that has the kernel put a task on a big CPU, and the maximum where a boost by the kernel gains
 * nothing.
 */
#include "core/boosts.h"
#include "core/io_model.h"
#include "core/opp.h"
#include "wakegov/decay.h"

#define FITS_PERCENT 125 /* of its utilisation a task needs to fit: fits_capacity() */

uint32_t engine_task_boost_cap(const struct engine *engine, const struct io_task *task)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);

	if (!domain || !io_boost_is_held(&task->io_boost) ||
	    io_groups_leave_out(engine, domain, task))
		return 0;
	return opp_cap_at_khz(&domain->info, task->io_boost.wanted_khz);
}

/*
 * A task whose maximum is at most a CPU's capacity fits there, however busy the CPU is, and does
 * not make it overutilised (util_fits_cpu() and cpu_overutilized() in the kernel): where CPUs are
 * of unlike capacity, such tasks can be left several to a little CPU beside idle ones. No harm is
 * done as long as one little CPU could do all that the machine does.
 */
static bool maximum_may_crowd(const struct engine *engine)
{
	uint64_t used_q = 0;

	if (!engine->little_capacity)
		return false;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		if (engine->domains[i].last.reason == REASON_IDLE)
			continue;
		engine_for_each_cpu(engine, cpu, i)
			used_q += engine->cpus[cpu].util_q;
	}
	return used_q * FITS_PERCENT / 100 > DECAY_Q(engine->little_capacity);
}

uint32_t engine_need_khz(const struct engine *engine, const struct domain *domain)
{
	uint32_t khz = domain->last.target_khz;

	if (!domain->clamps || khz >= topology_domain_max_khz(&domain->info) ||
	    maximum_may_crowd(engine))
		return 0;
	return khz;
}

uint32_t engine_task_need_cap(const struct engine *engine, const struct io_task *task)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	uint32_t index = task->io_boost.group;
	const struct io_group *group;

	if (!domain || io_boost_is_over(&task->io_boost) || index == IO_BOOST_NO_GROUP)
		return 0;
	group = &engine->groups[index];
	if (group->question != IO_QUESTION_KERNELS || group->experiment.is_boosted ||
	    (domain->trial != index + 1 && group->experiment.verdict != EXPERIMENT_DOESNT))
		return 0;
	return opp_cap_at_khz(&domain->info, engine_need_khz(engine, domain));
}

bool engine_uses_target(const struct engine *engine, uint32_t domain)
{
	return !engine->domains[domain].clamps || due_has(engine->due, 1u << DUE_LIVE);
}

bool engine_kernel_boosts(const struct engine *engine, const struct io_task *task)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	const struct io_boost *boost = &task->io_boost;

	return domain && domain->clamps && !io_boost_is_over(boost) && boost->waits_for_io &&
	       !boost->granted && !engine_task_need_cap(engine, task);
}

/* The tasks that ask for a big CPU. */
struct asking {
	uint32_t n;
	uint64_t share_ppm; /* of a big CPU's time, together */
};

/*
 * Each big CPU gets one task, and more only up to this share of its time. With twice of it, readers
 * wait for each other on big CPUs for longer than little ones would take; with half, some are
 * slower on little CPUs beside big ones that are mostly idle.
 */
#define BIG_SHARE_PPM (IO_PPM / 2)

/* Adds the task if it fits. */
static bool fits_big_cpus(const struct engine *engine, uint32_t share_ppm, struct asking *asking)
{
	uint64_t most_ppm = (uint64_t)engine->n_big_cpus * BIG_SHARE_PPM;

	if (asking->n >= engine->n_big_cpus && asking->share_ppm + share_ppm > most_ppm)
		return false;
	asking->n++;
	asking->share_ppm += share_ppm;
	return true;
}

/* Of a big CPU's time. Of the work of a queue ρ has what is for one of the requests in flight. */
static uint32_t predicted_share_ppm(const struct io_boost *boost)
{
	uint64_t ratio = (uint64_t)boost->ratio * boost->depth_milli / 1000;

	if (!ratio)
		return IO_PPM;
	return io_share_of_ratio(ratio < UINT32_MAX ? ratio : UINT32_MAX, IO_LEVEL_MAX);
}

/*
 * The least minimum that does not fit a little CPU, also by a schedutil that adds its margin after
 * the clamp; 0: no CPU is larger.
 */
static uint32_t big_cap(const struct engine *engine)
{
	uint32_t cap = engine->little_capacity * FITS_PERCENT / 100 + 2;

	return cap <= engine->domains[engine->big_domain].info.capacity ? cap : 0;
}

static bool fits_little_cpu(const struct engine *engine, uint32_t util_q)
{
	return (uint64_t)util_q * FITS_PERCENT / 100 <= DECAY_Q(engine->little_capacity);
}

bool engine_is_spare(const struct engine *engine, uint32_t cpu, uint32_t share)
{
	uint32_t domain = topology_domain_of(engine->topology, cpu), capacity;

	if (domain == TOPOLOGY_NO_DOMAIN || !engine_places_by_clamps(engine, domain))
		return false;
	capacity = engine->domains[domain].info.capacity;
	return capacity > engine->little_capacity &&
	       fits_little_cpu(engine, DECAY_Q(capacity) / 1024 * share);
}

/*
 * A task whose CPU has more to do than a little one can. The kernel can leave such tasks there,
 * several to a CPU, beside a big one that is idle: what interrupts take of their time does not
 * count for them, and it evens out no difference of one idle CPU (sched_balance_find_src_group()).
 * Returns what it is to ask for; 0: it fits.
 */
static uint32_t outgrown_cap(const struct engine *engine, const struct io_task *io)
{
	uint32_t domain = topology_domain_of(engine->topology, io->cpu);

	if (domain == TOPOLOGY_NO_DOMAIN || !engine_places_by_clamps(engine, domain) ||
	    io_boost_is_over(&io->io_boost) ||
	    fits_little_cpu(engine, engine->cpus[io->cpu].util_q))
		return 0;
	return big_cap(engine);
}

static bool has_claimed(const struct chain_claim *claim, uint32_t pid)
{
	return pid && (claim->pids[0] == pid || claim->pids[1] == pid);
}

/* Whether an earlier CPU has this one's chain, or part of it. */
static bool is_of_earlier(const struct engine *engine, uint32_t cpu)
{
	const uint32_t *pids = engine->cpus[cpu].claim.pids;

	for (uint32_t i = 0; i < cpu; i++)
		if (has_claimed(&engine->cpus[i].claim, pids[0]) ||
		    has_claimed(&engine->cpus[i].claim, pids[1]))
			return true;
	return false;
}

/* Each chain takes a big CPU: one of its tasks works at a time. */
static struct asking asked_by_chains(const struct engine *engine)
{
	struct asking asking = { 0 };

	for (uint32_t i = 0; i < engine->topology->n_cpus; i++)
		asking.n += engine->cpus[i].claim.cap && !is_of_earlier(engine, i);
	asking.share_ppm = (uint64_t)asking.n * IO_PPM;
	return asking;
}

/* A floor holds the domain at the OPP of the boost; this also says on which CPUs that is wanted. */
static uint32_t boost_min_cap(const struct engine *engine, const struct io_task *io,
			      struct asking *asking)
{
	uint32_t cap = engine_task_boost_cap(engine, io) ? io->io_boost.wanted_cap : 0;
	uint32_t outgrown = outgrown_cap(engine, io);

	if (outgrown > cap)
		return fits_big_cpus(engine, IO_PPM, asking) ? outgrown : cap;
	if (!engine->little_capacity || cap <= engine->little_capacity ||
	    fits_big_cpus(engine, predicted_share_ppm(&io->io_boost), asking))
		return cap;
	return engine->little_capacity;
}

/* A task whose I/O is followed does not get a cap as a co-runner. */
static void follow_io(struct engine *engine, const struct io_task *io, struct asking *asking)
{
	uint32_t boost_cap = boost_min_cap(engine, io, asking);
	uint32_t need_cap = engine_task_need_cap(engine, io);
	struct task *task = boost_cap || need_cap ? task_clamp(engine->tasks, io->pid)
						  : task_find(engine->tasks, io->pid);
	bool does_io = !io->released;

	if (!task || !task->clamped ||
	    (task->boost_cap == boost_cap && task->need_cap == need_cap &&
	     task->does_io == does_io))
		return;
	task->boost_cap = boost_cap;
	task->need_cap = need_cap;
	task->does_io = does_io;
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

static bool asks_for_big_cpu(const struct engine *engine, const struct io_task *io)
{
	const struct task *task = task_find(engine->tasks, io->pid);

	return engine->little_capacity && task && task->boost_cap > engine->little_capacity;
}

/*
 * Those that have a big CPU come first: one that is tried there would take it from another, which
 * the kernel leaves there as well, beside a little CPU that is idle.
 */
void clamping_follow_io(struct engine *engine)
{
	const struct io_task *task = NULL;
	struct asking asking = { 0 };

	if (!engine->n_clamping)
		return;
	if (engine->little_capacity)
		asking = asked_by_chains(engine);
	while ((task = io_task_next(engine->tasks, task)))
		if (asks_for_big_cpu(engine, task))
			follow_io(engine, task, &asking);
	while ((task = io_task_next(engine->tasks, task)))
		if (!asks_for_big_cpu(engine, task))
			follow_io(engine, task, &asking);
}

uint32_t engine_find_stranded(const struct engine *engine, uint32_t *ret_cpu)
{
	const struct io_task *io = NULL;

	*ret_cpu = ENGINE_NO_CPU;
	for (uint32_t i = 0; engine->little_capacity && i < engine->topology->n_cpus; i++)
		if (!engine->cpus[i].running && engine_is_spare(engine, i, 0) &&
		    fits_little_cpu(engine, engine->cpus[i].util_q))
			*ret_cpu = i;
	while (*ret_cpu != ENGINE_NO_CPU && (io = io_task_next(engine->tasks, io)))
		if (!engine_is_spare(engine, io->cpu, 0) && engine->cpus[io->cpu].running &&
		    asks_for_big_cpu(engine, io))
			return io->pid;
	return 0;
}

/* The task asks for the most that any CPU claims for it. */
static void settle_chain_cap(struct engine *engine, uint32_t pid)
{
	struct task *task;
	uint32_t cap = 0;

	for (uint32_t i = 0; i < engine->topology->n_cpus; i++) {
		const struct chain_claim *claim = &engine->cpus[i].claim;

		if (has_claimed(claim, pid) && claim->cap > cap)
			cap = claim->cap;
	}
	task = cap ? task_clamp(engine->tasks, pid) : task_find(engine->tasks, pid);
	if (!task || task->chain_cap == cap)
		return;
	task->chain_cap = cap;
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}

/* What the tasks of the CPU's chain are to ask for; 0: it fits each CPU, or there is none. */
static uint32_t chain_min_cap(const struct engine *engine, uint32_t domain, const struct cpu *cpu,
			      uint64_t now_ns)
{
	const struct domain *d = &engine->domains[domain];
	uint32_t least = big_cap(engine), cap;

	if (!least || !d->active || !engine_places_by_clamps(engine, domain) ||
	    !engine->policy.chains || !engine_chain_until_ns(cpu, now_ns) ||
	    fits_little_cpu(engine, cpu->chain.util_q))
		return 0;
	cap = utilisation_demand_cap(cpu->chain.util_q, d->policy.headroom_percent);
	return cap > least ? cap : least;
}

/*
 * Each task of a chain is idle for part of its time, and fits a little CPU when the chain does not.
 * There it would be slower however fast that one is. Another CPU may have it by now.
 */
void clamping_follow_chains(struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	engine_for_each_cpu(engine, cpu, domain) {
		struct cpu *c = &engine->cpus[cpu];
		struct chain_claim before = c->claim;

		c->claim = (struct chain_claim){ { c->chain.pid, c->chain.waker },
						 chain_min_cap(engine, domain, c, now_ns) };
		/* Unless each big CPU has another one. */
		if (!c->claim.cap || asked_by_chains(engine).n > engine->n_big_cpus)
			c->claim = (struct chain_claim){ 0 };
		for (uint32_t i = 0; i < 2; i++) {
			if (before.pids[i])
				settle_chain_cap(engine, before.pids[i]);
			if (c->claim.pids[i])
				settle_chain_cap(engine, c->claim.pids[i]);
		}
	}
}

void clamping_end_io(struct engine *engine, uint32_t pid)
{
	struct task *task = task_find(engine->tasks, pid);

	if (!task || (!task->boost_cap && !task->need_cap && !task->does_io))
		return;
	task->boost_cap = 0;
	task->need_cap = 0;
	task->does_io = false;
	task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
}
