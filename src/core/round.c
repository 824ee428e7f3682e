// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a round consists of: inputs are applied, time goes on, and what is due is decided. The same
 * steps for the daemon, the simulator, replay and what-if.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "core/boosts.h"
#include "core/opp.h"
#include "core/rule.h"

/* A CPU that goes idle during a decision makes its domain due again, without an event. */
#define DECISIONS_MOST 4

static void apply_cpu(struct engine *engine, const struct input_cpu *input, uint64_t now_ns)
{
	bool is_served = now_ns < input->served_ns + ENGINE_CHAIN_HOLD_NS;
	struct io_task *served = is_served ? io_task_find(engine->tasks, input->served_pid) : NULL;

	if (input->cpu >= engine->topology->n_cpus)
		return;
	engine->cpus[input->cpu].util_q = input->util_q;
	engine->cpus[input->cpu].running = input->running;
	engine->cpus[input->cpu].idle_since_ns = input->idle_since_ns;
	engine->cpus[input->cpu].est_q = input->est_q;
	engine->cpus[input->cpu].burst_ns = input->burst_ns;
	engine->cpus[input->cpu].chain = input->chain;
	engine->cpus[input->cpu].served_pid = is_served ? input->served_pid : 0;
	engine->cpus[input->cpu].served_ns = input->served_ns;
	if (served)
		served->served = true;
	engine_mark_due(engine, input->cpu);
}

/* The task's entry: its present one, its former one, or a new one. NULL: the table is full. */
static struct io_task *find_or_add_task(struct engine *engine, const struct input_task *input)
{
	struct io_task *task = io_task_find(engine->tasks, input->pid);

	/* A pid may be used again, by another process or program. */
	if (task && task->released &&
	    (task->tgid != input->tgid || memcmp(task->comm, input->comm, sizeof(task->comm)))) {
		boosts_forget_task(engine, task);
		task = NULL;
	}
	if (!task && io_task_count(engine->tasks) == io_task_size(engine->tasks))
		boosts_forget_one(engine);
	if (!task) {
		task = io_task_add(engine->tasks, input->pid);
		if (!task)
			return NULL;
		task->cpu = input->cpu;
	}
	if (task->released) {
		io_boost_resume(&task->io_boost);
		task->released = false;
	}
	return task;
}

static void apply_task(struct engine *engine, const struct input_task *input, uint64_t now_ns)
{
	struct io_task *task = find_or_add_task(engine, input);
	struct policy_io_boost policy = engine->policy.io_boost;
	struct io_boost before;
	uint32_t from_cpu;

	if (!task)
		return;
	from_cpu = task->cpu;
	task->tgid = input->tgid;
	task->handle = input->handle;
	task->cpu = input->cpu;
	memcpy(task->comm, input->comm, sizeof(task->comm));
	boosts_move_task(engine, task, from_cpu, now_ns);
	policy.enabled |= rule_any_gives(&engine->policy, RULE_IO_BOOST);
	before = task->io_boost;
	io_boost_update(&task->io_boost, &policy, input, engine->tracing.on, now_ns);
	boosts_sample_task(engine, task, &before, now_ns);
}

/* The end of a task ends its boost. */
static void apply_task_end(struct engine *engine, uint32_t pid)
{
	struct io_task *task = io_task_find(engine->tasks, pid);

	if (!task)
		return;
	boosts_mark_due(engine, task);
	boosts_forget_task(engine, task);
}

static void apply_device(struct engine *engine, const struct input_device *input, uint64_t now_ns)
{
	struct io_device *device;

	if (input->device >= INPUT_DEVICES_MAX)
		return;
	device = &engine->devices[input->device];
	/* The index now names another device. */
	if (device->present && input->completions < device->totals.completions)
		boosts_forget_device(engine, input->device);
	io_device_sample(device, input, topology_domain_of(engine->topology, input->completion_cpu),
			 now_ns);
}

static void apply_limits(struct engine *engine, const struct input_limits *input, uint64_t now_ns)
{
	struct domain *domain = &engine->domains[input->domain];

	if (domain->scaling_min_khz == input->min_khz && domain->scaling_max_khz == input->max_khz)
		return;
	domain->scaling_min_khz = input->min_khz;
	domain->scaling_max_khz = input->max_khz;
	engine_mark_domain(engine, input->domain);
	boosts_disturb(engine, input->domain, now_ns);
}

