// SPDX-License-Identifier: GPL-2.0-only
#include "core/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/domain.h"
#include "core/opp.h"
#include "core/utilisation.h"
#include "wakegov/decay.h"

struct cpu {
	uint32_t util_q;
	bool running;
	uint64_t idle_since_ns;
};

struct engine {
	const struct topology *topology;
	struct policy policy;
	struct task_table *tasks;
	struct cpu *cpus;	/* topology->n_cpus */
	struct domain *domains; /* topology->n_domains */
};

struct engine *engine_new(const struct topology *topology, const struct policy *policy)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return NULL;
	engine->topology = topology;
	engine->tasks = task_table_new(policy->max_tasks);
	engine->cpus = calloc(topology->n_cpus, sizeof(*engine->cpus));
	engine->domains = calloc(topology->n_domains + 1, sizeof(*engine->domains));
	if (!engine->tasks || !engine->cpus || !engine->domains)
		return engine_free(engine);
	for (uint32_t i = 0; i < topology->n_domains; i++)
		domain_init(&engine->domains[i], i, &topology->domains[i]);
	engine_set_policy(engine, policy);
	return engine;
}

struct engine *engine_free(struct engine *engine)
{
	if (!engine)
		return NULL;
	task_table_free(engine->tasks);
	free(engine->cpus);
	free(engine->domains);
	free(engine);
	return NULL;
}

void engine_set_policy(struct engine *engine, const struct policy *policy)
{
	engine->policy = *policy;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		struct domain *domain = &engine->domains[i];

		policy_domain_for(policy, domain->info->name, &domain->policy);
		domain->due = true;
	}
}

/* The domain of a CPU, or NULL when it has none. */
static struct domain *domain_of(const struct engine *engine, uint32_t cpu)
{
	uint32_t index;

	if (cpu >= engine->topology->n_cpus)
		return NULL;
	index = engine->topology->cpu_domain[cpu];
	return index == TOPOLOGY_NO_DOMAIN ? NULL : &engine->domains[index];
}

static void mark_due(const struct engine *engine, uint32_t cpu)
{
	struct domain *domain = domain_of(engine, cpu);

	if (domain)
		domain->due = true;
}

/* A sample is taken because something happened there: a decision is due. */
static void apply_cpu(struct engine *engine, const struct input_cpu *input)
{
	if (input->cpu >= engine->topology->n_cpus)
		return;
	engine->cpus[input->cpu] = (struct cpu){
		.util_q = input->util_q,
		.running = input->running,
		.idle_since_ns = input->idle_since_ns,
	};
	mark_due(engine, input->cpu);
}

static void apply_task(struct engine *engine, const struct input_task *input, uint64_t now_ns)
{
	struct task *task = task_table_find(engine->tasks, input->pid);
	bool was_held;

	if (!task)
		task = task_table_add(engine->tasks, input->pid);
	if (!task)
		return;
	was_held = io_boost_is_held(&task->io_boost);
	io_boost_update(&task->io_boost, &engine->policy.io_boost, input, now_ns);
	if (was_held && (task->cpu != input->cpu || !io_boost_is_held(&task->io_boost)))
		mark_due(engine, task->cpu);
	if (io_boost_is_held(&task->io_boost) && (task->cpu != input->cpu || !was_held))
		mark_due(engine, input->cpu);
	task->tgid = input->tgid;
	task->handle = input->handle;
	task->cpu = input->cpu;
	memcpy(task->comm, input->comm, sizeof(task->comm));
}

/* A task that dies takes its boost with it. */
static void apply_task_end(struct engine *engine, uint32_t pid)
{
	struct task *task = task_table_find(engine->tasks, pid);

	if (!task)
		return;
	mark_due(engine, task->cpu);
	task_table_remove(engine->tasks, task);
}

static void apply_limits(struct engine *engine, const struct input_limits *input)
{
	struct domain *domain = &engine->domains[input->domain];

	if (domain->scaling_min_khz == input->min_khz && domain->scaling_max_khz == input->max_khz)
		return;
	domain->scaling_min_khz = input->min_khz;
	domain->scaling_max_khz = input->max_khz;
	domain->due = true;
}

static void apply_domain(struct engine *engine, const struct input_domain *input)
{
	struct domain *domain = &engine->domains[input->domain];

	if (input->active && !domain->active)
		engine_forget_target(engine, input->domain);
	domain->active = input->active;
}

