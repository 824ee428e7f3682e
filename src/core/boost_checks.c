// SPDX-License-Identifier: GPL-2.0-only
/* The checks of block devices: whether their tasks' boosts pay, and a boost where they complete. */
#include <stddef.h>

#include "core/engine_private.h"
#include "core/io_model.h"
#include "core/opp.h"

/* What interrupts may be worth before their check says so; sets how long it looks at first. */
#define INTERRUPT_PPM (IO_PPM / 20)

/* The tasks of one device. Sums are weighted by their rates. */
struct group {
	uint32_t n_users;
	uint64_t weight;
	uint64_t saved; /* by a boost of those that one may serve: the others stay as they are … */
	uint64_t most;	/* … and from the lowest OPP */
	uint64_t share; /* of host time at the highest level of all … */
	uint64_t share_weight;

	/* … and those that a boost may serve: */
	uint32_t n;
	uint64_t served_weight;
	uint64_t level;
	bool runs_in_interrupt_domain;
};

static void add_to_group(const struct engine *engine, const struct task *task, struct group *group,
			 uint64_t now_ns)
{
	const struct io_boost *boost = &task->io_boost;
	const struct domain *domain = engine_domain_of(engine, task->cpu);
	uint64_t rate = boost->rate_per_s;
	uint32_t level, wanted_level;

	if (!domain)
		return;
	if (io_boost_is_over(boost) &&
	    !io_boost_pauses(boost, engine->policy.io_boost.hold_ns, now_ns))
		return;
	group->n_users++;
	group->weight += rate;
	if (boost->state == IO_BOOST_RULED_OUT)
		return;
	if (boost->ratio) {
		group->share += rate * io_share_of_ratio(boost->ratio, IO_LEVEL_MAX);
		group->share_weight += rate;
	}
	if (!boost->wanted_khz || !domain->driven)
		return;
	level = boosts_level(domain);
	wanted_level = io_level_at(domain->info, boost->wanted_khz);
	group->n++;
	group->served_weight += rate;
	group->level += rate * level;
	group->saved += rate * io_saved_ppm(boost->ratio, level, wanted_level);
	group->most += rate * io_saved_ppm(boost->ratio,
					   io_level_at(domain->info, domain->info->opp_khz[0]),
					   wanted_level);
	if (topology_domain_of(engine->topology, task->cpu) ==
	    engine->devices[boost->device].completion_domain)
		group->runs_in_interrupt_domain = true;
}

static bool hold_ratio(struct io_device *device, const struct group *group)
{
	uint32_t before = device->ratio, mean = 0;

	if (group->share_weight)
		mean = io_ratio_of_share(group->share / group->share_weight, IO_LEVEL_MAX);
	device->ratio = io_ratio_hold(before, mean);
	return device->ratio != before;
}

/*
 * One that waits for each of its reads, beside queues that do a hundred times as many: the device
 * would not be seen to do more. What was found to pay is given up later. True when that changed.
 */
static bool weigh(struct io_device *device, const struct policy_io_boost *policy,
		  const struct group *group)
{
	uint64_t least_ppm = io_ppm_of_percent(policy->slack_percent);
	bool before = device->gains_little;

	if (device->check.state == IO_CHECK_PAID)
		least_ppm /= 2;
	device->gains_little = group->n && group->most <= least_ppm * group->weight;
	return device->gains_little != before;
}

/*
 * A result holds for about as many tasks as it was found with; that nothing was gained, until
 * more is predicted, too. Tasks that come and go shorten a back-off, and do not do away with it.
 */
static bool is_stale(const struct io_device *device, uint32_t n, uint32_t predicted_ppm,
		     uint64_t least_ns, uint64_t now_ns)
{
	uint32_t checked = device->checked_users;

	if (least_ns < device->check.backoff_ns / 4)
		least_ns = device->check.backoff_ns / 4;
	if (device->check.state < IO_CHECK_PAID || now_ns - device->checked_ns < least_ns)
		return false;
	if (device->check.state == IO_CHECK_PAID)
		return n >= 2 * checked || 2 * n <= checked;
	return 4 * n > 5 * checked || 4 * n < 3 * checked ||
	       (predicted_ppm > device->check.predicted_ppm &&
		io_check_moved(device->check.predicted_ppm, predicted_ppm));
}

