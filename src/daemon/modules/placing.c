// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/placing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/discovery.h"
#include "actuator/task.h"
#include "core/pid_index.h"
#include "core/rule.h"
#include "daemon/journal.h"
#include "shared/log.h"
#include "shared/time.h"
#include "tracer/placing.h"

#define HINT_KEY (1ULL << 63) /* marks the key of a group as the number of a hint */

static struct placed_task *find_task(const struct placing *placing, uint32_t pid)
{
	uint32_t place = pid_index_find(placing->index, pid);

	return place == PID_INDEX_NONE ? NULL : &placing->tasks[place];
}

const char *placing_why_not(const struct placing *placing)
{
	if (placing->caches.n < 2)
		return "all CPUs share one last-level cache, and there are no clusters";
	if (placing->core->policy.backend == POLICY_BACKEND_OBSERVE)
		return "wakegovd only observes";
	return NULL;
}

static void set_cache(struct placing *placing, struct placed_task *task, uint32_t cache)
{
	struct placed_group *group = &placing->groups[task->group];

	if (task->cache != PLACEMENT_NO_CACHE)
		group->n_in[task->cache]--;
	task->cache = cache;
	if (cache != PLACEMENT_NO_CACHE)
		group->n_in[cache]++;
}

/* The cache to which to keep the task. The placement of one whose cache is released is over. */
static uint32_t wanted_cache(struct placing *placing, struct placed_task *task)
{
	struct placement *placement = &placing->groups[task->group].placement;

	/* For a while, so task->cache stays. */
	if (placement->aside || placing->core->handed_back_until_ns)
		return PLACEMENT_NO_CACHE;
	if (!placement_holds(placement, task->cache))
		set_cache(placing, task, PLACEMENT_NO_CACHE);
	return task->cache;
}

static void apply_to_task(struct placing *placing, struct placed_task *task)
{
	uint32_t cache = wanted_cache(placing, task);
	int r;

	if (cache == PLACEMENT_NO_CACHE)
		r = affinities_release_task(placing->affinities, task->pid);
	else
		r = affinities_keep(placing->affinities, task->pid, &placing->caches.cpus[cache]);
	/* -EINVAL: a per-CPU kernel thread, or its cpuset has no CPU there that is online. */
	if (r >= 0 || r == -EINVAL)
		return;
	if (!placing->refused)
		log_warning("task %u cannot be placed: %s; it, and others like it, are left as "
			    "they are",
			    task->pid, strerror(-r));
	placing->refused = true;
}

static void watch(struct placing *placing, uint32_t group)
{
	const struct placed_group *of = &placing->groups[group];

	tracer_watch_group(placing->core->tracer, group, of->placement.held,
			   of->next_ns == UINT64_MAX);
}

static void apply(struct placing *placing, uint32_t group)
{
	uint32_t place = pid_index_next(placing->index, 0);

	for (; place != PID_INDEX_NONE; place = pid_index_next(placing->index, place + 1))
		if (placing->tasks[place].group == group)
			apply_to_task(placing, &placing->tasks[place]);
	watch(placing, group);
	log_debug("placement of %s: caches %llx: %s", placing->groups[group].rule,
		  (unsigned long long)placing->groups[group].placement.held,
		  placement_why_text(placing->groups[group].placement.why));
}

/*
 * Looks at a group. One that was idle since the last look is looked at when one of its tasks wakes
 * up.
 */
static void look(struct placing *placing, uint32_t index, uint64_t now_ns)
{
	struct core *core = placing->core;
	struct placement_machine *machine = &placing->machine;
	struct placed_group *group = &placing->groups[index];
	struct placement_counts counts;
	bool changed, slept;

	if (core->handed_back_until_ns)
		return;
	tracer_read_group(core->tracer, index, &counts);
	for (uint32_t i = 0; i < machine->n_caches; i++)
		machine->caches[i].busy_ns = tracer_cache_busy_ns(core->tracer, i, now_ns);
	slept = group->seen == counts.run_ns;
	group->seen = counts.run_ns;
	changed = placement_look(&group->placement, machine, &counts, now_ns);
	group->next_ns = slept && group->n_tasks ? UINT64_MAX
						 : placement_next_ns(&group->placement);
	if (changed)
		apply(placing, index);
	else
		watch(placing, index);
}

static void run(void *state, uint64_t now_ns)
{
	struct placing *placing = state;
	struct placed_group *groups = placing->groups;
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < PLACEMENT_GROUPS_MAX; i++) {
		struct placement *placement = &groups[i].placement;

		/* While the domains are handed back no task is placed; it may end at any time. */
		if (placing->core->handed_back_until_ns) {
			groups[i].next_ns = 0;
			if (!groups[i].key || !(placement->held | placement->aside))
				continue;
			placement_init(placement, groups[i].key);
			apply(placing, i);
		} else if (groups[i].key) {
			if (groups[i].next_ns <= now_ns)
				look(placing, i, now_ns);
			if (groups[i].next_ns < next_ns)
				next_ns = groups[i].next_ns;
		}
	}
	placing->next_ns = next_ns;
}