void engine_apply(struct engine *engine, const struct input *input)
{
	switch (input->type) {
	case INPUT_CPU:
		apply_cpu(engine, &input->cpu);
		break;
	case INPUT_TASK:
		apply_task(engine, &input->task, input->now_ns);
		break;
	case INPUT_TASK_END:
		apply_task_end(engine, input->ended_pid);
		break;
	case INPUT_LIMITS:
		apply_limits(engine, &input->limits);
		break;
	case INPUT_DOMAIN:
		apply_domain(engine, &input->domain);
		break;
	}
}

void engine_advance(struct engine *engine, uint64_t now_ns)
{
	struct task *task = NULL;

	while ((task = task_table_next(engine->tasks, task))) {
		if (!io_boost_is_held(&task->io_boost))
			continue;
		io_boost_expire(&task->io_boost, now_ns);
		if (!io_boost_is_held(&task->io_boost))
			mark_due(engine, task->cpu);
	}
}

bool engine_is_due(const struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	const struct domain *d = &engine->domains[domain];

	return d->active && (d->due || now_ns >= d->next_ns);
}

/* Since when every CPU of the domain is idle; UINT64_MAX while one is running. */
static uint64_t idle_since_ns(const struct engine *engine, uint32_t domain)
{
	uint64_t since_ns = 0;

	topology_for_each_cpu(engine->topology, cpu, domain) {
		if (engine->cpus[cpu].running)
			return UINT64_MAX;
		if (engine->cpus[cpu].idle_since_ns > since_ns)
			since_ns = engine->cpus[cpu].idle_since_ns;
	}
	return since_ns;
}

static void merge_utilisation(const struct engine *engine, uint32_t domain, struct demand *demand)
{
	uint32_t headroom_percent = engine->domains[domain].policy.headroom_percent;

	topology_for_each_cpu(engine->topology, cpu, domain) {
		uint32_t util_q = engine->cpus[cpu].util_q;
		uint32_t cap = utilisation_demand_cap(util_q, headroom_percent);

		if (cap <= demand->cap)
			continue;
		demand->cap = cap;
		demand->reason = REASON_UTILISATION;
		demand->cpu = cpu;
	}
}

static void merge_boosts(const struct engine *engine, uint32_t domain, struct demand *demand)
{
	const struct task *task = NULL;

	while ((task = task_table_next(engine->tasks, task))) {
		if (task->cpu >= engine->topology->n_cpus ||
		    engine->topology->cpu_domain[task->cpu] != domain)
			continue;
		if (engine_task_boost_cap(engine, task) <= demand->cap)
			continue;
		demand->cap = engine_task_boost_cap(engine, task);
		demand->reason = REASON_IO_BOOST;
		demand->cpu = task->cpu;
		demand->pid = task->pid;
		demand->comm = task->comm;
	}
}

/*
 * The maximum over CPUs and boosts. What ran before everything went idle counts for the hold time
 * only: an idle domain belongs at its lowest OPP, whatever its CPUs remember.
 */
static void merge(const struct engine *engine, uint32_t domain, uint64_t now_ns,
		  struct demand *demand)
{
	uint64_t hold_ns = engine->domains[domain].policy.down_hold_ns;

	*demand = (struct demand){
		.reason = REASON_IDLE,
		.cpu = engine->topology->domains[domain].first_cpu,
		.idle_since_ns = idle_since_ns(engine, domain),
	};
	if (demand->idle_since_ns == UINT64_MAX || now_ns < demand->idle_since_ns + hold_ns)
		merge_utilisation(engine, domain, demand);
	merge_boosts(engine, domain, demand);
}

/*
 * Below which utilisation the next lower OPP would do; 0 when there is none that the limits allow,
 * or when it would do already and the limits or the timing keep it from being used.
 */
static uint32_t low_q(const struct domain *domain, const struct cpu *winner)
{
	uint32_t below_khz = opp_below(domain->info, domain->last.target_khz);
	uint32_t min_khz, max_khz, covered_q;

	domain_limits(domain, &min_khz, &max_khz);
	if (!below_khz || below_khz < min_khz)
		return 0;
	covered_q = utilisation_covered_q(domain->info, below_khz, domain->policy.headroom_percent);
	return winner->util_q > covered_q ? covered_q : 0;
}

/*
 * An idle CPU tells nobody that its utilisation decays, nor an idle domain that its hold time is
 * over: the time when that matters is computed. A running CPU is watched by the kernel side.
 */
