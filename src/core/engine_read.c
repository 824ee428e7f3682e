// SPDX-License-Identifier: GPL-2.0-only
/* What may be asked of an engine, its own parts included: nothing is changed by it. */
#include "core/engine_private.h"
#include "core/opp.h"

/* An experiment has the domain, and runs it without boosts at present. */
bool engine_leaves_alone(const struct engine *engine, const struct domain *domain)
{
	return domain->trial && !engine->groups[domain->trial - 1].experiment.arm;
}

uint32_t engine_task_boost_cap(const struct engine *engine, const struct task *task)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);

	if (!domain || !io_boost_is_held(&task->io_boost) || engine_leaves_alone(engine, domain))
		return 0;
	return opp_cap_at_khz(domain->info, task->io_boost.wanted_khz);
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

const struct io_group *engine_group(const struct engine *engine, uint32_t group)
{
	return group < IO_GROUPS_MAX ? &engine->groups[group] : NULL;
}

bool engine_tries(const struct engine *engine, uint32_t domain)
{
	return engine->domains[domain].trial;
}

const struct override_table *engine_overrides(const struct engine *engine)
{
	return &engine->overrides;
}

const struct task_table *engine_tasks(const struct engine *engine)
{
	return engine->tasks;
}

uint32_t engine_take_changed(struct engine *engine)
{
	return due_take_changed(engine->due);
}

uint32_t engine_count_boosts(const struct engine *engine, enum io_boost_state state)
{
	return due_count_in(engine->due, state);
}

const struct task *engine_next_user(const struct engine *engine, uint32_t device,
				    const struct task *after)
{
	return engine_find_due(engine, DUE_ON_DEVICE, device, after);
}

const struct ruled_tasks *engine_ruled_tasks(const struct engine *engine)
{
	return engine->ruled;
}
