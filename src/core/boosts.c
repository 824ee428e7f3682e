// SPDX-License-Identifier: GPL-2.0-only
/* The engine's I/O boosts: whose is given, where, and until when. */
#include <stddef.h>

#include "core/engine_private.h"
#include "core/io_model.h"
#include "core/opp.h"
#include "core/rule.h"

#define NS_PER_MS  1000000ULL

#define FLIP_NS	   (100 * NS_PER_MS) /* back within this: the task flips */
#define DISTURB_NS (100 * NS_PER_MS)
/* A task that is over is known for so long, or until the next round after that. */
#define REMEMBER_NS (1000 * NS_PER_MS)
/* The clock is raised by a quarter where nothing predicts what for. */
#define STEP_PERCENT 125

/* A lease's end, or that of what it holds in another domain as well. */
static uint64_t due_ns(const struct task *task)
{
	const struct io_boost *boost = &task->io_boost;
	uint64_t at_ns = AGENDA_NEVER;

	if (!io_boost_is_over(boost))
		at_ns = boost->next_ns;
	else if (boost->granted) /* what is loaded into the engine may be so */
		at_ns = 0;
	if (task->flip.until_ns && task->flip.until_ns < at_ns)
		at_ns = task->flip.until_ns;
	return at_ns;
}

void boosts_file_task(struct engine *engine, const struct task *task)
{
	const struct io_boost *boost = &task->io_boost;
	struct filed filed = {
		.due_ns = due_ns(task),
		.forget_ns = AGENDA_NEVER,
		.ended = io_boost_is_over(boost) && !task->released,
		.followed = !task->released,
		.domain = FILED_NOWHERE,
		.other_domain = FILED_NOWHERE,
		.device = boost->device,
		.traits = boosts_traits(boost),
		.state = boost->state,
	};

	if (task->released)
		filed.forget_ns = boost->lease_end_ns + REMEMBER_NS;
	if (io_boost_is_held(boost)) {
		filed.domain = topology_domain_of(engine->topology, task->cpu);
		if (task->flip.until_ns)
			filed.other_domain = task->flip.domain;
	}
	filing_put(engine->filing, task_table_place(engine->tasks, task), &filed);
}

uint32_t boosts_level(const struct domain *domain)
{
	uint32_t khz = domain->last.target_khz;

	return io_level_at(domain->info, khz ? khz : domain->info->opp_khz[0]);
}

uint32_t boosts_choose_khz(const struct engine *engine, const struct domain *domain, uint32_t ratio)
{
	/* A quarter of the slack is left for what the estimate is off by. */
	uint32_t slack_ppm = io_ppm_of_percent(engine->policy.io_boost.slack_percent) * 3 / 4;
	uint32_t min_khz, max_khz, khz;

	domain_limits(domain, &min_khz, &max_khz);
	khz = io_choose_khz(domain->info, ratio, slack_ppm, min_khz, max_khz);
	return khz > opp_at_or_above(domain->info, min_khz, min_khz, max_khz) ? khz : 0;
}

/* One step up from where the domain is; 0: it is as high as it may be. */
static uint32_t step_khz(const struct domain *domain)
{
	uint32_t now_khz = domain->last.target_khz;
	uint32_t min_khz, max_khz, khz;

	domain_limits(domain, &min_khz, &max_khz);
	khz = opp_at_or_above(domain->info, (uint64_t)now_khz * STEP_PERCENT / 100, min_khz,
			      max_khz);
	return khz > now_khz ? khz : 0;
}

static void mark_domains_due(struct engine *engine, const struct task *task)
{
	engine_mark_due(engine, task->cpu);
	if (task->flip.until_ns)
		engine->domains[task->flip.domain].due = true;
}

static void grant(struct engine *engine, struct task *task, bool granted)
{
	if (task->io_boost.granted == granted)
		return;
	task->io_boost.granted = granted;
	io_boost_restart_window(&task->io_boost);
	mark_domains_due(engine, task);
}

static void want(struct engine *engine, struct task *task, uint32_t khz)
{
	if (task->io_boost.wanted_khz == khz)
		return;
	task->io_boost.wanted_khz = khz;
	if (task->io_boost.granted)
		engine_mark_due(engine, task->cpu);
}

/* The most that a boost of the task may ask of the domain, by the rules: 0…1024. */
static uint32_t most_cap(const struct engine *engine, const struct task *task,
			 const struct domain *domain)
{
	const struct ruled_task *ruled = ruled_tasks_find(engine->ruled, task->pid);
	int rule = -1;

	if (ruled)
		rule = rule_that_gives(&engine->policy, ruled->matched, RULE_IO_BOOST,
				       domain->info);
	if (rule < 0)
		return engine->policy.io_boost.enabled ? TOPOLOGY_CAPACITY_MAX : 0;
	return rule_level_cap(&engine->policy.rules[rule].properties.io_boost, domain->info);
}

