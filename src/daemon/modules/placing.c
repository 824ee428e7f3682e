// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorts the tasks of rules and classes with a placement into groups, keeps each task by its
 * affinity to one of the last-level caches when it is forked, and releases a cache that the kernel
 * side reports as full (core/placement.h).
 */
#include "daemon/modules/modules.h"

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

const char *placing_group_why(const struct placing *placing, const struct placed_group *group)
{
	static const char *const texts[] = {
		[PLACEMENT_HELD] = "it is kept",
		[PLACEMENT_FULL] = "released: no CPU of the cache was idle",
		[PLACEMENT_OFFLINE] = "released: the CPUs of the cache are offline",
	};

	return placing->handed_back ? "released: the domains are handed back"
				    : texts[group->placement.why];
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

/* The placement of a task whose cache is released is over. A hand-back is for a while. */
static void apply_to_task(struct placing *placing, struct placed_task *task)
{
	int r;

	if (!placement_holds(&placing->groups[task->group].placement, task->cache))
		set_cache(placing, task, PLACEMENT_NO_CACHE);
	if (task->cache == PLACEMENT_NO_CACHE || placing->core->handed_back_until_ns)
		r = affinities_release_task(placing->affinities, task->pid);
	else
		r = affinities_keep(placing->affinities, task->pid,
				    &placing->caches.cpus[task->cache]);
	/* -EINVAL: a per-CPU kernel thread, or its cpuset has no CPU there that is online. */
	if (r >= 0 || r == -EINVAL)
		return;
	if (!placing->refused)
		log_warning("task %u cannot be placed: %s; it, and others like it, are left as "
			    "they are",
			    task->pid, strerror(-r));
	placing->refused = true;
}

static void apply(struct placing *placing, uint32_t group)
{
	uint32_t place = pid_index_next(placing->index, 0);

	for (; place != PID_INDEX_NONE; place = pid_index_next(placing->index, place + 1))
		if (placing->tasks[place].group == group)
			apply_to_task(placing, &placing->tasks[place]);
	tracer_watch_caches(placing->core->tracer, group, placing->groups[group].placement.held);
}

/*
 * A task that sleeps now and then has slept within this time. With twice the time, a queue is slow
 * for longer.
 */
#define STRANDED_NS (20 * NS_PER_MS)

/*
 * The kernel moves a task to a CPU that its clamps ask for when it wakes up. One that never sleeps
 * its load balancer leaves beside an idle big CPU where the little ones have one task too many: it
 * moves half of the difference in idle CPUs (calculate_imbalance()). Its affinity moves it at once.
 */
static void move_stranded(struct placing *placing, uint64_t now_ns)
{
	uint32_t cpu, pid = engine_find_stranded(placing->core->engine, &cpu);
	struct cpu_mask mask = { 0 };

	if (!pid || tracer_is_paused(placing->core->tracer) ||
	    affinities_knows(placing->affinities, pid))
		placing->stranded_ns = now_ns;
	if (now_ns < placing->stranded_ns + STRANDED_NS)
		return;
	cpu_mask_add(&mask, cpu);
	placing->stranded_ns = now_ns;
	if (affinities_keep(placing->affinities, pid, &mask) == AFFINITIES_DONE)
		affinities_release_task(placing->affinities, pid);
	else
		placing->stranded_ns += NS_PER_S; /* it may not run there */
	affinities_forget(placing->affinities, pid);
}

/* When a hand-back begins or ends. */
static void run(void *state, uint64_t now_ns)
{
	struct placing *placing = state;

	move_stranded(placing, now_ns);
	if (placing->handed_back == (placing->core->handed_back_until_ns != 0))
		return;
	placing->handed_back = !placing->handed_back;
	for (uint32_t i = 0; i < PLACEMENT_GROUPS_MAX; i++)
		if (placing->groups[i].key)
			apply(placing, i);
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
	groups[free] = (struct placed_group){ .key = key };
	strcpy(groups[free].rule, of->name);
	return free;
}

/* The cache with the fewest tasks of the group for each CPU. */
static uint32_t emptiest_cache(const struct placing *placing, const struct placed_group *group)
{
	const uint32_t *n_cpus = placing->n_cpus;
	uint32_t best = PLACEMENT_NO_CACHE;

	for (uint32_t i = 0; i < placing->caches.n; i++)
		if (n_cpus[i] && (best == PLACEMENT_NO_CACHE ||
				  group->n_in[i] * n_cpus[best] < group->n_in[best] * n_cpus[i]))
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
	tracer_place(core->tracer, pid_index_count(placing->index));
	set_cache(placing, task, emptiest_cache(placing, group));
	placement_hold(&group->placement, placing->online, time_now_ns());
	tracer_watch_caches(core->tracer, index, group->placement.held);
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
		tracer_watch_caches(core->tracer, group - placing->groups, 0);
		group->key = 0;
	}
	tracer_place(core->tracer, pid_index_count(placing->index));
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

static void release_caches(struct placing *placing, uint32_t group, uint64_t caches,
			   enum placement_why why)
{
	struct placement *placement = &placing->groups[group].placement;

	if (placing->groups[group].key && placement_release(placement, caches, why, time_now_ns()))
		apply(placing, group);
}

static void on_event(void *state, const struct wakegov_record *record, uint64_t now_ns)
{
	struct placing *placing = state;
	const struct placed_task *parent;

	/* It joins its parent's group at once; a record of the rules that it matches follows. */
	if (record->type == WAKEGOV_RECORD_PLACED_CHILD) {
		affinities_forked(placing->affinities, record->parent, record->pid);
		parent = find_task(placing, record->parent);
		if (parent && !find_task(placing, record->pid))
			add_task(placing, record->pid, parent->group);
	} else if (record->type == WAKEGOV_RECORD_FULL_CACHE &&
		   record->group < PLACEMENT_GROUPS_MAX && record->cache < PLACEMENT_CACHES_MAX)
		release_caches(placing, record->group, 1ULL << record->cache, PLACEMENT_FULL);
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
	placing->online = 0;
	for (uint32_t i = 0; i < placing->caches.n; i++) {
		placing->n_cpus[i] = 0;
		for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
			placing->n_cpus[i] += cpu_mask_has(&placing->caches.cpus[i], cpu) &&
					      cpu_mask_has(&online, cpu);
		placing->online |= (uint64_t)(placing->n_cpus[i] != 0) << i;
		tracer_set_cache_size(core->tracer, i, placing->n_cpus[i]);
	}
	for (uint32_t i = 0; i < PLACEMENT_GROUPS_MAX; i++)
		release_caches(placing, i, ~placing->online, PLACEMENT_OFFLINE);
}

static int start(void *state)
{
	struct placing *placing = state;
	struct core *core = placing->core;

	placing->affinities = affinities_new(core->options->run_dir);
	placing->index = pid_index_new(AFFINITIES_MAX);
	placing->tasks = calloc(AFFINITIES_MAX, sizeof(*placing->tasks));
	if (!placing->affinities || !placing->index || !placing->tasks)
		return -ENOMEM;
	caches_discover(core->topology->n_cpus, &placing->caches);
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
		r = task_log_release(&placing->affinities->log, journal_report_restore, NULL);
	journal_log_left(r, "the affinity of tasks", placing->core->options->run_dir, "affinities");
}

static void free_tables(void *state)
{
	struct placing *placing = state;

	affinities_free(placing->affinities);
	pid_index_free(placing->index);
	free(placing->tasks);
}

static bool needs_tracer(const void *state)
{
	const struct placing *placing = state;

	return placing->wanted && !placing_why_not(placing);
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
	.needs_tracer = needs_tracer,
};
