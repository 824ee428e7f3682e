// SPDX-License-Identifier: GPL-2.0-only
/*
 * The per-task boost that was proposed in 2024, as posted: a task climbs through levels as long as
 * the number of its I/O waits grows with them. Version 1 boosts a run queue while the task is on
 * it, version 2 holds the boost of the CPU for a millisecond. That the boost made a task seem
 * larger to energy-aware placement is not modelled.
 */
#include "sim/schedutil.h"

#define LEVELS	    8
#define LEVEL_CAP   102 /* 1024 / 1.25 / 8 */
#define INTERVAL_NS 25000000ULL
#define WAITS_MIN   25
#define STEP	    5
#define TIMEOUT_NS  10000000ULL
#define HELD_NS	    1000000ULL

static uint32_t step_of(uint32_t threshold, bool is_v2)
{
	return is_v2 && threshold >> 8 > STEP ? threshold >> 8 : STEP;
}

static uint32_t less(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

/* Intervals are (level + 1) long: n is scaled to the length of the next. */
static void go_up(struct schedutil_task *task, bool is_v2)
{
	uint32_t scaled;

	/* Version 1 as posted would run past its table here. */
	if (task->level == LEVELS)
		return;
	task->level++;
	scaled = task->n * (task->level + 1) / task->level;
	task->threshold = scaled + step_of(scaled, is_v2);
}

static void go_down(struct schedutil_task *task, bool is_v2)
{
	uint32_t scaled;

	if (task->level <= 1) {
		task->level = 0;
		return;
	}
	/* As posted, version 1 goes up where it means to go down. */
	if (!is_v2) {
		go_up(task, is_v2);
		return;
	}
	task->level--;
	scaled = task->n * task->level / (task->level + 1);
	task->threshold = less(scaled, step_of(scaled, is_v2));
}

static void follow_top(struct schedutil_task *task, uint32_t step)
{
	uint32_t threshold = less(task->n, step);

	if (task->n > task->threshold + step || threshold > task->threshold)
		task->threshold = threshold;
}

void schedutil_task_end_interval(struct schedutil_task *task, bool is_v2)
{
	uint32_t step = step_of(task->threshold, is_v2);

	if (task->n < WAITS_MIN)
		task->level = 0;
	else if (!task->level)
		go_up(task, is_v2);
	else if (task->n < task->threshold)
		go_down(task, is_v2);
	else if (task->level == LEVELS)
		follow_top(task, step);
	else if (task->n > task->threshold + step)
		go_up(task, is_v2);
}

/* Waits are counted as they begin; a sleep for anything else ends it all. */
void schedutil_task_sleep(struct schedutil_task *task, bool in_iowait, uint64_t now_ns, bool is_v2)
{
	if (!in_iowait) {
		*task = (struct schedutil_task){};
		return;
	}
	task->timeout_ns = now_ns + TIMEOUT_NS;
	if (task->interval_start_ns) {
		task->n++;
		if (now_ns < task->interval_start_ns + (task->level + 1) * INTERVAL_NS)
			return;
		schedutil_task_end_interval(task, is_v2);
	}
	task->interval_start_ns = now_ns;
	task->n = 1;
}

/* A wait that took too long ends it as well. */
static uint32_t wake(struct schedutil *su, const struct sim *sim, const struct sim_thread *thread)
{
	struct schedutil_task *task = &su->tasks[thread->index];

	if (sim->now_ns > task->timeout_ns)
		*task = (struct schedutil_task){};
	return task->level * LEVEL_CAP;
}

static void update_v1(struct schedutil *su, struct sim *sim, uint32_t cpu,
		      const struct sim_thread *thread)
{
	if (thread)
		wake(su, sim, thread);
}

static uint32_t task_cap(const struct schedutil *su, const struct sim_thread *thread)
{
	return thread ? su->tasks[thread->index].level * LEVEL_CAP : 0;
}

static uint32_t cap_v1(struct schedutil *su, struct sim *sim, uint32_t cpu)
{
	uint32_t most = task_cap(su, sim->cpus[cpu].current);

	if (su->waking && su->waking->cpu == cpu && task_cap(su, su->waking) > most)
		most = task_cap(su, su->waking);
	for (const struct sim_thread *t = sim->cpus[cpu].first; t; t = t->next)
		if (task_cap(su, t) > most)
			most = task_cap(su, t);
	return most;
}

static void sleep_v1(struct schedutil *su, struct sim *sim, const struct sim_thread *thread)
{
	schedutil_task_sleep(&su->tasks[thread->index], thread->in_iowait, sim->now_ns, false);
}

/* The boost of the last task that has one. */
static void update_v2(struct schedutil *su, struct sim *sim, uint32_t cpu,
		      const struct sim_thread *thread)
{
	struct schedutil_cpu *c = &su->cpus[cpu];
	uint32_t cap = thread ? wake(su, sim, thread) : 0;

	if (!cap)
		return;
	c->held_cap = cap;
	c->held_until_ns = sim->now_ns + HELD_NS;
}

static uint32_t cap_v2(struct schedutil *su, struct sim *sim, uint32_t cpu)
{
	const struct schedutil_cpu *c = &su->cpus[cpu];

	return sim->now_ns <= c->held_until_ns ? c->held_cap : 0;
}

static void sleep_v2(struct schedutil *su, struct sim *sim, const struct sim_thread *thread)
{
	schedutil_task_sleep(&su->tasks[thread->index], thread->in_iowait, sim->now_ns, true);
}

const struct schedutil_boost schedutil_boost_v1 = {
	.on_update = update_v1,
	.cap = cap_v1,
	.on_sleep = sleep_v1,
};

const struct schedutil_boost schedutil_boost_v2 = {
	.on_update = update_v2,
	.cap = cap_v2,
	.on_sleep = sleep_v2,
};
