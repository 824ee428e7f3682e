// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saves and loads the engine's state as bytes. Loading checks everything in a file before it is
 * used: each flag, each value of an enum, each index. Whatever follows from other parts of the
 * state, from the topology or from the policy is computed again.
 */
#include <errno.h>
#include <string.h>

#include "core/boosts.h"
#include "core/experiment_params.h"
#include "core/field.h"

#define FLAG(_struct, _field) FIELD(_struct, _field, 1)
#define COMM(_struct, _field) FIELD(_struct, _field[TASK_COMM_SIZE - 1], 0)

static const struct field engine_bounds[] = {
	FLAG(engine, needs_own),
	FLAG(engine, tracing.on),
	FIELD(engine, group_turn, IO_GROUPS_MAX - 1),
	FIELD(engine, clamp_classes.n, CLAMP_CLASSES_MAX),
	FIELD(engine, clamp_classes.n_own, CLAMP_CLASSES_MAX),
	FIELD_END,
};

static const struct field cpu_bounds[] = { FLAG(cpu, running), FIELD_END };

static const struct field domain_bounds[] = {
	FLAG(domain, active),
	FLAG(domain, driven),
	FLAG(domain, clamps),
	FLAG(domain, due),
	FLAG(domain, falls_at_once),
	FIELD(domain, trial, IO_GROUPS_MAX),
	FIELD(domain, last.reason, REASON_LAST),
	FIELD(domain, last.limiter, LIMITER_LAST),
	FIELD(domain, last.timing, TIMING_RATE_LIMITED),
	COMM(domain, last.comm),
	FIELD_END,
};

static const struct field device_bounds[] = {
	FLAG(io_device, present),
	FLAG(io_device, rates.known),
	FIELD(io_device, totals.device, INPUT_DEVICES_MAX - 1),
	FIELD(io_device, rates.since.device, INPUT_DEVICES_MAX - 1),
	FIELD_END,
};

static const struct field group_bounds[] = {
	FLAG(io_group, used),
	FLAG(io_group, waits_for_io),
	FIELD(io_group, question, IO_QUESTION_RIVALS),
	FIELD_END,
};

static const struct field experiment_bounds[] = {
	FIELD(experiment, verdict, EXPERIMENT_CANT_TELL),
	FIELD(experiment, phase, EXPERIMENT_SPOILT),
	FIELD(experiment, tick, EXPERIMENT_TICK_RULED_OUT),
	FLAG(experiment, rests_boosted),
	FLAG(experiment, is_boosted),
	FLAG(experiment, was_answered),
	FIELD_END,
};

static const struct field task_bounds[] = {
	COMM(task, comm),
	FLAG(task, does_io),
	FLAG(task, waited),
	FLAG(task, clamped),
	FIELD(task, waits, (1 << TASK_WAITS) - 1),
	FIELD_END,
};

static const struct field io_bounds[] = {
	COMM(io_task, comm),
	FLAG(io_task, released),
	FIELD(io_task, io_boost.state, IO_BOOST_LAPSED),
	FIELD(io_task, io_boost.n_windows, IO_BOOST_SMOOTHING),
	FLAG(io_task, io_boost.traced),
	FLAG(io_task, io_boost.granted),
	FLAG(io_task, io_boost.sends_requests),
	FLAG(io_task, io_boost.waits_for_io),
	FLAG(io_task, io_boost.watched),
	FLAG(io_task, flip.holds),
	FIELD_END,
};

/* Compares bytes: reading a bool that is neither 0 nor 1 would be undefined. */
static bool is_within(const void *of, const struct field *bounds)
{
	while (bounds->size && field_load(bounds, of) <= bounds->most)
		bounds++;
	return !bounds->size;
}

static bool is_device(uint32_t device)
{
	return device < INPUT_DEVICES_MAX || device == IO_BOOST_NO_DEVICE;
}

/* Checks divisors, and sums whose squares must fit. */
static bool is_evidence(const struct evidence *e)
{
	return e->scale > 0 && e->scale <= SCALE_MAX && e->squares >= 0 && e->squares < 1LL << 40 &&
	       e->weight >= 0 && e->weight < 1LL << 40 && e->pairs >= 0 && e->pairs < 1LL << 40 &&
	       e->sum < 1LL << 30 && e->sum > -(1LL << 30);
}

static bool is_experiment(const struct experiment *e)
{
	return is_within(e, experiment_bounds) && is_evidence(&e->evidence) && e->random &&
	       e->silent_ns < 1ULL << 40 && e->seen_ns < 1ULL << 40;
}

static bool is_group(const struct engine *engine, const struct io_group *group)
{
	return is_within(group, group_bounds) &&
	       (!group->used || (group->kind < engine->topology->n_domains &&
				 is_device(group->device) && is_experiment(&group->experiment)));
}

