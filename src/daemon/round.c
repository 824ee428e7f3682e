// SPDX-License-Identifier: GPL-2.0-only
/*
 * One round: has the core decide what is due, writes its decisions, publishes them, and sets the
 * next time.
 */
#include "daemon/loop.h"

#include <string.h>
#include <sys/epoll.h>

#include "daemon/domains.h"
#include "daemon/module.h"
#include "daemon/process.h"
#include "daemon/rule_tracking.h"
#include "frequency/frequency.h"
#include "shared/log.h"
#include "shared/time.h"

#define CHECK_NS	  (NS_PER_S / 10)
#define TIMER_ACCURACY_US 200 /* sd-event's default, 250 ms, is too coarse for rounds */

/*
 * Limits of others in scaling_min_freq and scaling_max_freq are not part of our floor or cap:
 * written by us, they would outlast the others.
 */
static struct actuator_request request_of(struct core *core, const struct decision *decision)
{
	const struct governed *governed = &core->domains[decision->domain];
	uint32_t cap_khz = engine_effective_cap_khz(core->engine, decision->domain);
	uint32_t floor_khz = engine_floor_khz(core->engine, decision->domain);
	const struct explanation *rests_on = engine_explanation(core->engine, decision->domain);
	struct actuator_request request = {
		.target_khz = decision->target_khz,
		.idle = decision->reason == REASON_IDLE,
		/* for an input event's work */
		.at_once = decision->reason == REASON_CHAIN && !rests_on->contenders[0].partner,
		.cpu = decision->cpu,
	};

	engine_limits(core->engine, decision->domain, &request.min_khz, &request.max_khz);
	if (request.min_khz <= governed->others_min_khz)
		request.min_khz = 0;
	if (request.max_khz >= governed->others_max_khz)
		request.max_khz = UINT32_MAX;
	/* A rise waits for the rate limit. */
	if (floor_khz > decision->target_khz)
		floor_khz = decision->target_khz;
	if (core->withholds)
		floor_khz = 0;
	/* Only its own task's cap bounds a boost or a floor (src/core/merge.c). */
	if (cap_khz < floor_khz)
		cap_khz = floor_khz;
	/* If a task keeps raising its clamp, the domain's maximum holds it to its cap. */
	if (decision->now_ns < core->insists_until_ns && cap_khz < request.max_khz)
		request.max_khz = cap_khz;
	request.floor_khz = floor_khz > request.min_khz ? floor_khz : request.min_khz;
	request.effective_cap_khz = cap_khz < request.max_khz ? cap_khz : request.max_khz;
	return request;
}

/* Lets the backend write the target, and reports the outcome to the engine and the modules. */
static void commit(struct core *core, const struct decision *decision)
{
	struct governed *governed = &core->domains[decision->domain];
	bool changed = decision->target_khz != decision->previous_khz;
	struct actuator_request request;
	struct change change;
	int outcome;

	/*
	 * The next decision retries a failed write, not a timer: a control that cannot be written
	 * would wake an idle machine for ever.
	 */
	if (!changed && !governed->backend->leaves_governor && !governed->error_logged) {
		engine_commit(core->engine, decision->domain, ENGINE_SET);
		return;
	}
	request = request_of(core, decision);
	outcome = governed->backend->apply(&governed->actuator, &request);
	engine_commit(core->engine, decision->domain,
		      outcome == ACTUATOR_NOT_YET ? ENGINE_NOT_SET : ENGINE_SET);
	if (outcome == ACTUATOR_NOT_YET)
		return;
	if (changed) {
		change = change_of(core, decision, governed->actuator.read_back_khz);
		modules_call(core, target_changed, &change);
	}
	domains_set_outcome(core, decision->domain, outcome);
	if (changed)
		modules_call(core, target_set, decision->domain,
			     governed_is_driven(governed) && outcome >= 0 ? decision->target_khz
									  : 0,
			     decision->now_ns);
}

static void on_decision(void *userdata, const struct decision *decision)
{
	struct core *core = userdata;
	struct decision named = *decision;

	/* The core has no name for a task without I/O and rules. */
	if (named.pid && !named.comm[0] &&
	    (named.reason != REASON_CHAIN ||
	     !tracer_chain_name(core->tracer, named.cpu, named.pid, named.comm)) &&
	    (named.reason == REASON_CHAIN || named.target_khz != named.previous_khz))
		process_name(named.pid, "", named.comm);
	commit(core, &named);
	if (governed_is_driven(&core->domains[decision->domain]))
		modules_call(core, decided, &named);
	topology_for_each_cpu(core->topology, cpu, decision->domain) {
		struct engine_band band;

		engine_band(core->engine, cpu, &band);
		if (!tracer_arm(core->tracer, cpu, &band))
			engine_mark_due(core->engine, cpu);
	}
}

