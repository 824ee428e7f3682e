// SPDX-License-Identifier: GPL-2.0-only
/* The engine's I/O boosts: whose is given, and the checks that tell. */
#include <stddef.h>

#include "core/engine_private.h"
#include "core/io_model.h"
#include "core/opp.h"

#define NS_PER_MS  1000000ULL

#define FLIP_NS	   (100 * NS_PER_MS) /* back within this: the task flips */
#define DISTURB_NS (100 * NS_PER_MS)
/* The clock is raised by a quarter where nothing predicts what for. */
#define STEP_PERCENT 125
/* What interrupts may be worth before their check says so; sets how long it looks at first. */
#define INTERRUPT_PPM (IO_PPM / 20)

static uint32_t slack_ppm(const struct engine *engine)
{
	return engine->policy.io_boost.slack_percent * (IO_PPM / 100);
}

static uint32_t domain_level(const struct domain *domain)
{
	return io_level_at(domain->info, domain->last.target_khz ? domain->last.target_khz
								 : domain->info->opp_khz[0]);
}

/* The OPP that a boost of this ρ is in the domain; 0: none, the lowest does. */
static uint32_t choose_khz(const struct engine *engine, const struct domain *domain, uint32_t ratio,
			   uint32_t kept_khz)
{
	uint32_t min_khz, max_khz, khz;

	domain_limits(domain, &min_khz, &max_khz);
	khz = io_choose_khz(domain->info, ratio, slack_ppm(engine), min_khz, max_khz, kept_khz);
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

static void grant(struct engine *engine, struct task *task, bool granted)
{
	if (task->io_boost.granted == granted)
		return;
	task->io_boost.granted = granted;
	io_boost_restart_window(&task->io_boost);
	engine_mark_due(engine, task->cpu);
	if (task->flip.until_ns)
		engine->domains[task->flip.domain].due = true;
}

static void want(struct engine *engine, struct task *task, uint32_t khz)
{
	if (task->io_boost.wanted_khz == khz)
		return;
	task->io_boost.wanted_khz = khz;
	if (task->io_boost.granted)
		engine_mark_due(engine, task->cpu);
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

/* A device that nobody asked about for long is as good as a new one. */
static void attend_to(struct engine *engine, struct io_device *device, uint64_t now_ns)
{
	if (device->next_ns == UINT64_MAX) {
		if (now_ns - device->sampled_ns > engine->policy.io_boost.backoff_max_ns)
			io_check_init(&device->check);
		device->next_ns = now_ns;
		engine->devices_next_ns = now_ns;
	}
	io_check_begin(&device->check, now_ns);
}

static void settle_by_device(struct engine *engine, struct task *task, const struct domain *domain,
			     uint64_t now_ns)
{
	struct io_boost *boost = &task->io_boost;
	struct io_device *device = &engine->devices[boost->device];
	uint32_t ratio = io_device_calibrate(device, boost->ratio);

	want(engine, task, choose_khz(engine, domain, ratio, boost->wanted_khz));
	if (!boost->wanted_khz) {
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
	attend_to(engine, device, now_ns);
	boost->state = state_by(&device->check);
	grant(engine, task, io_check_grants(&device->check));
}

/*
 * Waits without block requests: nothing tells host time from waiting, so the clock is raised by a
 * step, and what that brought says what the rest would.
 */
static void settle_by_count(struct engine *engine, struct task *task, const struct domain *domain,
			    uint64_t now_ns)
{
	struct io_boost *boost = &task->io_boost;

	io_check_begin(&boost->check, now_ns);
	if (boost->check.state == IO_CHECK_PAID)
		want(engine, task, choose_khz(engine, domain, boost->ratio, boost->wanted_khz));
	else if (boost->check.state != IO_CHECK_TRIAL)
		want(engine, task, step_khz(domain));
	boost->state = boost->check.state == IO_CHECK_UNPAID ? IO_BOOST_INSENSITIVE
							     : IO_BOOST_COUNTED;
	grant(engine, task, io_check_grants(&boost->check) && boost->wanted_khz);
}

void boosts_settle_task(struct engine *engine, struct task *task, uint64_t now_ns)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	struct io_boost *boost = &task->io_boost;

	if (io_boost_is_over(boost) || !domain) {
		grant(engine, task, false);
	} else if (boost->state != IO_BOOST_MEASURING) {
		if (boost->device == IO_BOOST_NO_DEVICE)
			settle_by_count(engine, task, domain, now_ns);
		else
			settle_by_device(engine, task, domain, now_ns);
	}
	io_boost_plan(boost, &engine->policy.io_boost, now_ns);
}

/* The same share of the highest OPP in another domain, as what is kept there. */
static uint32_t translate_khz(const struct domain *from, const struct domain *to, uint32_t khz)
{
	uint32_t from_max_khz, to_max_khz = topology_domain_max_khz(to->info);

	if (!from || !khz)
		return 0;
	from_max_khz = topology_domain_max_khz(from->info);
	return opp_at_or_above(to->info, (uint64_t)khz * to_max_khz / from_max_khz, 0, to_max_khz);
}

void boosts_move_task(struct engine *engine, struct task *task, uint32_t from_cpu, uint64_t now_ns)
{
	uint32_t from = engine_domain_index(engine, from_cpu);
	uint32_t to = engine_domain_index(engine, task->cpu);
	bool flips = task->flip.moved_ns && now_ns - task->flip.moved_ns < FLIP_NS;

	if (from == to)
		return;
	engine_mark_due(engine, from_cpu);
	engine_mark_due(engine, task->cpu);
	task->flip = (struct task_flip){ .moved_ns = now_ns };
	if (flips && from != TOPOLOGY_NO_DOMAIN) {
		task->flip.until_ns = now_ns + FLIP_NS;
		task->flip.domain = from;
		task->flip.khz = task->io_boost.wanted_khz;
	}
	task->io_boost.wanted_khz = to == TOPOLOGY_NO_DOMAIN
					    ? 0
					    : translate_khz(engine_domain_of(engine, from_cpu),
							    &engine->domains[to],
							    task->io_boost.wanted_khz);
}

/* Tasks that a boost may serve, of one device. */
struct group {
	uint64_t weight;
	uint64_t saved; /* · weight */
	uint64_t level; /* · weight */
	uint32_t n;
	bool runs_in_interrupt_domain;
};

static void add_to_group(const struct engine *engine, const struct task *task, struct group *groups)
{
	const struct io_boost *boost = &task->io_boost;
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	struct group *group;
	uint32_t level;

	if (io_boost_is_over(boost) || boost->device == IO_BOOST_NO_DEVICE || !domain ||
	    !domain->driven || !boost->wanted_khz)
		return;
	group = &groups[boost->device];
	level = domain_level(domain);
	group->n++;
	group->weight += boost->rate_per_s;
	group->level += (uint64_t)boost->rate_per_s * level;
	group->saved += (uint64_t)boost->rate_per_s *
			io_saved_ppm(boost->ratio, level,
				     io_level_at(domain->info, boost->wanted_khz));
	if (engine_domain_index(engine, task->cpu) ==
	    engine->devices[boost->device].completion_domain)
		group->runs_in_interrupt_domain = true;
}

static void settle_tasks_of(struct engine *engine, uint32_t device, uint64_t now_ns)
{
	struct task *task = NULL;

	while ((task = task_table_next(engine->tasks, task)))
		if (task->io_boost.device == device && task->io_boost.state != IO_BOOST_MEASURING)
			boosts_settle_task(engine, task, now_ns);
}

/*
 * A result holds for about as many tasks as it was found with; that nothing was gained, for about
 * the same prediction, too.
 */
static bool is_stale(const struct io_device *device, uint32_t n, uint32_t predicted_ppm,
		     uint64_t least_ns, uint64_t now_ns)
{
	uint32_t checked = device->checked_tasks;

	if (device->check.state < IO_CHECK_PAID || now_ns - device->checked_ns < least_ns)
		return false;
	if (device->check.state == IO_CHECK_PAID)
		return n >= 2 * checked || 2 * n <= checked;
	return 4 * n > 5 * checked || 4 * n < 3 * checked ||
	       io_check_moved(device->check.predicted_ppm, predicted_ppm);
}

static void advance_check(struct engine *engine, uint32_t index, const struct group *group,
			  uint64_t now_ns)
{
	struct io_device *device = &engine->devices[index];
	struct io_check *check = &device->check;
	enum io_check_state before = check->state;
	const struct policy_io_boost *policy = &engine->policy.io_boost;
	uint32_t predicted_ppm = group->weight ? group->saved / group->weight : 0;

	device->n_tasks = group->n;
	if (!group->n) {
		io_check_stop(check);
		return;
	}
	if (is_stale(device, group->n, predicted_ppm, policy->backoff_min_ns, now_ns))
		io_check_restart(check, now_ns);
	io_check_update(check, policy, device->totals.completions, predicted_ppm, now_ns);
	if (check->state == before)
		return;
	if (check->state == IO_CHECK_TRIAL && group->weight)
		device->base_level = group->level / group->weight;
	if (check->state >= IO_CHECK_PAID) {
		device->checked_tasks = group->n;
		device->checked_ns = now_ns;
	}
	settle_tasks_of(engine, index, now_ns);
}

static void drop_interrupt_boost(struct engine *engine, struct io_device *device)
{
	if (device->interrupt_domain == IO_DEVICE_NO_DOMAIN)
		return;
	engine->domains[device->interrupt_domain].due = true;
	device->interrupt_domain = IO_DEVICE_NO_DOMAIN;
	device->interrupt_khz = 0;
	io_check_init(&device->interrupt_check);
}

/* Of use while the tasks themselves are served, or need nothing: one question at a time. */
static bool may_check_interrupts(const struct engine *engine, const struct io_device *device,
				 const struct group *group)
{
	uint32_t domain = device->completion_domain;

	return group->n && !group->runs_in_interrupt_domain &&
	       domain < engine->topology->n_domains && io_device_completes_in(device, domain) &&
	       device->check.state == IO_CHECK_PAID;
}

static void advance_interrupts(struct engine *engine, struct io_device *device,
			       const struct group *group, uint64_t now_ns)
{
	struct io_check *check = &device->interrupt_check;
	enum io_check_state before;
	struct domain *domain;
	uint32_t min_khz, max_khz, highest;

	if (!may_check_interrupts(engine, device, group) ||
	    (device->interrupt_domain != IO_DEVICE_NO_DOMAIN &&
	     device->interrupt_domain != device->completion_domain))
		drop_interrupt_boost(engine, device);
	if (!may_check_interrupts(engine, device, group))
		return;
	device->interrupt_domain = device->completion_domain;
	domain = &engine->domains[device->interrupt_domain];
	domain_limits(domain, &min_khz, &max_khz);
	highest = io_level_at(domain->info, max_khz);
	io_check_begin(check, now_ns);
	before = check->state;
	if (before == IO_CHECK_BASELINE)
		device->interrupt_level = domain_level(domain);
	io_check_update(check, &engine->policy.io_boost, device->totals.completions,
			highest > device->interrupt_level ? INTERRUPT_PPM : 0, now_ns);
	if (check->state == before)
		return;
	domain->due = true;
	if (check->state == IO_CHECK_TRIAL)
		device->interrupt_khz = opp_at_or_above(domain->info, max_khz, min_khz, max_khz);
	else if (check->state == IO_CHECK_PAID)
		device->interrupt_khz = choose_khz(
			engine, domain,
			io_ratio_of_saved(check->measured_ppm, device->interrupt_level, highest),
			0);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void plan_device(const struct engine *engine, struct io_device *device, uint64_t now_ns)
{
	const struct policy_io_boost *policy = &engine->policy.io_boost;

	device->next_ns = UINT64_MAX;
	if (!device->present)
		device->next_ns = now_ns + policy->check_window_ns;
	if (!device->n_tasks)
		return;
	device->next_ns = earlier(io_check_next_ns(&device->check, policy, now_ns),
				  io_check_next_ns(&device->interrupt_check, policy, now_ns));
	/* With a result, who uses the device and where it completes may still change. */
	device->next_ns = earlier(device->next_ns, now_ns + policy->check_window_ns);
}

static void advance_devices(struct engine *engine, uint64_t now_ns)
{
	struct group groups[INPUT_DEVICES_MAX] = { 0 };
	const struct task *task = NULL;

	if (now_ns < engine->devices_next_ns)
		return;
	while ((task = task_table_next(engine->tasks, task)))
		add_to_group(engine, task, groups);
	engine->devices_next_ns = UINT64_MAX;
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		struct io_device *device = &engine->devices[i];

		if (device->next_ns <= now_ns) {
			if (device->present && device->sampled_ns == now_ns) {
				advance_check(engine, i, &groups[i], now_ns);
				advance_interrupts(engine, device, &groups[i], now_ns);
			}
			plan_device(engine, device, now_ns);
		}
		engine->devices_next_ns = earlier(engine->devices_next_ns, device->next_ns);
	}
}

/* Half of an I/O is taken to be host time: enough to look for a gain, not to find one. */
static uint32_t predict_step(const struct domain *domain, const struct task *task)
{
	uint32_t level = domain_level(domain);

	if (!task->io_boost.wanted_khz)
		return 0;
	return io_saved_ppm(level, level, io_level_at(domain->info, task->io_boost.wanted_khz));
}

static void advance_counted(struct engine *engine, struct task *task, uint64_t now_ns)
{
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	struct io_boost *boost = &task->io_boost;
	struct io_check *check = &boost->check;
	uint32_t level;

	if (!domain || !io_check_update(check, &engine->policy.io_boost, boost->io_waits,
					predict_step(domain, task), now_ns))
		return;
	level = domain_level(domain);
	if (check->state == IO_CHECK_TRIAL)
		boost->base_level = level;
	else if (check->state == IO_CHECK_PAID)
		boost->ratio = io_ratio_of_saved(check->measured_ppm, boost->base_level, level);
	boosts_settle_task(engine, task, now_ns);
}

void boosts_sample_counted(struct engine *engine, struct task *task, uint64_t now_ns)
{
	if (task->io_boost.device == IO_BOOST_NO_DEVICE &&
	    task->io_boost.state != IO_BOOST_MEASURING && !io_boost_is_over(&task->io_boost))
		advance_counted(engine, task, now_ns);
}

static void end_flip(struct engine *engine, struct task *task, uint64_t now_ns)
{
	if (!task->flip.until_ns || now_ns < task->flip.until_ns)
		return;
	engine->domains[task->flip.domain].due = true;
	task->flip.until_ns = 0;
}

void boosts_advance(struct engine *engine, uint64_t now_ns)
{
	struct task *task = NULL;

	while ((task = task_table_next(engine->tasks, task))) {
		end_flip(engine, task, now_ns);
		io_boost_expire(&task->io_boost, now_ns);
		if (io_boost_is_over(&task->io_boost))
			grant(engine, task, false);
	}
	advance_devices(engine, now_ns);
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

void boosts_end_device(struct engine *engine, uint32_t index)
{
	struct task *task = NULL;

	drop_interrupt_boost(engine, &engine->devices[index]);
	io_device_init(&engine->devices[index]);
	while ((task = task_table_next(engine->tasks, task))) {
		if (task->io_boost.device != index)
			continue;
		grant(engine, task, false);
		io_boost_restart(&task->io_boost);
	}
}

uint64_t boosts_next_ns(const struct engine *engine)
{
	uint64_t next_ns = engine->devices_next_ns;
	const struct task *task = NULL;

	while ((task = task_table_next(engine->tasks, task))) {
		if (task->flip.until_ns)
			next_ns = earlier(next_ns, task->flip.until_ns);
		if (!io_boost_is_over(&task->io_boost))
			next_ns = earlier(next_ns, task->io_boost.next_ns);
	}
	return next_ns;
}
