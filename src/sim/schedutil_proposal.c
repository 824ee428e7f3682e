// SPDX-License-Identifier: GPL-2.0-only
/*
 * The per-task boost that was proposed in 2024: a task climbs through levels as long as the number
 * of its I/O waits grows with them. Version 1 boosts a run queue while the task is on it, version
 * 2 holds the boost of the CPU for a millisecond. That the boost made a task seem larger to
 * energy-aware placement is not modelled.
 */
#include "sim/schedutil.h"

#define LEVELS	    8
#define LEVEL_CAP   102 /* 1024 / (8 · 1.25) */
#define INTERVAL_NS 25000000ULL
#define WAITS_MIN   25
#define STEP	    5
#define TIMEOUT_NS  10000000ULL
#define HELD_NS	    1000000ULL

static uint32_t step_of(const struct schedutil_task *task, bool is_v2)
{
	return is_v2 && task->threshold / 256 > STEP ? task->threshold / 256 : STEP;
}

/* Intervals are (level + 1) long: n is scaled to the next one's length. */
void schedutil_task_end_interval(struct schedutil_task *task, bool is_v2)
{
	uint32_t n = task->n, step = step_of(task, is_v2), level = task->level;

	task->n = 0;
	if (n < WAITS_MIN) {
		task->level = 0;
		task->threshold = 0;
	} else if (n > task->threshold + step && level < LEVELS) {
		task->level = level + 1;
		task->threshold = n * (level + 2) / (level + 1) + step;
	} else if (n < task->threshold && level > 0) {
		task->threshold = n * level / (level + 1);
		task->threshold -= step < task->threshold ? step : task->threshold;
		task->level = level - 1;
	}
}

static void count_wait(struct schedutil_task *task, uint64_t now_ns, bool is_v2)
{
	if (now_ns - task->last_ns > TIMEOUT_NS)
		*task = (struct schedutil_task){ .interval_start_ns = now_ns };
	task->last_ns = now_ns;
	task->n++;
	if (now_ns - task->interval_start_ns < (task->level + 1) * INTERVAL_NS)
		return;
	schedutil_task_end_interval(task, is_v2);
	task->interval_start_ns = now_ns;
}

static void update_v1(struct schedutil *su, struct sim *sim, uint32_t cpu,
		      const struct sim_thread *thread)
{
	if (thread)
		count_wait(&su->tasks[thread->index], sim->now_ns, false);
	/* The kernel evaluates with the waking task's boost though it is not queued yet. */
	su->cpus[cpu].held_cap = thread ? su->tasks[thread->index].level * LEVEL_CAP : 0;
}

static uint32_t task_cap(const struct schedutil *su, const struct sim_thread *thread)
{
	return thread ? su->tasks[thread->index].level * LEVEL_CAP : 0;
}

static uint32_t cap_v1(struct schedutil *su, struct sim *sim, uint32_t cpu)
{
	uint32_t most = task_cap(su, sim->cpus[cpu].current);

	if (su->cpus[cpu].held_cap > most)
		most = su->cpus[cpu].held_cap;
	for (const struct sim_thread *t = sim->cpus[cpu].first; t; t = t->next)
		if (task_cap(su, t) > most)
			most = task_cap(su, t);
	return most;
}

static void update_v2(struct schedutil *su, struct sim *sim, uint32_t cpu,
		      const struct sim_thread *thread)
{
	struct schedutil_cpu *c = &su->cpus[cpu];
	uint32_t cap;

	if (!thread)
		return;
	count_wait(&su->tasks[thread->index], sim->now_ns, true);
	cap = task_cap(su, thread);
	if (sim->now_ns >= c->held_until_ns || cap >= c->held_cap) {
		c->held_cap = cap;
		c->held_until_ns = sim->now_ns + HELD_NS;
	}
}

static uint32_t cap_v2(struct schedutil *su, struct sim *sim, uint32_t cpu)
{
	const struct schedutil_cpu *c = &su->cpus[cpu];

	return sim->now_ns < c->held_until_ns ? c->held_cap : 0;
}

const struct schedutil_boost schedutil_boost_v1 = { update_v1, cap_v1 };
const struct schedutil_boost schedutil_boost_v2 = { update_v2, cap_v2 };