static uint64_t next_ns(void *state, uint64_t now_ns, uint64_t others_ns)
{
	return ((const struct placing *)state)->next_ns;
}

/* The index of the task's group, added if need be; PLACEMENT_GROUPS_MAX: none, or no room. */
static uint32_t find_or_add_group(struct placing *placing, uint32_t pid)
{
	struct core *core = placing->core;
	const struct rules_task *known = rules_find(core->rules, pid);
	struct placed_group *groups = placing->groups;
	uint32_t free = PLACEMENT_GROUPS_MAX;
	const struct policy_rule *of;
	const struct hint *hint;
	uint64_t key;
	int rule;

	if (!known || !placing->wanted || placing_why_not(placing))
		return PLACEMENT_GROUPS_MAX;
	rule = rule_that_gives_anywhere(&core->policy, known->matched, RULE_PLACEMENT);
	if (rule < 0 ||
	    core->policy.rules[rule].properties.placement.value != POLICY_PLACEMENT_FORK_SPREAD)
		return PLACEMENT_GROUPS_MAX;
	of = &core->policy.rules[rule];
	hint = rules_hint_of(core->rules, (uint32_t)rule, pid);
	key = hint ? hint->id | HINT_KEY : known->cgroup_id;
	for (uint32_t i = PLACEMENT_GROUPS_MAX; key && i-- > 0;) {
		if (groups[i].key == key && !strcmp(groups[i].rule, of->name))
			return i;
		if (!groups[i].key)
			free = i;
	}
	if (free == PLACEMENT_GROUPS_MAX)
		return free;
	groups[free] = (struct placed_group){ .key = key, .next_ns = UINT64_MAX };
	strcpy(groups[free].rule, of->name);
	placement_init(&groups[free].placement, key);
	tracer_clear_group(core->tracer, free);
	return free;
}

/* The cache with the fewest tasks of the group for each CPU. */
static uint32_t emptiest_cache(const struct placing *placing, const struct placed_group *group)
{
	const struct placement_cache *caches = placing->machine.caches;
	uint32_t best = PLACEMENT_NO_CACHE;

	for (uint32_t i = 0; i < placing->machine.n_caches; i++)
		if (caches[i].n_cpus &&
		    (best == PLACEMENT_NO_CACHE ||
		     group->n_in[i] * caches[best].n_cpus < group->n_in[best] * caches[i].n_cpus))
			best = i;
	return best;
}

static void add_task(struct placing *placing, uint32_t pid, uint32_t index)
{
	struct core *core = placing->core;
	struct placed_group *group = &placing->groups[index];
	uint32_t place = pid_index_add(placing->index, pid);
	struct placed_task *task;

	if (place == PID_INDEX_NONE || tracer_place_task(core->tracer, pid, index) < 0)
		return;
	task = &placing->tasks[place];
	*task = (struct placed_task){ pid, index, PLACEMENT_NO_CACHE };
	group->n_tasks++;
	tracer_place(core->tracer, pid_index_count(placing->index), PLACEMENT_FULL_NS);
	set_cache(placing, task, emptiest_cache(placing, group));
	look(placing, index, time_now_ns());
	apply_to_task(placing, task);
}

/* Removes the task, and its group after the last one. */
static void remove_task(struct placing *placing, struct placed_task *task)
{
	struct core *core = placing->core;
	struct placed_group *group = &placing->groups[task->group];

	set_cache(placing, task, PLACEMENT_NO_CACHE);
	pid_index_remove(placing->index, task - placing->tasks);
	tracer_unplace_task(core->tracer, task->pid);
	if (!--group->n_tasks) {
		tracer_watch_group(core->tracer, group - placing->groups, 0, false);
		group->key = 0;
	}
	tracer_place(core->tracer, pid_index_count(placing->index), PLACEMENT_FULL_NS);
}

/* A task whose rules are up to date; tgid and parent may be 0. */
static void place_task(struct placing *placing, uint32_t pid, uint32_t tgid, uint32_t parent)
{
	struct placed_task *task = find_task(placing, pid);
	uint32_t index;

	if (!placing->wanted && !task && !affinities_knows(placing->affinities, pid))
		return;
	/* The record of its fork was lost. */
	if (!affinities_knows(placing->affinities, pid) &&
	    !affinities_forked(placing->affinities, tgid, pid))
		affinities_forked(placing->affinities, parent, pid);
	index = find_or_add_group(placing, pid);
	if (task && task->group == index)
		return;
	if (task)
		remove_task(placing, task);
	if (index < PLACEMENT_GROUPS_MAX) {
		add_task(placing, pid, index);
		return;
	}
	tracer_unplace_task(placing->core->tracer, pid);
	affinities_release_task(placing->affinities, pid);
}