static bool is_io(const struct engine *engine, const struct io_task *task)
{
	const struct io_boost *boost = &task->io_boost;

	return is_within(task, io_bounds) && is_device(boost->device) &&
	       (boost->group < IO_GROUPS_MAX || boost->group == IO_BOOST_NO_GROUP) &&
	       boost->seen_ns >= boost->window.start_ns &&
	       (!task->flip.holds || task->flip.domain < engine->topology->n_domains);
}

static bool are_arrays(const struct engine *engine)
{
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++)
		if (!is_within(&engine->devices[i], device_bounds))
			return false;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (!is_group(engine, &engine->groups[i]))
			return false;
	for (uint32_t i = 0; i < engine->topology->n_cpus; i++)
		if (!is_within(&engine->cpus[i], cpu_bounds))
			return false;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		const struct domain *domain = &engine->domains[i];

		if (!is_within(domain, domain_bounds) || domain->last.domain != i ||
		    domain->last.cpu >= engine->topology->n_cpus)
			return false;
	}
	return true;
}

static bool are_tasks(const struct engine *engine)
{
	const struct io_task *io = NULL;
	const struct task *task = NULL;

	while ((task = task_next(engine->tasks, task)))
		if (!is_within(task, task_bounds) || task_find(engine->tasks, task->pid) != task ||
		    task->class >= engine->clamp_classes.n ||
		    task->co_runner_class >= engine->clamp_classes.n)
			return false;
	while ((io = io_task_next(engine->tasks, io)))
		if (!is_io(engine, io))
			return false;
	return true;
}

void engine_merge_domain(struct engine *engine, uint32_t domain)
{
	struct domain *d = &engine->domains[domain];

	policy_domain_for(&engine->policy, d->info.name, &d->policy);
}

static void find_capacities(struct engine *engine)
{
	const struct topology_domain *domains = engine->topology->domains;
	uint32_t least = TOPOLOGY_CAPACITY_MAX, most = 0;

	engine->big_domain = 0;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		if (domains[i].capacity < least)
			least = domains[i].capacity;
		if (domains[i].capacity <= most)
			continue;
		most = domains[i].capacity;
		engine->big_domain = i;
	}
	engine->little_capacity = least < most ? least : 0;
	engine->n_big_cpus = 0;
	for (uint32_t cpu = 0; cpu < engine->topology->n_cpus; cpu++) {
		uint32_t domain = topology_domain_of(engine->topology, cpu);

		engine->n_big_cpus += domain != TOPOLOGY_NO_DOMAIN &&
				      domains[domain].capacity > least;
	}
}

void engine_link(struct engine *engine)
{
	const struct topology *topology = engine->topology;

	find_capacities(engine);
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		engine->domains[i].info = topology->domains[i];
		engine->domains[i].first_cpu = ENGINE_NO_CPU;
		engine_merge_domain(engine, i);
		engine_plan_domain(engine, i);
	}
	for (uint32_t cpu = topology->n_cpus; cpu-- > 0;) {
		uint32_t domain = topology_domain_of(topology, cpu);

		if (domain == TOPOLOGY_NO_DOMAIN)
			continue;
		engine->cpus[cpu].next = engine->domains[domain].first_cpu;
		engine->domains[domain].first_cpu = cpu;
	}
}

const void *engine_state(const struct engine *engine)
{
	return &engine->header;
}

int engine_load(struct engine *engine, const void *state, size_t size)
{
	const struct engine_state_header own = engine->header;
	uint64_t clamping = engine->clamp_classes.clamping;
	bool follows_own = engine->clamp_classes.follows_own;
	uint32_t max_ios = io_task_size(engine->tasks), max_ruled = task_count_max(engine->tasks);
	const struct io_task *io = NULL;

	if (size != own.size || memcmp(state, &own, sizeof(own)) != 0)
		return -EPROTONOSUPPORT;
	memcpy(&engine->header, state, size);
	/* The loaded state may be tried with another policy. */
	engine->clamp_classes.clamping = clamping;
	engine->clamp_classes.follows_own = follows_own;
	if (!task_table_recount(engine->tasks, max_ios, max_ruled) ||
	    !is_within(engine, engine_bounds) || !engine->clamp_classes.n || !are_arrays(engine) ||
	    !are_tasks(engine) || !task_table_relink(engine->tasks))
		return -EBADMSG;
	engine_link(engine);
	engine->n_clamping = 0;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		engine->n_clamping += engine->domains[i].active && engine->domains[i].clamps;
	while ((io = io_task_next(engine->tasks, io)))
		boosts_set_due(engine, io);
	return 0;
}
