// SPDX-License-Identifier: GPL-2.0-only
/* The engine's I/O boosts: which tasks have one, in which domain, and until when. */
#include <stddef.h>

#include "core/boosts.h"
#include "core/io_model.h"
#include "core/opp.h"
#include "core/rule.h"
#include "shared/time.h"

#define FLIP_NS (100 * NS_PER_MS) /* a task that returns within this time moves to and fro */
/* The entry of a task whose boost is over is kept so long, or until the next round after that. */
#define REMEMBER_NS (1000 * NS_PER_MS)

/*
 * Time between samples for the number of users and the CPU of completions, which are shown and used
 * for advice.
 */
#define LOOK_NS (500 * NS_PER_MS)

/* The end of the task's hold, or of its hold in the other domain. */
static uint64_t due_ns(const struct io_task *task)
{
	const struct io_boost *boost = &task->io_boost;
	uint64_t at_ns = DUE_NEVER;

	if (!io_boost_is_over(boost))
		at_ns = boost->next_ns;
	else if (boost->granted) /* a loaded state can be so */
		at_ns = 0;
	if (task->flip.holds && task->flip.until_ns < at_ns)
		at_ns = task->flip.until_ns;
	return at_ns;
}

/* Whether the rate differs from that of the last tracing period: probably another load. */
static bool rate_moved(const struct io_boost *boost)
{
	uint32_t rate = boost->rate_per_s, traced = boost->traced_per_s;
	uint32_t apart = rate > traced ? rate - traced : traced - rate;

	return apart > traced / 3;
}

/* Whether the task is still being measured or tried. */
static bool asks_for_tracing(const struct io_boost *boost)
{
	if (boost->device == IO_BOOST_NO_DEVICE)
		return boost->state == IO_BOOST_MEASURING;
	return !io_boost_is_known(boost);
}

uint32_t boosts_traits(const struct io_boost *boost)
{
	bool has_device = boost->device != IO_BOOST_NO_DEVICE;
	/* Earlier results may be out of date. Requests of a task that had none are a change too. */
	bool is_changed = has_device ? rate_moved(boost) : boost->sends_requests;

	if (io_boost_is_over(boost))
		return 0;
	return 1u << DUE_LIVE | (uint32_t)!boost->traced_per_s << DUE_NEW |
	       (uint32_t)asks_for_tracing(boost) << DUE_ASKS |
	       (uint32_t)(has_device && !boost->traced) << DUE_UNSEEN |
	       (uint32_t)is_changed << DUE_CHANGED;
}

void boosts_set_due(struct engine *engine, const struct io_task *task)
{
	const struct io_boost *boost = &task->io_boost;
	struct due_key key = DUE_NOTHING;

	key.at_ns = task->released ? boost->hold_end_ns + REMEMBER_NS : due_ns(task);
	key.ended = io_boost_is_over(boost) && !task->released;
	key.followed = !task->released;
	key.device = boost->device;
	key.group = boost->group;
	key.traits = boosts_traits(boost);
	key.state = boost->state;
	if (io_boost_is_held(boost)) {
		key.domain = topology_domain_of(engine->topology, task->cpu);
		if (task->flip.holds)
			key.other_domain = task->flip.domain;
	}
	due_set(engine->due, io_task_place(engine->tasks, task), &key);
}

/* The OPP of a boost with this ρ in the domain; 0: the lowest OPP suffices. */
static uint32_t khz_of_ratio(const struct engine *engine, const struct domain *domain,
			     uint32_t ratio)
{
	/*
	 * Uses half of the slack; the other half covers errors of the model and the cost of
	 * measuring and trying.
	 */
	uint32_t slack_ppm = io_ppm_of_percent(engine->policy.io_boost.slack_percent) / 2;
	uint32_t least_ppm = io_ppm_of_percent(engine->policy.io_boost.min_host_percent);
	uint32_t min_khz, max_khz, lowest_khz, khz;

	domain_limits(domain, &min_khz, &max_khz);
	lowest_khz = opp_at_or_above(&domain->info, min_khz, min_khz, max_khz);
	/* At the lowest OPP, as a boost makes the share of the host small. */
	if (io_share_of_ratio(ratio, io_level_at(&domain->info, lowest_khz)) <= least_ppm)
		return 0;
	khz = io_choose_khz(&domain->info, ratio, slack_ppm, min_khz, max_khz);
	return khz > lowest_khz ? khz : 0;
}