static void apply_reference(struct engine *engine, const struct input_reference *input,
			    uint64_t now_ns)
{
	engine->topology->domains[input->domain].reference_khz = input->khz;
	engine->domains[input->domain].info.reference_khz = input->khz;
	engine_mark_domain(engine, input->domain);
	boosts_disturb(engine, input->domain, now_ns);
}

static void apply_opp(struct engine *engine, const struct input_opp *input, uint64_t now_ns)
{
	if (!opp_add(&engine->topology->domains[input->domain], input->khz, input->power))
		return;
	engine->domains[input->domain].info = engine->topology->domains[input->domain];
	engine_mark_domain(engine, input->domain);
	boosts_disturb(engine, input->domain, now_ns);
}

static void forget_target(struct engine *engine, uint32_t index)
{
	struct domain *domain = &engine->domains[index];

	domain->last.target_khz = 0;
	domain->changed_ns = 0;
	domain->lower_since_ns = 0;
	engine_mark_domain(engine, index);
}

void engine_forget_target(struct engine *engine, uint32_t domain)
{
	engine_tap_call(engine,
			&(struct engine_call){ .type = ENGINE_FORGET_TARGET, .domain = domain });
	forget_target(engine, domain);
}

static void apply_domain(struct engine *engine, const struct input_domain *input, uint64_t now_ns)
{
	struct domain *domain = &engine->domains[input->domain];
	bool changed = domain->active != input->active || domain->driven != input->driven;

	if (input->active && !domain->active)
		forget_target(engine, input->domain);
	domain->active = input->active;
	domain->driven = input->driven;
	domain->clamps = input->clamps;
	engine_plan_domain(engine, input->domain);
	clamping_count_domains(engine);
	if (!domain->active || !domain->clamps)
		clamping_follow_chains(engine, input->domain, now_ns);
	if (changed)
		boosts_disturb(engine, input->domain, now_ns);
}

static void apply_task_rules(struct engine *engine, const struct input_task_rules *input,
			     uint64_t now_ns)
{
	struct task *task = task_rule(engine->tasks, input->pid, input->matched);
	struct io_task *io;

	if (task) {
		task->tgid = input->tgid;
		memcpy(task->comm, input->comm, sizeof(task->comm));
		clamping_rule_task(engine, task);
		if (task->waited)
			task_queue(engine->tasks, task, TASK_WAIT_CLAMP);
		task_settle(engine->tasks, task);
	}
	/* The rules' limit of its boost may be another. */
	io = io_task_find(engine->tasks, input->pid);
	if (io)
		boosts_settle_task(engine, io, now_ns);
}

void engine_apply(struct engine *engine, const struct input *input)
{
	assert(!engine->is_deciding);
	engine_tap_call(engine, &(struct engine_call){ .type = ENGINE_APPLY, .input = input });
	switch (input->type) {
	case INPUT_CPU:
		apply_cpu(engine, &input->cpu, input->now_ns);
		break;
	case INPUT_TASK:
		apply_task(engine, &input->task, input->now_ns);
		break;
	case INPUT_TASK_END:
		apply_task_end(engine, input->ended_pid);
		break;
	case INPUT_DEVICE:
		apply_device(engine, &input->device, input->now_ns);
		break;
	case INPUT_DEVICE_END:
		if (input->ended_device < INPUT_DEVICES_MAX)
			boosts_end_device(engine, input->ended_device);
		break;
	case INPUT_LIMITS:
		apply_limits(engine, &input->limits, input->now_ns);
		break;
	case INPUT_DOMAIN:
		apply_domain(engine, &input->domain, input->now_ns);
		break;
	case INPUT_TASK_RULES:
		apply_task_rules(engine, &input->task_rules, input->now_ns);
		break;
	case INPUT_CLASS_RUN:
		clamping_apply_run(engine, &input->class_run);
		break;
	case INPUT_BURSTS:
		clamping_apply_bursts(engine, &input->bursts);
		break;
	case INPUT_REFERENCE:
		apply_reference(engine, &input->reference, input->now_ns);
		break;
	case INPUT_OPP:
		apply_opp(engine, &input->opp, input->now_ns);
		break;
	case INPUT_OWN_CLAMPS:
		clamping_apply_own(engine, &input->own_clamps);
		break;
	case INPUT_CO_RUNNER:
		clamping_apply_co_runner(engine, &input->co_runner);
		break;
	case INPUT_WAITED:
		clamping_apply_waited(engine, &input->waited);
		break;
	}
}

