// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include "core/engine_private.h"
#include "core/io_model.h"

/* Windows only grow, and rates are counts over their time. */
static bool is_window(const struct io_count *window)
{
	return window->seen_ns >= window->start_ns && window->seen_count >= window->start_count;
}

static bool is_check(const struct io_check *check)
{
	if (check->state > IO_CHECK_UNPAID || check->predicted_ppm > IO_PPM)
		return false;
	if (check->window.start_ns && !is_window(&check->window))
		return false;
	return check->state != IO_CHECK_TRIAL || (check->predicted_ppm && is_window(&check->base) &&
						  check->base.seen_ns > check->base.start_ns);
}

static bool is_domain_or(const struct engine *engine, uint32_t domain, uint32_t otherwise)
{
	return domain < engine->topology->n_domains || domain == otherwise;
}

static bool load_domain(struct engine *engine, uint32_t index, const struct domain *saved)
{
	struct domain *domain = &engine->domains[index];
	const struct topology_domain *info = domain->info;
	struct policy_domain policy = domain->policy;
	struct override_limits override = domain->override;

	if (saved->last.cpu >= engine->topology->n_cpus)
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
	if (!is_check(&saved->check) || !is_check(&saved->interrupt_check) ||
	    !is_domain_or(engine, saved->interrupt_domain, IO_DEVICE_NO_DOMAIN))
		return false;
	engine->devices[index] = *saved;
	return true;
}

static bool load_task(struct engine *engine, uint32_t place, const struct task *saved)
{
	const struct io_boost *boost = &saved->io_boost;

	if (boost->state > IO_BOOST_LAPSED || !is_check(&boost->check) ||
	    (boost->device >= INPUT_DEVICES_MAX && boost->device != IO_BOOST_NO_DEVICE) ||
	    boost->window.seen_ns < boost->window.start_ns ||
	    (saved->flip.until_ns && saved->flip.domain >= engine->topology->n_domains))
		return false;
	if (!task_table_restore(engine->tasks, place, saved))
		return false;
	boosts_file_task(engine, task_table_at(engine->tasks, place));
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

static bool load_set(struct engine *engine, uint32_t index, const struct engine_set *saved)
{
	if (index != engine->sets.n || index >= CLAMP_SETS_MAX)
		return false;
	engine->sets.matched[index] = saved->matched;
	engine->sets.own[index] = saved->own;
	engine->sets.n++;
	engine->sets.n_own += saved->own != 0;
	return true;
}

static bool load_set_run(struct engine *engine, uint32_t cpu, const struct engine_set_run *saved)
{
	if (cpu >= engine->topology->n_cpus || saved->set >= engine->sets.n)
		return false;
	engine->cpus[cpu].runs[saved->set] = saved->run;
	return true;
}

static bool load_clamped(struct engine *engine, uint32_t place, const struct clamped_task *saved)
{
	if (saved->set >= engine->sets.n || saved->beside_set >= engine->sets.n)
		return false;
	return clamped_tasks_restore(engine->clamped, place, saved);
}

static void load_rest(struct engine *engine, const struct engine_rest *saved)
{
	task_table_restore_refused(engine->tasks, saved->refused_tasks);
	ruled_tasks_restore_refused(engine->ruled, saved->refused_ruled_tasks);
	clamped_tasks_restore_refused(engine->clamped, saved->refused_clamped);
	engine->sets.refused = saved->refused_sets;
	engine->sets.epoch = saved->sets_epoch;
	engine->sets.version = saved->sets_version;
	engine->devices_next_ns = saved->devices_next_ns;
	engine->survey = saved->survey;
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
		return piece->index < INPUT_DEVICES_MAX &&
		       load_device(engine, piece->index, &piece->device);
	case ENGINE_PIECE_TASK:
		return load_task(engine, piece->index, &piece->task);
	case ENGINE_PIECE_RULED_TASK:
		return piece->ruled_task.matched &&
		       ruled_tasks_restore(engine->ruled, piece->index, &piece->ruled_task);
	case ENGINE_PIECE_OVERRIDE:
		return load_override(engine, &piece->override);
	case ENGINE_PIECE_SET:
		return load_set(engine, piece->index, &piece->set);
	case ENGINE_PIECE_SET_RUN:
		return load_set_run(engine, piece->index, &piece->set_run);
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
