// SPDX-License-Identifier: GPL-2.0-only
/*
 * When requests are followed. To follow each from its start to its end is what costs most of the
 * kernel side, and says little new once it is known what every task's I/O is worth. So it is done
 * in *surveys*: as long as something is being found out, and a twentieth of the time afterwards. In
 * between requests are only counted, which is enough for leases and rates.
 */
#include <stddef.h>

#include "core/engine_private.h"

#define SURVEY_WINDOWS 10  /* of io-boost.window: how long one is at least … */
#define REST_WINDOWS   190 /* … and how long it is until the next, if nothing happens */

static bool is_being_checked(const struct io_check *check)
{
	return check->state == IO_CHECK_BASELINE || check->state == IO_CHECK_TRIAL;
}

/* Another rate than during the last survey: another load, for all that is known. */
static bool rate_moved(const struct io_boost *boost)
{
	uint32_t rate = boost->rate_per_s, surveyed = boost->surveyed_per_s;
	uint32_t apart = rate > surveyed ? rate - surveyed : surveyed - rate;

	return apart > surveyed / 3;
}

/* Something is being found out of it. */
static bool asks_for_survey(const struct io_boost *boost)
{
	if (boost->device == IO_BOOST_NO_DEVICE)
		return boost->state == IO_BOOST_MEASURING;
	return !io_boost_is_known(boost);
}

/* A survey has not yet found out anything of it. */
static bool is_unseen(const struct io_boost *boost)
{
	return boost->device != IO_BOOST_NO_DEVICE && !boost->survey_windows;
}

/* What was found out may be over. Requests of a task that had none are something new, too. */
static bool is_changed(const struct io_boost *boost)
{
	return boost->device == IO_BOOST_NO_DEVICE ? boost->sends_requests : rate_moved(boost);
}

uint32_t boosts_traits(const struct io_boost *boost)
{
	if (io_boost_is_over(boost))
		return 0;
	return 1u << FILED_LIVE | (uint32_t)asks_for_survey(boost) << FILED_ASKS |
	       (uint32_t)is_unseen(boost) << FILED_UNSEEN |
	       (uint32_t)is_changed(boost) << FILED_CHANGED;
}

static bool device_asks(const struct io_device *device, uint64_t now_ns)
{
	const struct io_check *check = &device->check;

	if (!device->n_users)
		return false;
	if (is_being_checked(check) || is_being_checked(&device->interrupt_check))
		return true;
	return check->state >= IO_CHECK_PAID && device->n_tasks && now_ns >= check->retry_ns;
}

enum need {
	NEED_NONE,    /* nobody does I/O */
	NEED_REGULAR, /* all is known */
	NEED_NOW,
};

static enum need survey_need(const struct engine *engine, uint64_t now_ns)
{
	enum filed_trait new = engine->survey.on ? FILED_UNSEEN : FILED_CHANGED;

	if (filing_count(engine->filing, FILED_ASKS) || filing_count(engine->filing, new))
		return NEED_NOW;
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++)
		if (device_asks(&engine->devices[i], now_ns))
			return NEED_NOW;
	return filing_count(engine->filing, FILED_LIVE) ? NEED_REGULAR : NEED_NONE;
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
	engine->survey.until_ns = now_ns + SURVEY_WINDOWS * policy->window_ns;
	while ((task = task_table_next(engine->tasks, task))) {
		survey_task(&task->io_boost, now_ns);
		boosts_file_task(engine, task);
	}
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++)
		io_device_restart_rates(&engine->devices[i]);
	/* When what was in flight is over, mostly. */
	have_devices_sampled(engine, now_ns + policy->window_ns);
}

static void end_survey(struct engine *engine, uint64_t now_ns)
{
	struct task *task = NULL;

	engine->survey.on = false;
	engine->survey.until_ns = now_ns + REST_WINDOWS * engine->policy.io_boost.window_ns;
	while ((task = task_table_next(engine->tasks, task))) {
		io_boost_restart_window(&task->io_boost);
		task->io_boost.surveyed_per_s = task->io_boost.rate_per_s;
		task->io_boost.sends_requests = false;
		boosts_file_task(engine, task);
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
	enum need need = survey_need(engine, now_ns);
	bool over = now_ns >= engine->survey.until_ns;

	if (need == NEED_NONE) {
		engine->survey = SURVEY_NONE;
	} else if (!engine->survey.on) {
		if (need == NEED_NOW || over)
			begin_survey(engine, now_ns);
	} else if (need == NEED_REGULAR && over) {
		wind_up_survey(engine, now_ns);
	} else {
		engine->survey.ends = false;
	}
}

uint64_t boosts_next_survey_ns(const struct engine *engine)
{
	/* One that goes on after its time ends in the round that settles what it goes on for. */
	return engine->survey.on ? UINT64_MAX : engine->survey.until_ns;
}
