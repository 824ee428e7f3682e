// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine as its callers see it: made once with all its memory, given inputs, asked for
 * decisions. What it does with them is in round.c, merge.c and plan.c.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/boosts.h"

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
	engine_set_policy(engine, policy, 0);
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

/* Clamps and what is known of capped tasks follow from these alone. */
static bool has_same_clamps(const struct policy *one, const struct policy *other)
{
	uint32_t first_override = POLICY_RULES_MAX - one->n_overrides;

	return one->n_rules == other->n_rules && one->n_overrides == other->n_overrides &&
	       one->chains == other->chains && one->waiting_uw == other->waiting_uw &&
	       !memcmp(&one->caps, &other->caps, sizeof(one->caps)) &&
	       !memcmp(one->rules, other->rules, one->n_rules * sizeof(one->rules[0])) &&
	       !memcmp(&one->rules[first_override], &other->rules[first_override],
		       one->n_overrides * sizeof(one->rules[0]));
}

void engine_set_policy(struct engine *engine, const struct policy *policy, uint64_t now_ns)
{
	bool is_first = !engine->clamp_classes.n;
	bool same_clamps = !is_first && has_same_clamps(&engine->policy, policy);

	engine_tap_call(engine, &(struct engine_call){ .type = ENGINE_SET_POLICY,
						       .now_ns = now_ns,
						       .policy = policy });
	policy_copy(&engine->policy, policy);
	for (uint32_t i = 0; i < engine->topology->n_domains; i++) {
		const struct policy_domain before = engine->domains[i].policy;
		const struct policy_domain *after = &engine->domains[i].policy;

		engine_merge_domain(engine, i);
		engine_mark_domain(engine, i);
		if (memcmp(&before.min, &after->min, sizeof(before.min)) ||
		    memcmp(&before.max, &after->max, sizeof(before.max)))
			boosts_disturb(engine, i, now_ns);
	}
	if (!same_clamps)
		clamping_set_policy(engine);
}

bool engine_learns(const struct engine *engine)
{
	return engine->tracing.on;
}

const struct decision *engine_last(const struct engine *engine, uint32_t domain)
{
	return &engine->domains[domain].last;
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

uint32_t engine_pop_changed(struct engine *engine, int *ret_before)
{
	return due_pop_news(engine->due, ret_before);
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