void boosts_mark_due(struct engine *engine, const struct io_task *task)
{
	engine_mark_due(engine, task->cpu);
	if (task->flip.holds)
		engine_mark_domain(engine, task->flip.domain);
}

static void grant(struct engine *engine, struct io_task *task, bool granted)
{
	if (task->io_boost.granted == granted)
		return;
	task->io_boost.granted = granted;
	if (engine->tracing.on)
		io_boost_restart_window(&task->io_boost);
	boosts_mark_due(engine, task);
}

static void want(struct engine *engine, struct io_task *task, uint32_t khz)
{
	if (task->io_boost.wanted_khz == khz)
		return;
	task->io_boost.wanted_khz = khz;
	if (task->io_boost.granted)
		engine_mark_due(engine, task->cpu);
}

/* The highest capacity that rules allow the task's boost to ask of the domain: 0…1024. */
static uint32_t most_cap(const struct engine *engine, const struct io_task *task,
			 const struct domain *domain)
{
	const struct task *ruled = task_find(engine->tasks, task->pid);
	int rule = rule_that_gives(&engine->policy, ruled ? ruled->matched : 0, RULE_IO_BOOST,
				   &domain->info);

	if (rule < 0)
		return engine->policy.io_boost.enabled ? TOPOLOGY_CAPACITY_MAX : 0;
	return rule_level_cap(&engine->policy.rules[rule].properties.io_boost, &domain->info);
}

/* khz, or the OPP at or above the limit if that is lower; 0 where only the lowest is left. */
static uint32_t limit_khz(const struct domain *domain, uint32_t khz, uint32_t most)
{
	uint32_t most_khz = opp_khz_for_cap(&domain->info, most);
	uint32_t min_khz, max_khz;

	if (khz <= most_khz)
		return khz;
	domain_limits(domain, &min_khz, &max_khz);
	most_khz = opp_at_or_above(&domain->info, most_khz, min_khz, max_khz);
	return most_khz > opp_at_or_above(&domain->info, min_khz, min_khz, max_khz) ? most_khz : 0;
}

/*
 * Waits without block requests allow no prediction: the highest OPP is tried, and the gain then
 * tells which OPP is enough. 0: the lowest OPP suffices, as far as is predicted.
 */
static uint32_t choose_khz(const struct engine *engine, const struct domain *domain,
			   const struct io_group *group)
{
	uint32_t ratio = io_group_ratio(group);

	if (!ratio && group->device == IO_BOOST_NO_DEVICE)
		ratio = IO_LEVEL_MAX;
	return khz_of_ratio(engine, domain, ratio);
}

/*
 * Where clamps drive CPUs of unlike capacity a boost wants what a big CPU would be given for it,
 * wherever the task is: a minimum above the capacity of a little CPU has the scheduler move it
 * (util_fits_cpu() in the kernel).
 */
static uint32_t choose_cap(const struct engine *engine, const struct io_task *task,
			   const struct domain *domain, const struct io_group *group)
{
	uint32_t cap = opp_cap_at_khz(&domain->info, task->io_boost.wanted_khz), khz, big_cap;
	const struct domain *big = &engine->domains[engine->big_domain];

	if (!engine_places_by_clamps(engine, domain->last.domain) || !big->active || !big->clamps)
		return cap;
	khz = limit_khz(big, choose_khz(engine, big, group), most_cap(engine, task, big));
	big_cap = opp_cap_at_khz(&big->info, khz);
	return big_cap > cap ? big_cap : cap;
}

