// SPDX-License-Identifier: GPL-2.0-only
#include "core/engine.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine_private.h"
#include "core/opp.h"
#include "core/rule.h"

/* Offsets of the engine's parts in bytes; each part extends to the next. */
struct layout {
	size_t cpus, domains, tasks, topology, explanations, due_ns, block_due_ns, end;
};

static struct layout lay_out(const struct topology *topology, const struct policy *policy)
{
	struct layout at = { .cpus = sizeof(struct engine) };

	at.domains = at.cpus + topology->n_cpus * sizeof(struct cpu);
	at.tasks = at.domains + topology->n_domains * sizeof(struct domain);
	at.topology = at.tasks + task_table_bytes(policy->max_tasks, policy->max_ruled_tasks);
	at.explanations = at.topology + sizeof(struct topology) +
			  topology->n_domains * sizeof(struct topology_domain);
	at.due_ns = at.explanations + topology->n_domains * sizeof(struct explanation);
	at.block_due_ns = at.due_ns + topology->n_domains * sizeof(uint64_t);
	at.end = at.block_due_ns + engine_count_blocks(topology) * sizeof(uint64_t);
	return at;
}

size_t engine_state_size(const struct topology *topology, const struct policy *policy)
{
	return lay_out(topology, policy).topology - offsetof(struct engine, header);
}

/* A hash of the sizes of all parts of a state. */
static uint32_t state_layout(void)
{
	static const uint32_t sizes[] = {
		sizeof(struct engine) - offsetof(struct engine, header),
		sizeof(struct cpu),
		sizeof(struct domain),
		sizeof(struct task),
		sizeof(struct io_task),
		sizeof(struct io_device),
		sizeof(struct io_group),
	};
	uint32_t layout = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		layout = layout * 1000003 + sizes[i];
	return layout;
}

static void set_up(struct engine *engine, const struct topology *topology,
		   const struct policy *policy)
{
	struct layout at = lay_out(topology, policy);
	char *block = (char *)engine;

	engine->cpus = (void *)(block + at.cpus);
	engine->domains = (void *)(block + at.domains);
	engine->tasks = (void *)(block + at.tasks);
	engine->topology = (void *)(block + at.topology);
	engine->explanations = (void *)(block + at.explanations);
	engine->due_ns = (void *)(block + at.due_ns);
	engine->block_due_ns = (void *)(block + at.block_due_ns);
	memcpy(engine->topology, topology, at.explanations - at.topology);
	engine->header = (struct engine_state_header){
		.version = ENGINE_STATE_VERSION,
		.layout = state_layout(),
		.size = engine_state_size(topology, policy),
	};
	task_table_init(engine->tasks, policy->max_tasks, policy->max_ruled_tasks);
}

struct engine *engine_new(const struct topology *topology, const struct policy *policy)
{
	struct engine *engine = calloc(1, lay_out(topology, policy).end);

	if (!engine)
		return NULL;
	set_up(engine, topology, policy);
	engine->due = due_new(policy->max_tasks);
	if (!engine->due)
		return engine_free(engine);
	for (uint32_t i = 0; i < topology->n_domains; i++)
		domain_init(&engine->domains[i], i, &topology->domains[i]);
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++)
		io_device_init(&engine->devices[i]);
	engine->devices_next_ns = UINT64_MAX;
	engine->groups_next_ns = UINT64_MAX;
	engine->tracing = TRACING_DUTY_NONE;
	engine_set_policy(engine, policy);
	engine_link(engine);
	return engine;
}

struct engine *engine_free(struct engine *engine)
{
	if (!engine)
		return NULL;
	due_free(engine->due);
	free(engine);
	return NULL;
}

void engine_set_tap(struct engine *engine, engine_tap_t tap, void *userdata)
{
	engine->tap = tap;
	engine->tap_userdata = userdata;
}

void engine_set_policy(struct engine *engine, const struct policy *policy)
{
	engine_tap_call(engine,
			&(struct engine_call){ .type = ENGINE_SET_POLICY, .policy = policy });
	policy_copy(&engine->policy, policy);
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		engine_merge_domain(engine, i);
		engine_mark_domain(engine, i);
	}
	clamping_set_policy(engine);
}

static void apply_cpu(struct engine *engine, const struct input_cpu *input)
{
	if (input->cpu >= engine->topology->n_cpus)
		return;
	engine->cpus[input->cpu].util_q = input->util_q;
	engine->cpus[input->cpu].running = input->running;
	engine->cpus[input->cpu].idle_since_ns = input->idle_since_ns;
	engine->cpus[input->cpu].est_q = input->est_q;
	engine->cpus[input->cpu].burst_ns = input->burst_ns;
	engine->cpus[input->cpu].chain = input->chain;
	engine_mark_due(engine, input->cpu);
}