static void task_seen(void *state, const struct task_facts *facts)
{
	place_task(state, facts->pid, facts->tgid, facts->parent);
}

static void task_rehinted(void *state, uint32_t pid)
{
	place_task(state, pid, 0, 0);
}

static void task_ended(void *state, uint32_t pid)
{
	struct placing *placing = state;
	struct placed_task *task = find_task(placing, pid);

	if (task)
		remove_task(placing, task);
	affinities_forget(placing->affinities, pid);
}

/* It joins its parent's group at once; a record of the rules that it matches follows. */
static void on_child(struct placing *placing, const struct wakegov_record *record)
{
	const struct placed_task *parent = find_task(placing, record->parent);

	affinities_forked(placing->affinities, record->parent, record->pid);
	if (parent && !find_task(placing, record->pid))
		add_task(placing, record->pid, parent->group);
}

static void on_event(void *state, const struct wakegov_record *record, uint64_t now_ns)
{
	struct placing *placing = state;
	struct placed_group *group;

	if (record->type == WAKEGOV_RECORD_PLACED_CHILD)
		on_child(placing, record);
	if ((record->type != WAKEGOV_RECORD_GROUP_WAKES &&
	     record->type != WAKEGOV_RECORD_FULL_CACHE) ||
	    record->group >= PLACEMENT_GROUPS_MAX || !placing->groups[record->group].key)
		return;
	group = &placing->groups[record->group];
	if (record->type == WAKEGOV_RECORD_GROUP_WAKES)
		group->next_ns = 0;
	else if (placement_full(&group->placement, record->cache, time_now_ns()))
		apply(placing, record->group);
}

static void rules_changed(void *state)
{
	struct placing *placing = state;
	uint32_t place;

	placing->wanted = rule_any_gives(&placing->core->policy, RULE_PLACEMENT);
	place = pid_index_next(placing->index, 0);
	for (; place != PID_INDEX_NONE; place = pid_index_next(placing->index, place + 1))
		place_task(placing, placing->tasks[place].pid, 0, 0);
}

static void cpus_changed(void *state)
{
	struct placing *placing = state;
	struct core *core = placing->core;
	struct cpu_mask online;

	affinity_read_online(&online);
	for (uint32_t i = 0; i < placing->caches.n; i++) {
		placing->machine.caches[i].n_cpus = 0;
		for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
			placing->machine.caches[i].n_cpus += cpu_mask_has(&placing->caches.cpus[i],
									  cpu) &&
							     cpu_mask_has(&online, cpu);
		tracer_set_cache_size(core->tracer, i, placing->machine.caches[i].n_cpus);
	}
	for (uint32_t i = 0; i < PLACEMENT_GROUPS_MAX; i++)
		if (placing->groups[i].key)
			look(placing, i, time_now_ns());
}

static int start(void *state)
{
	struct placing *placing = state;
	struct core *core = placing->core;

	placing->next_ns = UINT64_MAX;
	placing->affinities = affinities_new(core->options->run_dir);
	placing->index = pid_index_new(AFFINITIES_MAX);
	placing->tasks = calloc(AFFINITIES_MAX, sizeof(*placing->tasks));
	if (!placing->affinities || !placing->index || !placing->tasks)
		return -ENOMEM;
	caches_discover(core->topology->n_cpus, &placing->caches);
	placing->machine.n_caches = placing->caches.n;
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
		tracer_set_cpu_cache(core->tracer, cpu, caches_of_cpu(&placing->caches, cpu));
	cpus_changed(placing);
	return 0;
}

static void released(void *state)
{
	struct placing *placing = state;
	int r = 0;

	if (placing->affinities)
		r = affinities_release(placing->affinities, journal_report_restore, NULL);
	journal_log_left(r, "the affinity of tasks", placing->core->options->run_dir, "affinities");
}

static void free_tables(void *state)
{
	struct placing *placing = state;

	affinities_free(placing->affinities);
	pid_index_free(placing->index);
	free(placing->tasks);
}

const struct module placing_module = {
	.name = "placement",
	.start = start,
	.released = released,
	.free = free_tables,
	.rules_changed = rules_changed,
	.task_seen = task_seen,
	.task_rehinted = task_rehinted,
	.task_ended = task_ended,
	.on_event = on_event,
	.cpus_changed = cpus_changed,
	.run = run,
	.next_ns = next_ns,
};
