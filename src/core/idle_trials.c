// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether an idle latency pays for tasks whose I/O boost pays: an experiment like that of the
 * boost, which counts the same I/Os. Its arms are with and without a limit of how long the CPUs of
 * the tasks may take to wake up; the boost stays. One of the two experiments of a group has a pair
 * at a time.
 */
#include "core/engine_private.h"
#include "core/experiment_params.h"

static bool is_asked(const struct engine *engine, const struct io_group *group)
{
	return engine->policy.io_boost.idle_latency_us != POLICY_IDLE_LATENCY_NONE &&
	       group->experiment.verdict == EXPERIMENT_PAYS;
}

/* Ends the experiment; the CPUs are not limited any more. */
static void end_question(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct experiment *idle = &engine->groups[index].idle;

	if (idle->window)
		io_groups_set_trial(engine, index, false);
	experiment_init(idle, idle->random);
	boost_trials_plan_windows(engine, index, now_ns);
}

static void try_group(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_group *group = &engine->groups[index];
	struct experiment_params params;
	bool may_try;

	if (!is_asked(engine, group)) {
		if (group->idle.verdict != EXPERIMENT_NONE)
			end_question(engine, index, now_ns);
		group->idle.next_ns = UINT64_MAX;
		return;
	}
	if (group->idle.verdict == EXPERIMENT_NONE)
		experiment_begin(&group->idle, now_ns);
	may_try = boost_trials_may_try(engine, index, now_ns);
	if (!group->idle.window) {
		if (group->experiment.window) {
			group->idle.next_ns = now_ns + TRIAL_WAIT_NS;
			return;
		}
		if (!may_try) {
			group->idle.next_ns = UINT64_MAX; /* until the next pair of the boost */
			return;
		}
		group->moved_limits = false;
		io_groups_set_trial(engine, index, true);
	}
	params = boost_trials_params(engine, group);
	params.any_level = true;
	group->moved_limits |= !may_try;
	boost_trials_run_pair(engine, index, &group->idle, &params, now_ns);
	boost_trials_plan_windows(engine, index, now_ns);
}

void idle_trials_advance(struct engine *engine, uint64_t now_ns)
{
	if (now_ns < engine->groups_next_ns)
		return;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (engine->groups[i].used && engine->groups[i].idle.next_ns <= now_ns)
			try_group(engine, i, now_ns);
	io_groups_plan(engine);
}

uint32_t engine_idle_changes(const struct engine *engine)
{
	return engine->n_idle_changes;
}

const struct experiment *engine_idle_trial(const struct engine *engine,
					   const struct io_boost *boost,
					   struct experiment_estimate *ret)
{
	const struct io_group *group = engine_group(engine, boost->group);
	struct experiment_params params;

	if (!group || group->idle.verdict == EXPERIMENT_NONE)
		return NULL;
	params = boost_trials_params(engine, group);
	*ret = experiment_estimate(&group->idle, &params);
	return &group->idle;
}
