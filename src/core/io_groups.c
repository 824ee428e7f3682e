// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which task is in which group (core/io_group.h), and which domains belong to a group: those of its
 * tasks, during a pair of one of its experiments. A domain belongs to one group at a time. At the
 * end, the rates of a block device: requests in flight, reads and writes a second.
 */
#include <stddef.h>

#include "core/boosts.h"
#include "core/experiment_params.h"

/*
 * The first domain of the same kind: a boost has the same effect in both, by the same means. Where
 * clamps choose among CPUs of unlike capacity, all are of one kind: what is tried has the tasks
 * move from one to the other.
 */
static uint32_t kind_of(const struct engine *engine, uint32_t domain)
{
	const struct topology_domain *info = &engine->domains[domain].info;

	for (uint32_t i = 0; i < domain; i++) {
		const struct topology_domain *other = &engine->domains[i].info;

		if (engine->domains[i].clamps != engine->domains[domain].clamps)
			continue;
		if (engine_places_by_clamps(engine, domain))
			return i;
		if (other->capacity == info->capacity && other->n_opps == info->n_opps &&
		    topology_domain_max_khz(other) == topology_domain_max_khz(info))
			return i;
	}
	return domain;
}

static bool is_for(const struct engine *engine, const struct io_group *group,
		   const struct io_task *task, uint32_t kind)
{
	const struct io_boost *boost = &task->io_boost;

	if (!group->used || group->device != boost->device || group->kind != kind)
		return false;
	if (boost->device == IO_BOOST_NO_DEVICE)
		return group->tgid == task->tgid;
	if (group->waits_for_io != boost->waits_for_io)
		return false;
	return io_are_alike(group->ratio, boost->held_ratio) &&
	       io_are_alike(group->depth_milli, boost->depth_milli);
}

/* A free group, or the one without tasks for the longest time. NULL: all have tasks. */
static struct io_group *claim_group(struct engine *engine)
{
	struct io_group *oldest = NULL;

	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++) {
		struct io_group *group = &engine->groups[i];

		if (!group->used)
			return group;
		if (!group->n_tasks && (!oldest || group->seen_ns < oldest->seen_ns))
			oldest = group;
	}
	return oldest;
}

/* Starts a group with the results of the group from which its first task comes. */
static void begin_group(struct engine *engine, struct io_group *group, const struct io_task *task,
			uint32_t kind, uint64_t now_ns)
{
	const struct io_boost *boost = &task->io_boost;
	const struct io_group *from = NULL;

	if (boost->group != IO_BOOST_NO_GROUP &&
	    engine->groups[boost->group].device == boost->device)
		from = &engine->groups[boost->group];
	*group = (struct io_group){
		.used = true,
		.device = boost->device,
		.tgid = boost->device == IO_BOOST_NO_DEVICE ? task->tgid : 0,
		.kind = kind,
		.waits_for_io = boost->waits_for_io,
		.ratio = boost->held_ratio,
		.depth_milli = boost->depth_milli,
	};
	experiment_init(&group->experiment, ++engine->n_groups_begun);
	if (from && from->question != IO_QUESTION_KERNELS &&
	    from->experiment.verdict > EXPERIMENT_OPEN) {
		group->experiment = from->experiment;
		group->experiment.random ^= engine->n_groups_begun;
		group->experiment.phase = EXPERIMENT_RESTS;
		group->experiment.is_boosted = group->experiment.rests_boosted;
		group->found_ratio = from->found_ratio;
		experiment_disturb(&group->experiment, now_ns);
		group->experiment.next_ns = now_ns + TRIAL_LOOK_NS;
	}
}

void io_groups_plan(struct engine *engine)
{
	engine->groups_next_ns = UINT64_MAX;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (engine->groups[i].used &&
		    engine->groups[i].experiment.next_ns < engine->groups_next_ns)
			engine->groups_next_ns = engine->groups[i].experiment.next_ns;
}

static void look_soon(struct engine *engine, struct io_group *group, uint64_t now_ns)
{
	if (group->experiment.next_ns == UINT64_MAX)
		group->experiment.next_ns = group->due_ns > now_ns ? group->due_ns : now_ns;
	if (group->experiment.next_ns < engine->groups_next_ns)
		engine->groups_next_ns = group->experiment.next_ns;
}

void io_groups_rest(struct engine *engine, uint32_t index)
{
	struct io_group *group = &engine->groups[index];

	if (group->experiment.phase || group->experiment.next_ns == UINT64_MAX)
		return;
	group->due_ns = group->experiment.next_ns;
	group->experiment.next_ns = UINT64_MAX;
	io_groups_plan(engine);
}