/* True when the check came to say something else. */
static bool advance_check(struct io_device *device, const struct policy_io_boost *policy,
			  const struct group *group, uint64_t now_ns)
{
	struct io_check *check = &device->check;
	enum io_check_state before = check->state;
	uint32_t predicted_ppm = group->weight ? group->saved / group->weight : 0;

	device->n_tasks = group->n;
	if (!group->n || device->gains_little) {
		io_check_stop(check);
		return check->state != before;
	}
	if (is_stale(device, group->n_users, predicted_ppm, policy->backoff_min_ns, now_ns))
		io_check_restart(check, now_ns);
	io_check_update(check, policy, device->totals.completions, predicted_ppm, now_ns);
	if (check->state == before)
		return false;
	if (check->state == IO_CHECK_TRIAL && group->served_weight)
		device->base_level = group->level / group->served_weight;
	if (check->state >= IO_CHECK_PAID) {
		device->checked_users = group->n_users;
		device->checked_ns = now_ns;
	}
	return true;
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

/* One question at a time: only while the tasks themselves are served. */
static bool may_check_interrupts(const struct engine *engine, const struct io_device *device,
				 const struct group *group)
{
	uint32_t domain = device->completion_domain;

	return group->n && !group->runs_in_interrupt_domain &&
	       device->check.state == IO_CHECK_PAID && io_device_completes_in(device, domain) &&
	       domain < engine->topology->n_domains && engine->domains[domain].driven;
}

static void advance_interrupt_check(struct engine *engine, struct io_device *device,
				    struct domain *domain, uint64_t now_ns)
{
	struct io_check *check = &device->interrupt_check;
	enum io_check_state before = check->state;
	uint32_t min_khz, max_khz, highest, ratio;

	/* It is looked at again with the tasks' own, which ends it. */
	if (before == IO_CHECK_PAID)
		return;
	domain_limits(domain, &min_khz, &max_khz);
	highest = io_level_at(domain->info, max_khz);
	if (before == IO_CHECK_BASELINE)
		device->interrupt_level = boosts_level(domain);
	io_check_update(check, &engine->policy.io_boost, device->totals.completions,
			device->interrupt_level < highest ? INTERRUPT_PPM : 0, now_ns);
	if (check->state == before)
		return;
	domain->due = true;
	if (check->state == IO_CHECK_TRIAL) {
		device->interrupt_khz = opp_at_or_above(domain->info, max_khz, min_khz, max_khz);
	} else if (check->state == IO_CHECK_PAID) {
		ratio = io_ratio_of_saved(check->measured_ppm, device->interrupt_level, highest);
		device->interrupt_khz = boosts_choose_khz(engine, domain, ratio);
	}
}

static void advance_interrupts(struct engine *engine, struct io_device *device,
			       const struct group *group, uint64_t now_ns)
{
	if (!may_check_interrupts(engine, device, group)) {
		drop_interrupt_boost(engine, device);
		return;
	}
	if (device->interrupt_domain != device->completion_domain) {
		drop_interrupt_boost(engine, device);
		device->interrupt_domain = device->completion_domain;
		io_check_begin(&device->interrupt_check, now_ns);
	}
	advance_interrupt_check(engine, device, &engine->domains[device->interrupt_domain], now_ns);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* With a result, too, who uses the device and where it completes may change. */
static uint64_t next_look_ns(const struct io_device *device, const struct policy_io_boost *policy,
			     uint64_t now_ns)
{
	uint64_t next_ns = now_ns + policy->check_window_ns;

	if (!device->n_users)
		return UINT64_MAX;
	next_ns = earlier(next_ns, io_check_next_ns(&device->check, policy, now_ns));
	if (device->interrupt_check.state == IO_CHECK_PAID)
		return next_ns;
	return earlier(next_ns, io_check_next_ns(&device->interrupt_check, policy, now_ns));
}

static void look_at(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_device *device = &engine->devices[index];
	struct group group = { 0 };
	bool news;

	engine_for_each_filed(engine, filing_on_device(engine->filing, index), task)
		add_to_group(engine, task, &group, now_ns);
	device->n_users = group.n_users;
	if (device->present && device->sampled_ns == now_ns) {
		news = hold_ratio(device, &group);
		news |= weigh(device, &engine->policy.io_boost, &group);
		news |= advance_check(device, &engine->policy.io_boost, &group, now_ns);
		advance_interrupts(engine, device, &group, now_ns);
		if (news)
			boosts_settle_tasks_of(engine, index, now_ns);
	}
	device->next_ns = next_look_ns(device, &engine->policy.io_boost, now_ns);
}

void boosts_check_devices(struct engine *engine, uint64_t now_ns)
{
	if (now_ns < engine->devices_next_ns)
		return;
	engine->devices_next_ns = UINT64_MAX;
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		if (engine->devices[i].next_ns <= now_ns)
			look_at(engine, i, now_ns);
		engine->devices_next_ns = earlier(engine->devices_next_ns,
						  engine->devices[i].next_ns);
	}
}

/* What was found out of a device is forgotten when nobody used it for the longest back-off. */
struct io_device *boosts_attend_device(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_device *device = &engine->devices[index];

	if (device->next_ns == UINT64_MAX) {
		if (now_ns - device->sampled_ns > engine->policy.io_boost.backoff_max_ns)
			io_check_init(&device->check);
		device->next_ns = now_ns;
		engine->devices_next_ns = now_ns;
	}
	return device;
}

void boosts_forget_device(struct engine *engine, uint32_t index)
{
	drop_interrupt_boost(engine, &engine->devices[index]);
	io_device_init(&engine->devices[index]);
}
