// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a boost pays for a group of tasks (core/io_group.h): which question is asked, and its
 * pairs. In the window without the boost the domains of the group's tasks run without any I/O
 * boost, or with those of others that have an answer: io_groups_leave_out().
 *
 * Where clamps drive a domain, schedutil boosts by itself, and the window without our boost is the
 * kernel alone. If our boost would not exceed schedutil's, we test schedutil's instead: in the
 * window without it, the tasks' maximum is the domain's need without boosts. If schedutil's is
 * predicted to pay, that is the answer until single pairs contradict it. We hold a boost that pays:
 * schedutil halves its own whenever a task wakes up on another CPU of the domain
 * (sugov_iowait_apply()). Without an answer the kernel is left alone.
 */

#include "core/boosts.h"
#include "core/experiment_params.h"
#include "core/io_model.h"

/*
 * schedutil boosts tasks that wait for I/O: what others have beside them is what they have while
 * such a task is boosted, and its boost takes nothing from them. So what others lose counts where
 * the window without the boost is what schedutil does, or where it would not boost the task.
 */
static bool others_count(const struct engine *engine, const struct io_group *group)
{
	bool off_is_kernels = engine->domains[group->kind].clamps &&
			      group->question != IO_QUESTION_KERNELS;

	return off_is_kernels || !group->waits_for_io;
}

static struct experiment_params params_of(const struct engine *engine, const struct io_group *group)
{
	uint64_t limit_ns = domain_rate_limit_ns(&engine->domains[group->kind]);

	return (struct experiment_params){
		.half_ns = RATE_LIMITS * limit_ns > HALF_NS ? RATE_LIMITS * limit_ns : HALF_NS,
		.settle_ns = 2 * limit_ns > SETTLE_NS ? 2 * limit_ns : SETTLE_NS,
		.half_life_ns = EVIDENCE_NS,
		.slack_ppm = io_ppm_of_percent(engine->policy.io_boost.slack_percent),
		.others_count = others_count(engine, group),
	};
}

/* Sums over the tasks of a group, weighted by their rates. */
struct sums {
	uint32_t n; /* tasks whose boosts are not over */
	uint64_t weight;
	uint64_t share; /* share of host time at the highest level of all */
	uint64_t saved; /* time of an I/O that the boost saves over the present level */
	uint64_t kept;	/* time of an I/O that the present level saves over the need */
	bool driven;
	bool blocked; /* another group's experiment has one of their domains, or tries them too */
	bool higher;  /* the boost is above the present level */
	bool above;   /* clamps drive a domain that is above its need */
};

static void add_task(const struct engine *engine, const struct io_task *task, uint32_t trial,
		     struct sums *sums)
{
	const struct io_boost *boost = &task->io_boost;
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	uint32_t level, wanted, need;

	if (!domain || io_boost_is_over(boost))
		return;
	sums->n++;
	sums->weight += boost->rate_per_s;
	sums->share += (uint64_t)boost->rate_per_s * io_share_of_ratio(boost->ratio, IO_LEVEL_MAX);
	sums->driven &= domain->driven;
	sums->blocked |= domain->trial && domain->trial != trial;
	level = boosts_level(engine, task) ?: 1;
	wanted = boost->wanted_khz ? io_level_at(&domain->info, boost->wanted_khz) : 0;
	if (engine_places_by_clamps(engine, domain->last.domain))
		wanted = boost->wanted_cap * (IO_LEVEL_MAX / TOPOLOGY_CAPACITY_MAX);
	sums->saved += (uint64_t)boost->rate_per_s * io_saved_ppm(boost->ratio, level, wanted);
	sums->higher |= wanted > level + level / 32;
	need = engine_need_khz(engine, domain);
	if (!need)
		return;
	need = io_level_at(&domain->info, need);
	sums->kept += (uint64_t)boost->rate_per_s * io_saved_ppm(boost->ratio, need, level);
	sums->above |= level > need + need / 32;
}

