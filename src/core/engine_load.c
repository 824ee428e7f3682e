// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include "core/engine_private.h"
#include "core/io_model.h"

/* What is divided by, or is an index. */
static bool is_experiment(const struct experiment *e)
{
	return e->verdict <= EXPERIMENT_SAME && e->window <= 2 && e->scale > 0 && e->random &&
	       e->squares >= 0 && e->squares < 1LL << 40 && e->weight >= 0 && e->pairs >= 0 &&
	       e->pairs < 1LL << 40 && e->sum < 1LL << 30 && e->sum > -(1LL << 30) &&
	       e->weight < 1LL << 40 && e->silent_ns < 1ULL << 40 && e->seen_ns < 1ULL << 40;
}

static bool load_group(struct engine *engine, uint32_t index, const struct io_group *saved)
{
	if (index >= IO_GROUPS_MAX || !saved->used || saved->kind >= engine->topology->n_domains ||
	    (saved->device >= INPUT_DEVICES_MAX && saved->device != IO_BOOST_NO_DEVICE) ||
	    !is_experiment(&saved->experiment))
		return false;
	engine->groups[index] = *saved;
	return true;
}

static bool load_domain(struct engine *engine, uint32_t index, const struct domain *saved)
{
	struct domain *domain = &engine->domains[index];
	const struct topology_domain *info = domain->info;
	struct policy_domain policy = domain->policy;
	struct override_limits override = domain->override;

	if (saved->last.cpu >= engine->topology->n_cpus || saved->trial > IO_GROUPS_MAX)
		return false;
	*domain = *saved;
	domain->info = info;
	domain->policy = policy;
	domain->override = override;
	domain->last.domain = index;
	return true;
}

static bool load_device(struct engine *engine, uint32_t index, const struct io_device *saved)
{
	if (index >= INPUT_DEVICES_MAX)
		return false;
	engine->devices[index] = *saved;
	return true;
}

static bool load_task(struct engine *engine, uint32_t place, const struct task *saved)
{
	const struct io_boost *boost = &saved->io_boost;

	if (boost->state > IO_BOOST_LAPSED ||
	    (boost->group >= IO_GROUPS_MAX && boost->group != IO_BOOST_NO_GROUP) ||
	    (boost->device >= INPUT_DEVICES_MAX && boost->device != IO_BOOST_NO_DEVICE) ||
	    boost->window.seen_ns < boost->window.start_ns ||
	    (saved->flip.until_ns && saved->flip.domain >= engine->topology->n_domains))
		return false;
	if (!task_table_restore(engine->tasks, place, saved))
		return false;
	boosts_set_due(engine, task_table_at(engine->tasks, place));
	return true;
}

static bool load_cpu(struct engine *engine, uint32_t index, const struct engine_cpu *saved)
{
	struct cpu *cpu = &engine->cpus[index];

	if (index >= engine->topology->n_cpus)
		return false;
	cpu->util_q = saved->util_q;
	cpu->running = saved->running;
	cpu->idle_since_ns = saved->idle_since_ns;
	cpu->est_q = saved->est_q;
	cpu->burst_ns = saved->burst_ns;
	return true;
}

static bool load_clamp_class(struct engine *engine, uint32_t index,
			     const struct engine_clamp_class *saved)
{
	if (index != engine->clamp_classes.n || index >= CLAMP_CLASSES_MAX)
		return false;
	engine->clamp_classes.matched[index] = saved->matched;
	engine->clamp_classes.own[index] = saved->own;
	engine->clamp_classes.burst_ns[index] = saved->burst_ns;
	engine->clamp_classes.n++;
	engine->clamp_classes.n_own += saved->own != 0;
	return true;
}

static bool load_set_run(struct engine *engine, uint32_t cpu, const struct engine_class_run *saved)
{
	if (cpu >= engine->topology->n_cpus || saved->class >= engine->clamp_classes.n)
		return false;
	engine->cpus[cpu].runs[saved->class] = saved->run;
	return true;
}

static bool load_clamped(struct engine *engine, uint32_t place, const struct clamped_task *saved)
{
	if (saved->class >= engine->clamp_classes.n ||
	    saved->co_runner_class >= engine->clamp_classes.n)
		return false;
	return clamped_tasks_restore(engine->clamped, place, saved);
}

static void load_rest(struct engine *engine, const struct engine_rest *saved)
{
	task_table_restore_refused(engine->tasks, saved->refused_tasks);
	ruled_tasks_restore_refused(engine->ruled, saved->refused_ruled_tasks);
	clamped_tasks_restore_refused(engine->clamped, saved->refused_clamped);
	engine->clamp_classes.refused = saved->refused_classes;
	engine->clamp_classes.epoch = saved->classes_epoch;
	engine->clamp_classes.version = saved->classes_version;
	engine->devices_next_ns = saved->devices_next_ns;
	engine->tracing = saved->tracing;
	engine->groups_next_ns = saved->groups_next_ns;
	engine->group_turn = saved->group_turn % IO_GROUPS_MAX;
	engine->n_groups_begun = saved->n_groups_begun;
	engine->n_clamping = 0;
	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		engine->n_clamping += engine->domains[i].active && engine->domains[i].clamps;
}

static bool load_override(struct engine *engine, const struct input_override *override)
{
	if (override->domain >= engine->topology->n_domains ||
	    !override_table_put(&engine->overrides, override, 0))
		return false;
	override_table_merge(&engine->overrides, override->domain,
			     &engine->domains[override->domain].override);
	return true;
}

bool engine_load(struct engine *engine, const struct engine_piece *piece)
{
	switch (piece->type) {
	case ENGINE_PIECE_CPU:
		return load_cpu(engine, piece->index, &piece->cpu);
	case ENGINE_PIECE_DOMAIN:
		return piece->index < engine->topology->n_domains &&
		       load_domain(engine, piece->index, &piece->domain);
	case ENGINE_PIECE_DEVICE:
		return load_device(engine, piece->index, &piece->device);
	case ENGINE_PIECE_GROUP:
		return load_group(engine, piece->index, &piece->group);
	case ENGINE_PIECE_TASK:
		return load_task(engine, piece->index, &piece->task);
	case ENGINE_PIECE_RULED_TASK:
		return piece->ruled_task.matched &&
		       ruled_tasks_restore(engine->ruled, piece->index, &piece->ruled_task);
	case ENGINE_PIECE_OVERRIDE:
		return load_override(engine, &piece->override);
	case ENGINE_PIECE_CLAMP_CLASS:
		return load_clamp_class(engine, piece->index, &piece->class);
	case ENGINE_PIECE_CLASS_RUN:
		return load_set_run(engine, piece->index, &piece->class_run);
	case ENGINE_PIECE_CLAMPED:
		return load_clamped(engine, piece->index, &piece->clamped);
	case ENGINE_PIECE_REST:
		load_rest(engine, &piece->rest);
		return true;
	}
	return false;
}

void engine_copy_explanations(struct engine *engine, const struct engine *from)
{
	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		engine->domains[i].explanation = from->domains[i].explanation;
}