void engine_advance(struct engine *engine, uint64_t now_ns)
{
	engine_tap_call(engine, &(struct engine_call){ .type = ENGINE_ADVANCE, .now_ns = now_ns });
	boosts_advance(engine, now_ns);
	boost_trials_advance(engine, now_ns);
	tracing_duty_update(engine, now_ns);
	clamping_follow_io(engine);
}

bool engine_is_due(const struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	const struct domain *d = &engine->domains[domain];

	return d->active && (d->due || now_ns >= d->next_ns);
}

uint64_t engine_next_ns(const struct engine *engine)
{
	const uint64_t next_ns[] = {
		due_next_ns(engine->due),
		engine->devices_next_ns,
		engine->groups_next_ns,
		tracing_duty_next_ns(engine),
	};
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < sizeof(next_ns) / sizeof(next_ns[0]); i++)
		if (next_ns[i] < first_ns)
			first_ns = next_ns[i];
	for (uint32_t i = 0; i < engine_count_blocks(engine->topology); i++)
		if (engine->block_due_ns[i] < first_ns)
			first_ns = engine->block_due_ns[i];
	return first_ns;
}

bool engine_pop_ended(struct engine *engine, uint32_t *ret_handle)
{
	struct io_task *task = engine_find_due(engine, DUE_ENDED, 0, NULL);

	if (!task)
		return false;
	*ret_handle = task->handle;
	task->released = true;
	task->flip.holds = false;
	boosts_set_due(engine, task);
	engine_tap_call(engine,
			&(struct engine_call){ .type = ENGINE_POP_ENDED, .handle = *ret_handle });
	return true;
}

const struct io_task *engine_next_due(const struct engine *engine, const struct io_task *after,
				      uint64_t now_ns)
{
	const struct io_task *task = after;

	while ((task = engine_find_due(engine, DUE_BY, now_ns, task)))
		if (!task->released && now_ns >= task->io_boost.next_ns)
			return task;
	return NULL;
}

static void sample(struct engine *engine, const struct engine_ops *ops, void *userdata,
		   uint64_t now_ns)
{
	const struct io_task *task = NULL;

	while ((task = engine_next_due(engine, task, now_ns)))
		ops->sample_task(userdata, task, now_ns);
	/* After the tasks, as they name the devices. */
	for (uint32_t i = 0; now_ns >= engine->devices_next_ns && i < INPUT_DEVICES_MAX; i++)
		if (now_ns >= engine->devices[i].next_ns)
			ops->sample_device(userdata, i, now_ns);
	engine_advance(engine, now_ns);
}

static void decide(struct engine *engine, uint32_t domain, const struct engine_ops *ops,
		   void *userdata, uint64_t now_ns)
{
	for (int i = 0; i < DECISIONS_MOST && engine_is_due(engine, domain, now_ns); i++) {
		if (ops->sample_domain)
			ops->sample_domain(userdata, domain, now_ns);
		ops->on_decision(userdata, engine_decide(engine, domain, now_ns));
		if (!ops->now_ns)
			return;
		now_ns = ops->now_ns();
	}
}

static void decide_block(struct engine *engine, uint32_t block, const struct engine_ops *ops,
			 void *userdata, uint64_t now_ns)
{
	uint32_t end = (block + 1) * ENGINE_BLOCK, n = engine->topology->n_domains;

	for (uint32_t domain = block * ENGINE_BLOCK; domain < end && domain < n; domain++)
		if (now_ns >= engine->due_ns[domain])
			decide(engine, domain, ops, userdata, now_ns);
}

void engine_round(struct engine *engine, const struct engine_ops *ops, void *userdata,
		  uint64_t now_ns)
{
	uint32_t handle;

	sample(engine, ops, userdata, now_ns);
	for (uint32_t block = 0; block < engine_count_blocks(engine->topology); block++)
		if (now_ns >= engine->block_due_ns[block])
			decide_block(engine, block, ops, userdata, now_ns);
	while (engine_pop_ended(engine, &handle))
		if (ops->release_task)
			ops->release_task(userdata, handle);
}