static void add_tasks(const struct engine *engine, uint32_t index, struct sums *sums)
{
	engine_for_each_due(engine, DUE_IN_GROUP, index, task)
		add_task(engine, task, index + 1, sums);
	sums->blocked |= io_rivals_are_tried(engine, index);
}

/* The gain of the rate, by a sum of saved times. */
static uint32_t predicted_ppm(const struct sums *sums, uint64_t saved)
{
	uint64_t saved_ppm = sums->weight ? saved / sums->weight : 0;

	if (saved_ppm > IO_SHARE_MAX)
		saved_ppm = IO_SHARE_MAX;
	return saved_ppm * IO_PPM / (IO_PPM - saved_ppm);
}

/*
 * Switches arms, also where the group has moved to since the pair began. A fall of the frequency to
 * the arm without the boost is not held: the hold would count in that arm.
 */
static void switch_arms(struct engine *engine, uint32_t index)
{
	io_groups_begin_trial(engine, index);
	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		if (engine->domains[i].trial == index + 1) {
			engine->domains[i].falls_at_once = true;
			engine_mark_domain(engine, i);
		}
	if (engine->groups[index].question != IO_QUESTION_RIVALS)
		return;
	engine_for_each_due(engine, DUE_ON_DEVICE, engine->groups[index].device, task) {
		struct domain *domain = engine_domain_of(engine, task->cpu);

		if (domain)
			domain->falls_at_once = true;
	}
}

/*
 * Whether our boost may gain more than the slack over the present level. Of requests one at a time
 * the prediction is a lower bound: what a CPU does before it sees the end of one, as leaving
 * idleness, is taken for the device's time, and can be more than the rest.
 */
static bool is_promising(const struct experiment_params *params, const struct io_group *group,
			 const struct sums *sums)
{
	return group->depth_milli <= ALONE_MILLI
		       ? sums->higher
		       : predicted_ppm(sums, sums->saved) > params->slack_ppm;
}

/* Whether our boost is to be tried, or that of the kernel. */
static void choose_question(struct io_group *group, const struct experiment_params *params,
			    const struct sums *sums, uint64_t now_ns)
{
	struct experiment *experiment = &group->experiment;
	uint32_t kept_ppm = predicted_ppm(sums, sums->kept);
	bool ours = is_promising(params, group, sums);

	if (experiment->verdict == EXPERIMENT_OPEN || group->question == IO_QUESTION_RIVALS ||
	    ours == (group->question == IO_QUESTION_OURS))
		return;
	if (ours && experiment->rests_boosted && now_ns >= experiment->reopen_ns) {
		group->question = IO_QUESTION_OURS;
		experiment_begin(experiment, now_ns);
	} else if (!ours && group->waits_for_io && sums->above && !experiment->rests_boosted) {
		group->question = IO_QUESTION_KERNELS;
		if (kept_ppm > params->slack_ppm)
			experiment_assume(experiment, params, kept_ppm, now_ns);
		else
			experiment_begin(experiment, now_ns);
	}
}

/*
 * Whether a pair can tell something: a boost that is not granted must save more than the slack over
 * the domain's present level. The kernel's is there without that.
 */
static bool has_question(const struct experiment *experiment,
			 const struct experiment_params *params, const struct io_group *group,
			 const struct sums *sums)
{
	if (!sums->driven)
		return false;
	if (experiment->rests_boosted || experiment->verdict == EXPERIMENT_OPEN)
		return true;
	if (group->question == IO_QUESTION_KERNELS)
		return sums->above || experiment->verdict == EXPERIMENT_DOESNT;
	return is_promising(params, group, sums);
}