static void plan_decay(const struct engine *engine, struct domain *domain,
		       const struct demand *demand, uint64_t now_ns)
{
	const struct cpu *winner = &engine->cpus[demand->cpu];
	uint64_t at_ns = UINT64_MAX, decay_ns = UINT64_MAX;

	if (demand->reason != REASON_UTILISATION || !low_q(domain, winner))
		return;
	if (!winner->running)
		decay_ns = utilisation_decay_ns(winner->util_q, low_q(domain, winner));
	if (decay_ns != UINT64_MAX)
		at_ns = now_ns + decay_ns;
	if (demand->idle_since_ns != UINT64_MAX &&
	    demand->idle_since_ns + domain->policy.down_hold_ns < at_ns)
		at_ns = demand->idle_since_ns + domain->policy.down_hold_ns;
	if (at_ns < domain->next_ns)
		domain->next_ns = at_ns;
}

const struct decision *engine_decide(struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	struct domain *d = &engine->domains[domain];
	struct demand demand;

	assert(d->active);
	merge(engine, domain, now_ns, &demand);
	domain_decide(d, &demand, now_ns);
	plan_decay(engine, d, &demand, now_ns);
	return &d->last;
}

const struct decision *engine_last(const struct engine *engine, uint32_t domain)
{
	return &engine->domains[domain].last;
}

void engine_forget_target(struct engine *engine, uint32_t domain)
{
	struct domain *d = &engine->domains[domain];

	d->last.target_khz = 0;
	d->changed_ns = 0;
	d->lower_since_ns = 0;
	d->due = true;
}

void engine_limits(const struct engine *engine, uint32_t domain, uint32_t *ret_min_khz,
		   uint32_t *ret_max_khz)
{
	domain_limits(&engine->domains[domain], ret_min_khz, ret_max_khz);
}

uint64_t engine_next_ns(const struct engine *engine)
{
	const struct task *task = NULL;
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		const struct domain *domain = &engine->domains[i];

		if (domain->active && domain->due)
			return 0;
		if (domain->active && domain->next_ns < next_ns)
			next_ns = domain->next_ns;
	}
	while ((task = task_table_next(engine->tasks, task)))
		if (io_boost_is_held(&task->io_boost) && task->io_boost.lease_end_ns < next_ns)
			next_ns = task->io_boost.lease_end_ns;
	return next_ns;
}

void engine_band(const struct engine *engine, uint32_t cpu, struct engine_band *ret)
{
	const struct domain *domain = domain_of(engine, cpu);
	const struct decision *last;
	uint32_t min_khz, max_khz;

	*ret = (struct engine_band){ .high_q = UINT32_MAX };
	if (!domain || !domain->active || !domain->last.target_khz)
		return;
	last = &domain->last;
	domain_limits(domain, &min_khz, &max_khz);
	ret->watch = last->timing != TIMING_RATE_LIMITED;
	if (opp_at_or_above(domain->info, last->target_khz + 1, min_khz, max_khz) >
	    last->target_khz)
		ret->high_q = utilisation_covered_q(domain->info, last->target_khz,
						    domain->policy.headroom_percent);
	if (last->timing != TIMING_NOW || last->reason != REASON_UTILISATION ||
	    last->target_khz == domain->info->opp_khz[0])
		return;
	ret->watch_idle = engine->cpus[cpu].running;
	if (last->cpu == cpu && engine->cpus[cpu].running)
		ret->low_q = low_q(domain, &engine->cpus[cpu]);
}

bool engine_take_ended(struct engine *engine, uint32_t *ret_handle)
{
	struct task *task = NULL;

	while ((task = task_table_next(engine->tasks, task))) {
		if (io_boost_is_held(&task->io_boost))
			continue;
		*ret_handle = task->handle;
		task_table_remove(engine->tasks, task);
		return true;
	}
	return false;
}

const struct task_table *engine_tasks(const struct engine *engine)
{
	return engine->tasks;
}

/* A held boost asks for the highest OPP of wherever the task runs. */
uint32_t engine_task_boost_cap(const struct engine *engine, const struct task *task)
{
	const struct domain *domain = domain_of(engine, task->cpu);

	if (!domain || !io_boost_is_held(&task->io_boost))
		return 0;
	return domain->info->capacity;
}

uint32_t engine_utilisation_cap(const struct engine *engine, uint32_t domain)
{
	uint32_t util_q = 0;

	topology_for_each_cpu(engine->topology, cpu, domain)
		if (engine->cpus[cpu].util_q > util_q)
			util_q = engine->cpus[cpu].util_q;
	return DECAY_CAP(util_q);
}