/* The state of a task by the result of its experiment. */
static enum io_boost_state state_by(const struct experiment *experiment)
{
	static const enum io_boost_state states[] = {
		[EXPERIMENT_NONE] = IO_BOOST_AT_LEVEL,
		[EXPERIMENT_OPEN] = IO_BOOST_TRYING,
		[EXPERIMENT_PAYS] = IO_BOOST_PAYS,
		[EXPERIMENT_DOESNT] = IO_BOOST_DOESNT_PAY,
		[EXPERIMENT_CANT_TELL] = IO_BOOST_CANT_TELL,
	};

	return states[experiment->verdict];
}

static void leave_alone(struct engine *engine, struct io_task *task, enum io_boost_state state)
{
	task->io_boost.state = state;
	io_groups_leave(engine, task);
	want(engine, task, 0);
	grant(engine, task, false);
}

static void settle_measured(struct engine *engine, struct io_task *task,
			    const struct domain *domain, uint64_t now_ns)
{
	struct io_boost *boost = &task->io_boost;
	uint32_t most = most_cap(engine, task, domain);
	const struct io_group *group;

	if (!most) {
		leave_alone(engine, task, IO_BOOST_RULED_OUT);
		return;
	}
	/* Where clamps drive the domain, the kernel boosts such a task, and that is tried. */
	if (!domain->clamps && boost->device != IO_BOOST_NO_DEVICE &&
	    !khz_of_ratio(engine, domain, boost->held_ratio)) {
		leave_alone(engine, task, IO_BOOST_DEVICE_BUSY);
		return;
	}
	group = io_groups_join(engine, task, now_ns);
	if (!group) { /* the table of groups is full */
		leave_alone(engine, task, IO_BOOST_AT_LEVEL);
		return;
	}
	want(engine, task, limit_khz(domain, choose_khz(engine, domain, group), most));
	task->io_boost.wanted_cap = choose_cap(engine, task, domain, group);
	/* A domain that is not written to allows no experiment: the prediction decides. */
	if (!domain->driven) {
		boost->state = IO_BOOST_PREDICTED;
		grant(engine, task, group->ratio && boost->wanted_khz);
		return;
	}
	boost->state = state_by(&group->experiment);
	if (boost->state != IO_BOOST_TRYING && group->question == IO_QUESTION_RIVALS &&
	    io_rivals_rest(engine, group))
		boost->state = IO_BOOST_PAYS;
	grant(engine, task, io_rivals_arm(engine, group) && boost->wanted_khz);
}

/*
 * Has the task sampled when a window of its group, or of another group on its device, begins or
 * ends.
 */
static void plan(struct engine *engine, struct io_task *task, uint64_t now_ns)
{
	struct io_boost *boost = &task->io_boost;
	uint64_t edge_ns = UINT64_MAX;

	io_boost_plan(boost, &engine->policy.io_boost, now_ns);
	if (boost->group != IO_BOOST_NO_GROUP)
		edge_ns = engine->groups[boost->group].experiment.next_ns;
	if (boost->device != IO_BOOST_NO_DEVICE && engine->devices[boost->device].edge_ns < edge_ns)
		edge_ns = engine->devices[boost->device].edge_ns;
	if (edge_ns < boost->next_ns)
		boost->next_ns = edge_ns > now_ns ? edge_ns : now_ns + 1;
}

static void end_boost(struct engine *engine, struct io_task *task)
{
	grant(engine, task, false);
	io_groups_see_end(engine, task->io_boost.group);
}