static void release_task(void *userdata, uint32_t handle)
{
	struct core *core = userdata;

	tracer_release_task(core->tracer, handle);
}

static void set_timer(struct core *core, uint64_t at_ns)
{
	sd_event_source *timer = core->rounds.timer;

	if (at_ns != UINT64_MAX)
		sd_event_source_set_time(timer, at_ns / NS_PER_US + 1);
	sd_event_source_set_enabled(timer, at_ns == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

void rounds_resume(struct core *core)
{
	tracer_resume(core->tracer);
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
		frequency_forget(core->frequency, cpu);
}

void round_soon(void *core)
{
	set_timer(core, 0);
}

/* Sets the timer for what is due next without an event. */
static void plan_next(struct core *core, uint64_t now_ns)
{
	uint64_t next_ns = tracer_is_paused(core->tracer) ? UINT64_MAX
							  : engine_next_ns(core->engine);

	modules_each(core, row) {
		uint64_t row_ns = UINT64_MAX;

		if (row->module->next_ns)
			row_ns = row->module->next_ns(row->state, now_ns);
		if (row_ns < next_ns)
			next_ns = row_ns;
	}
	set_timer(core, next_ns);
	/* Work that goes on at once, as thousands of clamps do, must not starve clients. */
	sd_event_source_set_priority(core->rounds.timer, next_ns <= now_ns
								 ? SD_EVENT_PRIORITY_IDLE
								 : SD_EVENT_PRIORITY_NORMAL);
}

/* Only while tasks are followed; rounds are frequent then, so it needs no timer of its own. */
static void check_devices(struct core *core, uint64_t now_ns)
{
	if (now_ns - core->rounds.checked_ns < CHECK_NS ||
	    !io_task_count(engine_tasks(core->engine)))
		return;
	core->rounds.checked_ns = now_ns;
	tracer_check_devices(core->tracer, inputs_on_event, core);
}

void round_run(struct core *core)
{
	static const struct engine_ops ops = {
		.sample_task = inputs_sample_task,
		.sample_device = inputs_sample_device,
		.sample_domain = inputs_sample_domain,
		.on_decision = on_decision,
		.release_task = release_task,
		.now_ns = time_now_ns,
	};
	uint64_t now_ns = time_now_ns();

	if (!tracer_is_paused(core->tracer)) {
		check_devices(core, now_ns);
		engine_round(core->engine, &ops, core, now_ns);
	}
	modules_call(core, run, now_ns);
	tracer_follow_clamps(core->tracer, engine_clamps_tasks(core->engine),
			     engine_needs_own_clamps(core->engine));
	tracer_follow_chains(core->tracer, !tracer_is_paused(core->tracer) && core->policy.chains);
	tracer_learn(core->tracer, !tracer_is_paused(core->tracer) &&
					   !tracer_only_ticks(core->tracer) &&
					   engine_learns(core->engine));
	plan_next(core, now_ns);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct core *core = userdata;

	modules_call(core, expire, time_now_ns());
	round_run(core);
	modules_call(core, tasks_changed);
	return 0;
}

static int on_records(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct core *core = userdata;
	int r = tracer_consume(core->tracer, inputs_on_event, core);

	/*
	 * The same priority as clients: a task that fills the ring without a pause must not starve
	 * them.
	 */
	sd_event_source_set_priority(source,
				     r > 0 ? SD_EVENT_PRIORITY_IDLE : SD_EVENT_PRIORITY_NORMAL);
	rule_tracking_check_scan(core);
	round_run(core);
	modules_call(core, tasks_changed);
	return 0;
}

int rounds_start(struct core *core)
{
	int r = sd_event_add_time(core->event, &core->rounds.timer, CLOCK_MONOTONIC, 0,
				  TIMER_ACCURACY_US, on_timer, core);

	if (r >= 0)
		r = sd_event_add_io(core->event, NULL, tracer_fd(core->tracer), EPOLLIN, on_records,
				    core);
	if (r < 0)
		log_error("cannot set the timer of decisions, or listen for records: %s",
			  strerror(-r));
	return r;
}
