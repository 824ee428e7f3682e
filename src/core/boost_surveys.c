// SPDX-License-Identifier: GPL-2.0-only
/*
 * When requests are followed. To follow each from its start to its end is what costs most of the
 * kernel side, and says little new once it is known what every task's I/O is worth. So it is done
 * in *surveys*: as long as something is being found out, and a twentieth of the time afterwards. In
 * between requests are only counted, which is enough for leases, rates and experiments.
 */
#include <stddef.h>

#include "core/engine_private.h"

#define SURVEY_WINDOWS 10  /* of io-boost.window: how long one is at least … */
#define SURVEY_MOST    30  /* … and at most, however much there is to be found out … */
#define REST_WINDOWS   190 /* … and how long it is until the next, if nothing happens */
#define REST_FACTOR    16  /* times what one took, at least: 6 % of the time */

/* Whether requests are to be followed now. What asks for ever, or again and again, waits. */
static bool is_needed(const struct engine *engine, uint64_t now_ns)
{
	const struct survey *survey = &engine->survey;
	uint64_t most_ns = SURVEY_MOST * engine->policy.io_boost.window_ns;
	enum due_trait news = survey->on ? DUE_UNSEEN : DUE_CHANGED;

	if (!due_has(engine->due, 1u << DUE_NEW | 1u << DUE_ASKS | 1u << news))
		return false;
	if (survey->on)
		return now_ns - survey->began_ns < most_ns;
	return now_ns >= survey->quiet_ns || due_has(engine->due, 1u << DUE_NEW);
}

/* Those in use; the caller does so before it advances again. */
static void have_devices_sampled(struct engine *engine, uint64_t at_ns)
{
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		struct io_device *device = &engine->devices[i];

		if (!device->n_users || device->next_ns <= at_ns)
			continue;
		device->next_ns = at_ns;
		if (at_ns < engine->devices_next_ns)
			engine->devices_next_ns = at_ns;
	}
}

/* Its window begins at once, in the round that follows, and not when it would be looked at again.
 */
static void survey_task(struct io_boost *boost, uint64_t now_ns)
{
	boost->survey_windows = 0;
	if (!boost->surveyed_per_s)
		boost->surveyed_per_s = 1; /* new no more; its rate is taken at the end */
	if (boost->window.start_ns == now_ns)
		return;
	io_boost_restart_window(boost);
	if (!io_boost_is_over(boost) && boost->next_ns > now_ns + 1)
		boost->next_ns = now_ns + 1;
}

static void begin_survey(struct engine *engine, uint64_t now_ns)
{
	const struct policy_io_boost *policy = &engine->policy.io_boost;
	struct task *task = NULL;

	engine->survey.on = true;
	engine->survey.ends = false;
	engine->survey.began_ns = now_ns;
	engine->survey.until_ns = now_ns + SURVEY_WINDOWS * policy->window_ns;
	while ((task = task_table_next(engine->tasks, task))) {
		survey_task(&task->io_boost, now_ns);
		boosts_set_due(engine, task);
	}
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++)
		io_device_restart_rates(&engine->devices[i]);
	/* When what was in flight is over, mostly. */
	have_devices_sampled(engine, now_ns + policy->window_ns);
}

static uint64_t quiet_after(const struct survey *survey, uint64_t now_ns)
{
	return now_ns + REST_FACTOR * (now_ns - survey->began_ns);
}

static void end_survey(struct engine *engine, uint64_t now_ns)
{
	struct task *task = NULL;

	engine->survey.on = false;
	engine->survey.quiet_ns = quiet_after(&engine->survey, now_ns);
	engine->survey.until_ns = now_ns + REST_WINDOWS * engine->policy.io_boost.window_ns;
	if (engine->survey.until_ns < engine->survey.quiet_ns)
		engine->survey.until_ns = engine->survey.quiet_ns;
	while ((task = task_table_next(engine->tasks, task))) {
		io_boost_restart_window(&task->io_boost);
		if (task->io_boost.surveyed_per_s) /* those that came since are new */
			task->io_boost.surveyed_per_s = task->io_boost.rate_per_s + 1;
		task->io_boost.sends_requests = false;
		boosts_set_due(engine, task);
	}
}

/* Rates are as of its end. */
static void wind_up_survey(struct engine *engine, uint64_t now_ns)
{
	if (engine->survey.ends) {
		end_survey(engine, now_ns);
		return;
	}
	engine->survey.ends = true;
	have_devices_sampled(engine, now_ns + 1); /* in another round */
}

void boosts_survey(struct engine *engine, uint64_t now_ns)
{
	bool needed = is_needed(engine, now_ns), over = now_ns >= engine->survey.until_ns;

	if (!due_has(engine->due, 1u << DUE_LIVE)) {
		if (engine->survey.on)
			engine->survey.quiet_ns = quiet_after(&engine->survey, now_ns);
		engine->survey.on = false;
		engine->survey.until_ns = UINT64_MAX;
	} else if (!engine->survey.on) {
		if (needed || over)
			begin_survey(engine, now_ns);
	} else if (!needed && over) {
		wind_up_survey(engine, now_ns);
	} else {
		engine->survey.ends = false;
	}
}

uint64_t boosts_next_survey_ns(const struct engine *engine)
{
	const struct survey *survey = &engine->survey;
	bool waits = due_has(engine->due, 1u << DUE_CHANGED | 1u << DUE_ASKS);

	/* One that goes on after its time ends in the round that settles what it goes on for. */
	if (survey->on)
		return UINT64_MAX;
	return waits && survey->quiet_ns < survey->until_ns ? survey->quiet_ns : survey->until_ns;
}