void boosts_settle_task(struct engine *engine, struct io_task *task, uint64_t now_ns)
{
	uint32_t domain = topology_domain_of(engine->topology, task->cpu);
	struct io_boost *boost = &task->io_boost;

	if (io_boost_is_over(boost) || domain == TOPOLOGY_NO_DOMAIN)
		end_boost(engine, task);
	else if (boost->state != IO_BOOST_MEASURING)
		settle_measured(engine, task, &engine->domains[domain], now_ns);
	plan(engine, task, now_ns);
	boosts_set_due(engine, task);
}

void boosts_move_task(struct engine *engine, struct io_task *task, uint32_t from_cpu,
		      uint64_t now_ns)
{
	uint32_t from = topology_domain_of(engine->topology, from_cpu);
	bool flips = now_ns < task->flip.until_ns;

	if (from == topology_domain_of(engine->topology, task->cpu))
		return;
	engine_mark_due(engine, from_cpu);
	boosts_mark_due(engine, task);
	task->flip = (struct task_flip){ .until_ns = now_ns + FLIP_NS };
	if (flips && from != TOPOLOGY_NO_DOMAIN) {
		task->flip.holds = true;
		task->flip.domain = from;
		task->flip.khz = task->io_boost.wanted_khz;
	}
	task->io_boost.wanted_khz = 0; /* an OPP of the other domain */
}

uint32_t boosts_level(const struct engine *engine, const struct io_task *task)
{
	uint32_t least = task->io_boost.level;

	for (uint32_t cpu = 0; task->served && cpu < engine->topology->n_cpus; cpu++) {
		const struct domain *domain = engine_domain_of(engine, cpu);
		uint32_t level;

		if (engine->cpus[cpu].served_pid != task->pid || !domain ||
		    domain->last.reason == REASON_IDLE)
			continue;
		level = io_level_at(&domain->info, domain->last.target_khz);
		if (level < least)
			least = level;
	}
	return least;
}

/*
 * Adds the task's I/O since the last sample to its group and its device. All of the time counts as
 * at the level of its end, which counters measured in between: at the sample before, soon after
 * arms were switched, only what the domain asked for is known, and a thread of the same core may
 * ask for more.
 */
static void tally(struct engine *engine, const struct io_boost *before, const struct io_task *task)
{
	const struct io_boost *boost = &task->io_boost;
	bool has_device = boost->device != IO_BOOST_NO_DEVICE;
	uint32_t since = has_device ? before->io_starts : before->io_waits;
	uint32_t n = has_device ? boost->io_starts : boost->io_waits;
	uint64_t ns = boost->seen_ns - before->seen_ns, level = boost->level;
	struct io_group *group;

	if (!before->seen_ns)
		return;
	if ((int32_t)(n - since) >= 0) /* otherwise another task has its pid */
		n -= since;
	if (has_device)
		engine->devices[boost->device].ios += n;
	if (boost->group == IO_BOOST_NO_GROUP)
		return;
	group = &engine->groups[boost->group];
	group->tally.ios += n;
	group->tally.time_ns += ns;
	if (group->experiment.phase && boosts_level(engine, task) < level)
		level = boosts_level(engine, task);
	group->tally.level_ns += level * ns;
}

/* Starts to sample the device. */
static void attend_device(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_device *device = &engine->devices[index];

	if (device->next_ns != UINT64_MAX)
		return;
	device->next_ns = now_ns;
	engine->devices_next_ns = now_ns;
}

void boosts_sample_task(struct engine *engine, struct io_task *task, const struct io_boost *before,
			uint64_t now_ns)
{
	tally(engine, before, task);
	if (!before->seen_ns)
		engine_mark_due(engine, task->cpu); /* its domain's target is used from now on */
	if (task->io_boost.device != IO_BOOST_NO_DEVICE)
		attend_device(engine, task->io_boost.device, now_ns);
	boosts_settle_task(engine, task, now_ns);
}