/* Whether the sample is of the same process and program as the entry: a pid may be used again. */
static bool is_same(const struct io_task *task, const struct input_task *input)
{
	return task->tgid == input->tgid && !memcmp(task->comm, input->comm, sizeof(task->comm));
}

/* The task's entry: its present one, its former one, or a new one. NULL: the table is full. */
static struct io_task *find_or_add_task(struct engine *engine, const struct input_task *input)
{
	struct io_task *task = io_task_find(engine->tasks, input->pid);

	if (task && task->released && !is_same(task, input)) {
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
	engine_mark_due(engine, task->cpu);
	if (task->flip.holds)
		engine_mark_domain(engine, task->flip.domain);
	boosts_forget_task(engine, task);
}

static void apply_device(struct engine *engine, const struct input_device *input, uint64_t now_ns)
{
	struct io_device *device;

	if (input->device >= INPUT_DEVICES_MAX)
		return;
	device = &engine->devices[input->device];
	if (io_device_is_another(device, input))
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

static void merge_overrides(struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	engine_merge_domain(engine, domain);
	engine_mark_domain(engine, domain);
	boosts_disturb(engine, domain, now_ns);
}

/* An override that replaces another with the same id may be for another domain. */
static void apply_override(struct engine *engine, const struct input_override *override,
			   uint64_t now_ns)
{
	const struct input_override *before = override_table_find(&engine->overrides, override->id);
	uint32_t domain = before ? before->domain : override->domain;

	if (!override_table_put(&engine->overrides, override, now_ns))
		return;
	merge_overrides(engine, override->domain, now_ns);
	if (domain != override->domain)
		merge_overrides(engine, domain, now_ns);
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
		apply_cpu(engine, &input->cpu);
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
	case INPUT_OVERRIDE:
		apply_override(engine, &input->override, input->now_ns);
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
	}
}

void engine_advance(struct engine *engine, uint64_t now_ns)
{
	struct input_override ended;

	engine_tap_call(engine, &(struct engine_call){ .type = ENGINE_ADVANCE, .now_ns = now_ns });
	while (override_table_expire(&engine->overrides, now_ns, &ended))
		merge_overrides(engine, ended.domain, now_ns);
	boosts_advance(engine, now_ns);
	boost_trials_advance(engine, now_ns);
	idle_trials_advance(engine, now_ns);
	tracing_duty_update(engine, now_ns);
	clamping_follow_io(engine);
}

bool engine_learns(const struct engine *engine)
{
	return engine->tracing.on;
}

bool engine_is_due(const struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	const struct domain *d = &engine->domains[domain];

	return d->active && (d->due || now_ns >= d->next_ns);
}

const struct decision *engine_last(const struct engine *engine, uint32_t domain)
{
	return &engine->domains[domain].last;
}

void engine_forget_target(struct engine *engine, uint32_t domain)
{
	engine_tap_call(engine,
			&(struct engine_call){ .type = ENGINE_FORGET_TARGET, .domain = domain });
	forget_target(engine, domain);
}

uint64_t engine_next_ns(const struct engine *engine)
{
	const uint64_t next_ns[] = {
		due_next_ns(engine->due),
		engine->devices_next_ns,
		engine->groups_next_ns,
		tracing_duty_next_ns(engine),
		override_table_next_ns(&engine->overrides),
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

void engine_limits(const struct engine *engine, uint32_t domain, uint32_t *ret_min_khz,
		   uint32_t *ret_max_khz)
{
	domain_limits(&engine->domains[domain], ret_min_khz, ret_max_khz);
}

const struct io_device *engine_device(const struct engine *engine, uint32_t device)
{
	return &engine->devices[device];
}

bool engine_tries(const struct engine *engine, uint32_t domain)
{
	return engine->domains[domain].trial;
}

const struct task_table *engine_tasks(const struct engine *engine)
{
	return engine->tasks;
}

uint32_t engine_pop_changed(struct engine *engine)
{
	return due_pop_news(engine->due);
}

uint32_t engine_count_boosts(const struct engine *engine, enum io_boost_state state)
{
	return due_count_in(engine->due, state);
}

const struct io_task *engine_next_user(const struct engine *engine, uint32_t device,
				       const struct io_task *after)
{
	return engine_find_due(engine, DUE_ON_DEVICE, device, after);
}

const struct topology *engine_topology(const struct engine *engine)
{
	return engine->topology;
}

const struct policy *engine_policy(const struct engine *engine)
{
	return &engine->policy;
}

bool engine_is_active(const struct engine *engine, uint32_t domain)
{
	return engine->domains[domain].active;
}