/* The OPP khz, or the one at or above that limit; 0 where no more than the lowest is left. */
static uint32_t limit_khz(const struct domain *domain, uint32_t khz, uint32_t most)
{
	uint32_t most_khz = opp_khz_for_cap(domain->info, most);
	uint32_t min_khz, max_khz;

	if (khz <= most_khz)
		return khz;
	domain_limits(domain, &min_khz, &max_khz);
	most_khz = opp_at_or_above(domain->info, most_khz, min_khz, max_khz);
	return most_khz > opp_at_or_above(domain->info, min_khz, min_khz, max_khz) ? most_khz : 0;
}

/* What a check says of a task that it speaks for. */
static enum io_boost_state state_by(const struct io_check *check)
{
	static const enum io_boost_state states[] = {
		[IO_CHECK_OFF] = IO_BOOST_PREDICTED,	  [IO_CHECK_BASELINE] = IO_BOOST_PREDICTED,
		[IO_CHECK_TRIAL] = IO_BOOST_VERIFYING,	  [IO_CHECK_PAID] = IO_BOOST_CONFIRMED,
		[IO_CHECK_UNPAID] = IO_BOOST_INSENSITIVE,
	};

	return states[check->state];
}

static void settle_by_device(struct engine *engine, struct task *task, const struct domain *domain,
			     uint32_t most, uint64_t now_ns)
{
	struct io_boost *boost = &task->io_boost;
	struct io_device *device = boosts_attend_device(engine, boost->device, now_ns);
	uint32_t ratio = io_device_ratio_for(device, boost->held_ratio);
	uint32_t khz = boosts_choose_khz(engine, domain, io_device_calibrate(device, ratio));

	want(engine, task, limit_khz(domain, khz, most));
	if (!boost->wanted_khz || device->gains_little) {
		boost->state = IO_BOOST_DEVICE_BUSY;
		grant(engine, task, false);
		return;
	}
	/* Where nothing is written, nothing can be checked: the prediction is what there is. */
	if (!domain->driven) {
		boost->state = IO_BOOST_PREDICTED;
		grant(engine, task, true);
		return;
	}
	io_check_begin(&device->check, now_ns);
	boost->state = state_by(&device->check);
	grant(engine, task, io_check_grants(&device->check));
}

/*
 * Waits without block requests: nothing tells host time from waiting, so the clock is raised by a
 * step, and what that brought says what the rest would.
 */
static void settle_by_count(struct engine *engine, struct task *task, const struct domain *domain,
			    uint32_t most, uint64_t now_ns)
{
	struct io_boost *boost = &task->io_boost;

	io_check_begin(&boost->check, now_ns);
	if (boost->check.state == IO_CHECK_PAID)
		want(engine, task,
		     limit_khz(domain, boosts_choose_khz(engine, domain, boost->ratio), most));
	else if (boost->check.state != IO_CHECK_TRIAL)
		want(engine, task, limit_khz(domain, step_khz(domain), most));
	boost->state = boost->check.state == IO_CHECK_UNPAID ? IO_BOOST_INSENSITIVE
							     : IO_BOOST_COUNTED;
	grant(engine, task, io_check_grants(&boost->check) && boost->wanted_khz);
}

static void settle_measured(struct engine *engine, struct task *task, const struct domain *domain,
			    uint64_t now_ns)
{
	uint32_t most = most_cap(engine, task, domain);

	if (!most) {
		task->io_boost.state = IO_BOOST_RULED_OUT;
		want(engine, task, 0);
		grant(engine, task, false);
	} else if (task->io_boost.device == IO_BOOST_NO_DEVICE) {
		settle_by_count(engine, task, domain, most, now_ns);
	} else {
		settle_by_device(engine, task, domain, most, now_ns);
	}
}

void boosts_settle_task(struct engine *engine, struct task *task, uint64_t now_ns)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	struct io_boost *boost = &task->io_boost;

	if (io_boost_is_over(boost) || !domain)
		grant(engine, task, false);
	else if (boost->state != IO_BOOST_MEASURING)
		settle_measured(engine, task, domain, now_ns);
	io_boost_plan(boost, &engine->policy.io_boost, now_ns);
	boosts_file_task(engine, task);
}

void boosts_settle_tasks_of(struct engine *engine, uint32_t device, uint64_t now_ns)
{
	engine_for_each_filed(engine, filing_on_device(engine->filing, device), task)
		if (task->io_boost.state != IO_BOOST_MEASURING)
			boosts_settle_task(engine, task, now_ns);
}