void io_groups_see_end(struct engine *engine, uint32_t index)
{
	if (index == IO_BOOST_NO_GROUP)
		return;
	engine_for_each_due(engine, DUE_IN_GROUP, index, task)
		if (!io_boost_is_over(&task->io_boost))
			return;
	io_groups_rest(engine, index);
}

void io_groups_leave(struct engine *engine, struct io_task *task)
{
	uint32_t index = task->io_boost.group;

	if (index == IO_BOOST_NO_GROUP)
		return;
	task->io_boost.group = IO_BOOST_NO_GROUP;
	if (!--engine->groups[index].n_tasks)
		io_groups_rest(engine, index);
}

/*
 * Tasks leave and join a group as they move between domains, so the number of tasks on the device
 * shows whether the load has changed.
 */
void io_groups_see_users(struct engine *engine, uint32_t device, uint64_t now_ns)
{
	uint32_t n_users = engine->devices[device].n_users;

	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++) {
		struct io_group *group = &engine->groups[i];

		if (!group->used || group->device != device || !group->n_asked ||
		    io_are_alike(group->n_asked, n_users))
			continue;
		group->n_asked = n_users;
		experiment_disturb(&group->experiment, now_ns);
		if (group->experiment.next_ns < engine->groups_next_ns)
			engine->groups_next_ns = group->experiment.next_ns;
	}
}

struct io_group *io_groups_join(struct engine *engine, struct io_task *task, uint64_t now_ns)
{
	uint32_t kind = kind_of(engine, topology_domain_of(engine->topology, task->cpu));
	struct io_group *group = NULL;

	if (task->io_boost.group != IO_BOOST_NO_GROUP)
		group = &engine->groups[task->io_boost.group];
	/* A task that moves to and fro does not change its group with each move. */
	if (group && task->flip.holds)
		kind = group->kind;
	if (!group || !is_for(engine, group, task, kind)) {
		for (group = engine->groups; group < engine->groups + IO_GROUPS_MAX; group++)
			if (is_for(engine, group, task, kind))
				break;
		if (group == engine->groups + IO_GROUPS_MAX) {
			group = claim_group(engine);
			if (!group)
				return NULL;
			begin_group(engine, group, task, kind, now_ns);
		}
		io_groups_leave(engine, task);
		task->io_boost.group = group - engine->groups;
		group->n_tasks++;
		group->seen_ns = now_ns;
	}
	look_soon(engine, group, now_ns);
	return group;
}

void io_groups_end_trial(struct engine *engine, uint32_t index)
{
	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		if (engine->domains[i].trial == index + 1) {
			engine->domains[i].trial = 0;
			engine_mark_domain(engine, i);
		}
}

void io_groups_begin_trial(struct engine *engine, uint32_t index)
{
	for (uint32_t i = 0; i < engine->topology->n_domains; i++)
		if (engine_places_by_clamps(engine, i) &&
		    engine->domains[engine->groups[index].kind].clamps)
			engine->domains[i].trial = index + 1;
	engine_for_each_due(engine, DUE_IN_GROUP, index, task) {
		struct domain *domain = engine_domain_of(engine, task->cpu);

		if (domain && !domain->trial && !io_boost_is_over(&task->io_boost))
			domain->trial = index + 1;
	}
	for (uint32_t cpu = 0; cpu < engine->topology->n_cpus; cpu++) {
		const struct io_task *task = engine_served_on(engine, cpu);
		struct domain *domain = engine_domain_of(engine, cpu);

		if (task && task->io_boost.group == index && domain && !domain->trial)
			domain->trial = index + 1;
	}
}

void io_groups_forget(struct engine *engine, uint32_t index)
{
	engine_for_each_due(engine, DUE_IN_GROUP, index, task)
		task->io_boost.group = IO_BOOST_NO_GROUP;
	io_groups_end_trial(engine, index);
	engine->groups[index].used = false;
	io_groups_plan(engine);
}

bool io_groups_leave_out(const struct engine *engine, const struct domain *domain,
			 const struct io_task *task)
{
	const struct io_group *trial = engine_group(engine, domain->trial - 1);
	const struct io_group *own = engine_group(engine, task->io_boost.group);

	if (!trial || trial->experiment.is_boosted)
		return false;
	return trial->experiment.verdict != EXPERIMENT_OPEN || !own || own->kind != trial->kind ||
	       own->experiment.verdict == EXPERIMENT_OPEN;
}

const struct io_group *engine_group(const struct engine *engine, uint32_t group)
{
	return group < IO_GROUPS_MAX ? &engine->groups[group] : NULL;
}