void boosts_forget_task(struct engine *engine, struct io_task *task)
{
	clamping_end_io(engine, task->pid);
	if (task->io_boost.seen_ns)
		io_groups_leave(engine, task);
	due_set(engine->due, io_task_place(engine->tasks, task), NULL);
	io_task_remove(engine->tasks, task);
}

void boosts_forget_one(struct engine *engine)
{
	uint32_t place = due_to_forget(engine->due, UINT64_MAX);

	if (place != DUE_NONE)
		boosts_forget_task(engine, io_task_at(engine->tasks, place));
}

static void advance_task(struct engine *engine, struct io_task *task, uint64_t now_ns)
{
	if (task->flip.holds && now_ns >= task->flip.until_ns) {
		engine_mark_domain(engine, task->flip.domain);
		task->flip.holds = false;
	}
	io_boost_expire(&task->io_boost, now_ns);
	if (io_boost_is_over(&task->io_boost))
		end_boost(engine, task);
	boosts_set_due(engine, task);
}

static void look_at(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_device *device = &engine->devices[index];

	device->n_users = 0;
	engine_for_each_due(engine, DUE_ON_DEVICE, index, task)
		device->n_users += !io_boost_is_over(&task->io_boost);
	device->next_ns = device->n_users ? now_ns + LOOK_NS : UINT64_MAX;
	if (device->n_users)
		io_groups_see_users(engine, index, now_ns);
}

static void look_at_devices(struct engine *engine, uint64_t now_ns)
{
	if (now_ns < engine->devices_next_ns)
		return;
	engine->devices_next_ns = UINT64_MAX;
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		if (engine->devices[i].next_ns <= now_ns)
			look_at(engine, i, now_ns);
		if (engine->devices[i].next_ns < engine->devices_next_ns)
			engine->devices_next_ns = engine->devices[i].next_ns;
	}
}

void boosts_advance(struct engine *engine, uint64_t now_ns)
{
	uint32_t place;

	engine_for_each_due(engine, DUE_BY, now_ns, task)
		advance_task(engine, task, now_ns);
	while ((place = due_to_forget(engine->due, now_ns)) != DUE_NONE)
		boosts_forget_task(engine, io_task_at(engine->tasks, place));
	look_at_devices(engine, now_ns);
}

static void restart_task(struct engine *engine, struct io_task *task, uint64_t now_ns)
{
	uint32_t before_khz = task->io_boost.wanted_khz;
	struct io_group *group = NULL;

	if (task->io_boost.group != IO_BOOST_NO_GROUP)
		group = &engine->groups[task->io_boost.group];
	io_boost_restart_window(&task->io_boost);
	boosts_settle_task(engine, task, now_ns);
	if (group && task->io_boost.wanted_khz != before_khz)
		experiment_spoil(&group->experiment);
}

void boosts_disturb(struct engine *engine, uint32_t domain, uint64_t now_ns)
{
	struct io_task *task = NULL;
	uint32_t target_khz = engine->domains[domain].last.target_khz, min_khz, max_khz;
	uint32_t trial = engine->domains[domain].trial;

	domain_limits(&engine->domains[domain], &min_khz, &max_khz);
	if (trial && (target_khz < min_khz || target_khz > max_khz))
		experiment_spoil(&engine->groups[trial - 1].experiment);
	while ((task = io_task_next(engine->tasks, task)))
		if (topology_domain_of(engine->topology, task->cpu) == domain)
			restart_task(engine, task, now_ns);
}

void boosts_forget_device(struct engine *engine, uint32_t index)
{
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (engine->groups[i].used && engine->groups[i].device == index)
			io_groups_forget(engine, i);
	io_device_init(&engine->devices[index]);
}

void boosts_end_device(struct engine *engine, uint32_t device)
{
	boosts_forget_device(engine, device);
	engine_for_each_due(engine, DUE_ON_DEVICE, device, task) {
		leave_alone(engine, task, task->io_boost.state);
		io_boost_restart(&task->io_boost);
		boosts_set_due(engine, task);
	}
}