void boosts_move_task(struct engine *engine, struct task *task, uint32_t from_cpu, uint64_t now_ns)
{
	uint32_t from = topology_domain_of(engine->topology, from_cpu);
	bool flips = task->flip.moved_ns && now_ns - task->flip.moved_ns < FLIP_NS;

	if (from == topology_domain_of(engine->topology, task->cpu))
		return;
	engine_mark_due(engine, from_cpu);
	mark_domains_due(engine, task);
	task->flip = (struct task_flip){ .moved_ns = now_ns };
	if (flips && from != TOPOLOGY_NO_DOMAIN) {
		task->flip.until_ns = now_ns + FLIP_NS;
		task->flip.domain = from;
		task->flip.khz = task->io_boost.wanted_khz;
	}
	task->io_boost.wanted_khz = 0; /* an OPP of the other domain */
}

/* Half of an I/O is taken to be host time: enough to look for a gain, not to find one. */
static uint32_t predict_step(const struct domain *domain, const struct task *task)
{
	uint32_t level = boosts_level(domain);

	if (!task->io_boost.wanted_khz)
		return 0;
	return io_saved_ppm(level, level, io_level_at(domain->info, task->io_boost.wanted_khz));
}

static void check_count(struct engine *engine, struct task *task, const struct domain *domain,
			uint64_t now_ns)
{
	struct io_boost *boost = &task->io_boost;
	struct io_check *check = &boost->check;
	enum io_check_state before = check->state;

	io_check_update(check, &engine->policy.io_boost, boost->io_waits,
			predict_step(domain, task), now_ns);
	if (check->state == before)
		return;
	if (check->state == IO_CHECK_TRIAL)
		boost->base_level = boosts_level(domain);
	else if (check->state == IO_CHECK_PAID)
		boost->ratio = io_ratio_of_saved(check->measured_ppm, boost->base_level,
						 boosts_level(domain));
}

void boosts_sample_task(struct engine *engine, struct task *task, uint64_t now_ns)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	const struct io_boost *boost = &task->io_boost;

	if (domain && boost->device == IO_BOOST_NO_DEVICE && !io_boost_is_over(boost) &&
	    boost->state != IO_BOOST_MEASURING)
		check_count(engine, task, domain, now_ns);
	boosts_settle_task(engine, task, now_ns);
}

static void end_flip(struct engine *engine, struct task *task, uint64_t now_ns)
{
	if (!task->flip.until_ns || now_ns < task->flip.until_ns)
		return;
	engine->domains[task->flip.domain].due = true;
	task->flip.until_ns = 0;
}

void boosts_forget_one(struct engine *engine)
{
	uint32_t place = filing_to_forget(engine->filing, UINT64_MAX);

	if (place != AGENDA_NONE)
		engine_forget_task(engine, task_table_at(engine->tasks, place));
}

static void advance_task(struct engine *engine, struct task *task, uint64_t now_ns)
{
	end_flip(engine, task, now_ns);
	io_boost_expire(&task->io_boost, now_ns);
	if (io_boost_is_over(&task->io_boost))
		grant(engine, task, false);
	filing_end_asked(engine->filing, task_table_place(engine->tasks, task));
	boosts_file_task(engine, task);
}

void boosts_advance(struct engine *engine, uint64_t now_ns)
{
	uint32_t place;

	engine_for_each_filed(engine, filing_ask(engine->filing, now_ns), task)
		advance_task(engine, task, now_ns);
	while ((place = filing_to_forget(engine->filing, now_ns)) != AGENDA_NONE)
		engine_forget_task(engine, task_table_at(engine->tasks, place));
	boosts_check_devices(engine, now_ns);
}

void boosts_disturb(struct engine *engine, uint64_t now_ns)
{
	struct task *task = NULL;

	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		io_check_disturb(&engine->devices[i].check, now_ns, DISTURB_NS);
		io_check_disturb(&engine->devices[i].interrupt_check, now_ns, DISTURB_NS);
	}
	while ((task = task_table_next(engine->tasks, task))) {
		io_check_disturb(&task->io_boost.check, now_ns, DISTURB_NS);
		io_boost_restart_window(&task->io_boost);
		boosts_settle_task(engine, task, now_ns);
	}
}

void boosts_end_device(struct engine *engine, uint32_t device)
{
	boosts_forget_device(engine, device);
	engine_for_each_filed(engine, filing_on_device(engine->filing, device), task) {
		grant(engine, task, false);
		io_boost_restart(&task->io_boost);
		boosts_file_task(engine, task);
	}
}

uint64_t boosts_next_ns(const struct engine *engine)
{
	uint64_t next_ns = boosts_next_survey_ns(engine);

	if (engine->devices_next_ns < next_ns)
		next_ns = engine->devices_next_ns;
	if (filing_next_ns(engine->filing) < next_ns)
		next_ns = filing_next_ns(engine->filing);
	return next_ns;
}