/* Whether a pair can start now. */
static bool may_start(struct engine *engine, uint32_t index, const struct experiment_params *params,
		      const struct sums *sums, uint64_t now_ns)
{
	struct io_group *group = &engine->groups[index];
	struct experiment *experiment = &group->experiment;
	uint64_t saved;

	/* Checked first: under another group's experiment the present level says nothing. */
	if (sums->blocked) {
		experiment->next_ns = now_ns + TRIAL_WAIT_NS;
		return false;
	}
	choose_question(group, params, sums, now_ns);
	if (!has_question(experiment, params, group, sums)) {
		experiment->next_ns = now_ns + TRIAL_LOOK_NS;
		return false;
	}
	if (experiment->verdict == EXPERIMENT_NONE)
		experiment_begin(experiment, now_ns);
	experiment->is_boosted = io_rivals_arm(engine, group);
	saved = group->question == IO_QUESTION_KERNELS ? sums->kept : sums->saved;
	if (!experiment->is_boosted)
		experiment_predict(
			experiment, params,
			group->device == IO_BOOST_NO_DEVICE ? 0 : predicted_ppm(sums, saved));
	io_groups_begin_trial(engine, index);
	return true;
}

/* The ρ that corresponds to the gain found, if the gain is large enough. */
static uint32_t found_ratio(const struct experiment *experiment,
			    const struct experiment_params *params)
{
	struct experiment_estimate found = experiment_estimate(experiment, params);
	uint64_t gain_ppm = found.gain_ppm > 0 ? found.gain_ppm : 0;

	if (experiment->verdict != EXPERIMENT_PAYS || gain_ppm < 2 * params->slack_ppm)
		return 0;
	return io_ratio_of_saved(gain_ppm * IO_PPM / (IO_PPM + gain_ppm), experiment->off_level,
				 experiment->on_level);
}

/* Has all tasks of the device sampled at the edges of the windows. */
static void set_edge(struct engine *engine, uint32_t device)
{
	uint64_t edge_ns = UINT64_MAX;

	if (device == IO_BOOST_NO_DEVICE)
		return;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++) {
		const struct io_group *group = &engine->groups[i];

		if (group->used && group->device == device && group->experiment.phase &&
		    group->experiment.next_ns < edge_ns)
			edge_ns = group->experiment.next_ns;
	}
	engine->devices[device].edge_ns = edge_ns;
}

static void settle_tasks(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	uint32_t device = engine->groups[index].device;

	if (device != IO_BOOST_NO_DEVICE) {
		engine_for_each_due(engine, DUE_ON_DEVICE, device, task)
			boosts_settle_task(engine, task, now_ns);
		return;
	}
	engine_for_each_due(engine, DUE_IN_GROUP, index, task)
		boosts_settle_task(engine, task, now_ns);
}

static void stop_trying(struct engine *engine, uint32_t index,
			const struct experiment_params *params, uint64_t now_ns)
{
	struct io_group *group = &engine->groups[index];

	experiment_void(&group->experiment, params, now_ns);
	switch_arms(engine, index);
	io_groups_end_trial(engine, index);
	io_groups_rest(engine, index); /* until one of the group's tasks is sampled */
	set_edge(engine, group->device);
}

static bool has_pausing(const struct engine *engine, uint32_t index, uint64_t now_ns)
{
	engine_for_each_due(engine, DUE_IN_GROUP, index, task)
		if (io_boost_pauses(&task->io_boost, engine->policy.io_boost.hold_ns, now_ns))
			return true;
	return false;
}

/* A pausing task is not sampled: adds its time here. */
static void pass_pauses(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct experiment_tally *tally = &engine->groups[index].tally;

	engine_for_each_due(engine, DUE_IN_GROUP, index, task) {
		struct io_boost *boost = &task->io_boost;

		if (!io_boost_pauses(boost, engine->policy.io_boost.hold_ns, now_ns))
			continue;
		tally->time_ns += now_ns - boost->seen_ns;
		tally->level_ns += boost->level * (now_ns - boost->seen_ns);
		boost->seen_ns = now_ns;
	}
}

