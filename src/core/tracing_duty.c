// SPDX-License-Identifier: GPL-2.0-only
/*
 * When there is something to learn. A program at the start of each request is the dearest part of
 * the kernel side, and tells little new once the boost of every task is settled. So it is there in
 * learning periods: while a task is being measured, and for at most 6 % of the time afterwards. In
 * between the number of requests is enough, for hold times, rates and experiments.
 */
#include <stddef.h>

#include "core/boosts.h"

/* In windows of io-boost.window. */
#define TRACED_WINDOWS_MIN 10  /* the shortest period */
#define TRACED_WINDOWS_MAX 30  /* the longest, whatever is still to be measured */
#define REST_WINDOWS	   190 /* between two periods when nothing changes */
#define REST_FACTOR	   16  /* the rest is at least so many times the period: 6 % duty */
/*
 * The least rest, also before a task that no period has seen: to attach a program again within a
 * grace period of RCU after it was detached would make the daemon wait for the end of that.
 */
#define REST_WINDOWS_MIN 5

static uint64_t rested_ns(const struct engine *engine)
{
	uint64_t since_ns = engine->tracing.since_ns;

	return since_ns ? since_ns + REST_WINDOWS_MIN * engine->policy.io_boost.window_ns : 0;
}

/* Whether a task has to be measured now. One that asks again and again has to wait. */
static bool is_needed(const struct engine *engine, uint64_t now_ns)
{
	const struct tracing_duty *duty = &engine->tracing;
	uint64_t most_ns = TRACED_WINDOWS_MAX * engine->policy.io_boost.window_ns;
	enum due_trait news = duty->on ? DUE_UNSEEN : DUE_CHANGED;

	if (!due_has(engine->due, 1u << DUE_NEW | 1u << DUE_ASKS | 1u << news))
		return false;
	if (duty->on)
		return now_ns - duty->since_ns < most_ns;
	return now_ns >= rested_ns(engine) &&
	       (now_ns >= duty->quiet_ns || due_has(engine->due, 1u << DUE_NEW));
}

/* Starts its window in the next round instead of at its next due time. */
static void begin_task(struct io_boost *boost, uint64_t now_ns)
{
	boost->traced = false;
	if (!boost->traced_per_s)
		boost->traced_per_s = 1; /* no longer new; the rate is stored at the end */
	if (boost->window.start_ns == now_ns)
		return;
	io_boost_restart_window(boost);
	if (!io_boost_is_over(boost) && boost->next_ns > now_ns + 1)
		boost->next_ns = now_ns + 1;
}

static void begin_tracing(struct engine *engine, uint64_t now_ns)
{
	const struct policy_io_boost *policy = &engine->policy.io_boost;
	struct io_task *task = NULL;

	engine->tracing.on = true;
	engine->tracing.since_ns = now_ns;
	engine->tracing.until_ns = now_ns + TRACED_WINDOWS_MIN * policy->window_ns;
	while ((task = io_task_next(engine->tasks, task))) {
		begin_task(&task->io_boost, now_ns);
		boosts_set_due(engine, task);
	}
}

static void begin_rest(struct tracing_duty *duty, uint64_t now_ns)
{
	duty->on = false;
	duty->quiet_ns = now_ns + REST_FACTOR * (now_ns - duty->since_ns);
	duty->since_ns = now_ns;
}

static void end_tracing(struct engine *engine, uint64_t now_ns)
{
	struct io_task *task = NULL;

	begin_rest(&engine->tracing, now_ns);
	engine->tracing.until_ns = now_ns + REST_WINDOWS * engine->policy.io_boost.window_ns;
	if (engine->tracing.until_ns < engine->tracing.quiet_ns)
		engine->tracing.until_ns = engine->tracing.quiet_ns;
	while ((task = io_task_next(engine->tasks, task))) {
		io_boost_restart_window(&task->io_boost);
		/* Tasks that came during the period have none: they are new. */
		if (task->io_boost.traced_per_s)
			task->io_boost.traced_per_s = task->io_boost.rate_per_s + 1;
		task->io_boost.sends_requests = false;
		boosts_set_due(engine, task);
	}
}

void tracing_duty_update(struct engine *engine, uint64_t now_ns)
{
	bool needed = is_needed(engine, now_ns), over = now_ns >= engine->tracing.until_ns;

	if (!due_has(engine->due, 1u << DUE_LIVE)) {
		if (engine->tracing.on)
			begin_rest(&engine->tracing, now_ns);
		engine->tracing.until_ns = UINT64_MAX;
	} else if (!engine->tracing.on) {
		if (needed || over)
			begin_tracing(engine, now_ns);
	} else if (!needed && over) {
		end_tracing(engine, now_ns);
	}
}

uint64_t tracing_duty_next_ns(const struct engine *engine)
{
	const struct tracing_duty *duty = &engine->tracing;
	uint64_t needed_ns = UINT64_MAX;

	/* A period ends in the round that settles its last task: no time is planned for it. */
	if (duty->on)
		return UINT64_MAX;
	if (due_has(engine->due, 1u << DUE_NEW))
		needed_ns = 0;
	else if (due_has(engine->due, 1u << DUE_CHANGED | 1u << DUE_ASKS))
		needed_ns = duty->quiet_ns;
	if (needed_ns < rested_ns(engine))
		needed_ns = rested_ns(engine);
	return needed_ns < duty->until_ns ? needed_ns : duty->until_ns;
}