#define LEAST_RATE_NS 10000000ULL /* rates over less say little */

void io_device_init(struct io_device *device)
{
	*device = (struct io_device){
		.next_ns = UINT64_MAX,
		.completion_domain = IO_DEVICE_NO_DOMAIN,
		.edge_ns = UINT64_MAX,
	};
}

/* Rates from the last sample that is far enough back. */
static void update_rates(struct io_device *device)
{
	struct io_device_rates *rates = &device->rates;
	const struct input_device *now = &device->totals, *since = &rates->since;
	uint64_t elapsed_ns = device->sampled_ns - rates->since_ns;

	if (rates->since_ns && now->completions >= since->completions &&
	    now->in_flight_ns >= since->in_flight_ns) {
		if (elapsed_ns < LEAST_RATE_NS)
			return;
		rates->known = true;
		rates->completions_per_s = (now->completions - since->completions) * NS_PER_S /
					   elapsed_ns;
		rates->depth_milli = (now->in_flight_ns - since->in_flight_ns) * 1000 / elapsed_ns;
	}
	rates->since = *now;
	rates->since_ns = device->sampled_ns;
}

void io_device_sample(struct io_device *device, const struct input_device *totals,
		      uint32_t completion_domain, uint64_t now_ns)
{
	bool moved = totals->completions != device->totals.completions;

	if (completion_domain != device->completion_domain) {
		device->completion_domain = completion_domain;
		device->n_completed_there = 0;
	} else if (moved) {
		device->n_completed_there++;
	}
	device->present = true;
	device->totals = *totals;
	device->sampled_ns = now_ns;
	update_rates(device);
}

/*
 * Groups that take from each other. On a full disk what one gains by its boost
 * others lose: either each of them finds that its boost pays, and together they do no more than
 * without, or only one does, and the others are slower. So all of that device with one request at a
 * time are asked once more, together: in a pair of any of them all have their boost, or none, and
 * each is judged by its own I/Os. As long as one gains all have their boost, since who had none
 * beside it would lose; else none has.
 */

/* Whether the two are asked together, and the other one has tasks. */
static bool are_asked_together(const struct io_group *a, const struct io_group *b)
{
	return a->question == IO_QUESTION_RIVALS && b->used && b->question == IO_QUESTION_RIVALS &&
	       b->n_tasks && a->device == b->device;
}

/* Whether its tasks can take from others of the device, and those from them. */
static bool is_rival(const struct io_group *group, uint32_t device)
{
	return group->used && group->device == device && group->n_tasks &&
	       group->depth_milli <= ALONE_MILLI;
}

/* Whether its boost pays, at the cost of others. */
static bool takes(const struct io_group *group)
{
	return is_rival(group, group->device) && group->question != IO_QUESTION_KERNELS &&
	       group->experiment.rests_boosted && group->experiment.verdict > EXPERIMENT_OPEN &&
	       evidence_others_lose(&group->experiment.evidence, HINT);
}

void io_rivals_ask(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_group *group = &engine->groups[index];
	uint32_t n = 0;

	if (group->device == IO_BOOST_NO_DEVICE || group->question == IO_QUESTION_RIVALS ||
	    !takes(group))
		return;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		n += is_rival(&engine->groups[i], group->device);
	if (n < 2)
		return;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++) {
		struct io_group *other = &engine->groups[i];

		if (!is_rival(other, group->device))
			continue;
		other->question = IO_QUESTION_RIVALS;
		experiment_spoil(&other->experiment); /* a pair under way was of another question */
		experiment_ask_again(&other->experiment, now_ns);
	}
}

bool io_rivals_rest(const struct engine *engine, const struct io_group *group)
{
	bool rest = group->experiment.rests_boosted;

	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (are_asked_together(group, &engine->groups[i]))
			rest |= engine->groups[i].experiment.rests_boosted;
	return rest;
}

bool io_rivals_arm(const struct engine *engine, const struct io_group *group)
{
	if (group->question != IO_QUESTION_RIVALS)
		return group->experiment.is_boosted;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (are_asked_together(group, &engine->groups[i]) &&
		    engine->groups[i].experiment.phase)
			return engine->groups[i].experiment.is_boosted;
	return io_rivals_rest(engine, group);
}

bool io_rivals_are_tried(const struct engine *engine, uint32_t index)
{
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++) {
		const struct io_group *other = &engine->groups[i];

		if (i != index && are_asked_together(&engine->groups[index], other) &&
		    other->experiment.phase)
			return true;
	}
	return false;
}