/* Advances the pair. */
static void run_pair(struct engine *engine, uint32_t index, const struct experiment_params *params,
		     uint64_t now_ns)
{
	struct io_group *group = &engine->groups[index];
	struct experiment *experiment = &group->experiment;
	enum experiment_verdict before = experiment->verdict;
	bool arm = experiment->is_boosted, over;

	pass_pauses(engine, index, now_ns);
	if (group->device != IO_BOOST_NO_DEVICE)
		group->tally.other_ios = engine->devices[group->device].ios - group->tally.ios;
	over = experiment_update(experiment, params, &group->tally, now_ns);
	if (experiment->is_boosted != arm)
		switch_arms(engine, index);
	if (over)
		io_groups_end_trial(engine, index);
	if (experiment->verdict != before && experiment->verdict != EXPERIMENT_OPEN) {
		group->found_ratio = found_ratio(experiment, params);
		if (group->device != IO_BOOST_NO_DEVICE)
			group->n_asked = engine->devices[group->device].n_users;
	}
	if (over)
		io_rivals_ask(engine, index, now_ns);
	set_edge(engine, group->device);
	settle_tasks(engine, index, now_ns);
}

static bool are_alike(const struct io_group *a, const struct io_group *b)
{
	return b->used && a->device == b->device && io_are_alike(a->ratio, b->ratio) &&
	       io_are_alike(a->depth_milli, b->depth_milli);
}

/*
 * Uses one ρ for all groups that are alike but for the domain: a task that moves to and fro between
 * two groups must get the same OPP in both.
 */
static bool hold_ratio(struct engine *engine, const struct io_group *group)
{
	const struct io_group before = *group;
	struct sums sums = { .n = 0 };
	uint32_t ratio;

	if (group->device == IO_BOOST_NO_DEVICE)
		return false;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (are_alike(&before, &engine->groups[i]))
			add_tasks(engine, i, &sums);
	if (!sums.weight)
		return false;
	ratio = io_ratio_hold(before.ratio,
			      io_ratio_of_share(sums.share / sums.weight, IO_LEVEL_MAX));
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (are_alike(&before, &engine->groups[i]))
			engine->groups[i].ratio = ratio;
	return ratio != before.ratio;
}

static void try_group(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_group *group = &engine->groups[index];
	struct experiment_params params = params_of(engine, group);
	struct sums sums = { .driven = true };

	add_tasks(engine, index, &sums);
	if (!sums.n && !(group->experiment.phase && has_pausing(engine, index, now_ns))) {
		stop_trying(engine, index, &params, now_ns);
		return;
	}
	if (!group->experiment.phase && hold_ratio(engine, group))
		settle_tasks(engine, index, now_ns);
	if (group->experiment.phase || may_start(engine, index, &params, &sums, now_ns))
		run_pair(engine, index, &params, now_ns);
}

/* Starts with the group after the one that had the last turn, so that each gets its turn. */
void boost_trials_advance(struct engine *engine, uint64_t now_ns)
{
	uint32_t first = engine->group_turn;

	if (now_ns < engine->groups_next_ns)
		return;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++) {
		uint32_t index = (first + i) % IO_GROUPS_MAX;

		if (!engine->groups[index].used ||
		    engine->groups[index].experiment.next_ns > now_ns)
			continue;
		try_group(engine, index, now_ns);
		engine->group_turn = (index + 1) % IO_GROUPS_MAX;
	}
	io_groups_plan(engine);
}

void engine_estimate(const struct engine *engine, const struct io_boost *boost, uint32_t *ret_tried,
		     struct experiment_estimate *ret)
{
	const struct io_group *group = engine_group(engine, boost->group);
	struct experiment_params params;

	*ret_tried = group ? group->experiment.tried : 0;
	*ret = (struct experiment_estimate){ 0 };
	if (!*ret_tried)
		return;
	params = params_of(engine, group);
	*ret = experiment_estimate(&group->experiment, &params);
}
