// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/history/stats.h"
#include "daemon/loop.h"
#include "daemon/modules/overrides.h"

#include <string.h>

#include "daemon/domains.h"
#include "daemon/history/past.h"
#include "daemon/journal.h"
#include "daemon/manager.h"
#include "daemon/modules/clamps.h"
#include "daemon/modules/idle_latency.h"
#include "daemon/modules/placing.h"
#include "daemon/modules/recording.h"
#include "daemon/modules/saturation.h"
#include "daemon/process.h"
#include "daemon/rule_tracking.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"

#define RESYNC_NS (NS_PER_S / 10)

/*
 * Stores a decision that changed the target, and publishes it. The core has no name for a task
 * without I/O and rules: it is looked up here.
 */
static void publish(struct manager *manager, const struct decision *decision,
		    uint32_t read_back_khz)
{
	struct decision_entry named = { *decision, read_back_khz };
	const char *domain = manager->topology->domains[decision->domain].name;
	char comm[PROCESS_COMM_SIZE];

	if (process_name(decision->pid, decision->comm, comm) == comm)
		memcpy(named.decision.comm, comm, sizeof(named.decision.comm));
	decision_log_add(manager->log, &named.decision, read_back_khz,
			 engine_explanation(manager->engine, decision->domain));
	past_add(manager, &named.decision, read_back_khz);
	stats_add_decision(manager->stats, decision);
	monitor_publish_decision(manager, &named);
	if (log_is_shown(LOG_DEBUG))
		journal_log(MESSAGE_DECISION,
			    &(struct message_about){
				    .domain = domain,
				    .pid = decision->pid,
				    .comm = named.decision.comm[0] ? named.decision.comm : NULL,
				    .reason = reason_name(decision->reason),
			    },
			    "%s: %u -> %u kHz, reads %u: %s", domain, decision->previous_khz,
			    decision->target_khz, read_back_khz, reason_name(decision->reason));
}

/*
 * Limits of others in scaling_min_freq and scaling_max_freq are not part of our floor or cap:
 * written by us, they would outlast the others.
 */
static struct actuator_request request_of(struct manager *manager, const struct decision *decision)
{
	const struct governed *governed = &manager->domains[decision->domain];
	uint32_t cap_khz = engine_effective_cap_khz(manager->engine, decision->domain);
	uint32_t floor_khz = engine_floor_khz(manager->engine, decision->domain);
	struct actuator_request request = { .target_khz = decision->target_khz };

	engine_limits(manager->engine, decision->domain, &request.min_khz, &request.max_khz);
	if (request.min_khz <= governed->others_min_khz)
		request.min_khz = 0;
	if (request.max_khz >= governed->others_max_khz)
		request.max_khz = UINT32_MAX;
	/* A rise waits for the rate limit. */
	if (floor_khz > decision->target_khz)
		floor_khz = decision->target_khz;
	/* Only its own task's cap bounds a boost or a floor (src/core/merge.c). */
	if (cap_khz < floor_khz)
		cap_khz = floor_khz;
	/* Where a task does not leave its clamp in force, the domain's maximum is what holds it. */
	if (decision->now_ns < manager->insists_until_ns && cap_khz < request.max_khz)
		request.max_khz = cap_khz;
	request.floor_khz = floor_khz > request.min_khz ? floor_khz : request.min_khz;
	request.effective_cap_khz = cap_khz < request.max_khz ? cap_khz : request.max_khz;
	return request;
}

/* Lets the backend write the target, and reports the outcome to the core and the account. */
static void commit(struct manager *manager, const struct decision *decision)
{
	struct governed *governed = &manager->domains[decision->domain];
	bool changed = decision->target_khz != decision->previous_khz;
	struct actuator_request request;
	int outcome;

	/*
	 * The next decision retries a failed write, not a timer: a control that cannot be written
	 * would wake an idle machine for ever.
	 */
	if (!changed && !governed->backend->leaves_governor && !governed->error_logged) {
		engine_commit(manager->engine, decision->domain, ENGINE_SET);
		return;
	}
	request = request_of(manager, decision);
	outcome = governed->backend->apply(&governed->actuator, &request);
	engine_commit(manager->engine, decision->domain,
		      outcome == ACTUATOR_NOT_YET ? ENGINE_NOT_SET : ENGINE_SET);
	if (outcome == ACTUATOR_NOT_YET)
		return;
	if (changed)
		publish(manager, decision, governed->actuator.read_back_khz);
	domains_take_outcome(manager, decision->domain, outcome);
	if (changed)
		account_set_target(manager, decision->domain,
				   governed->actuator.state == ACTUATOR_STATE_DRIVEN && outcome >= 0
					   ? decision->target_khz
					   : 0,
				   decision->now_ns);
}

static void take_decision(void *userdata, const struct decision *decision)
{
	struct manager *manager = userdata;

	commit(manager, decision);
	if (manager->domains[decision->domain].actuator.state == ACTUATOR_STATE_DRIVEN)
		account_take(manager, decision);
	topology_for_each_cpu(manager->topology, cpu, decision->domain) {
		struct engine_band band;

		engine_band(manager->engine, cpu, &band);
		if (!tracer_arm(manager->tracer, cpu, &band))
			inputs_sample_cpu(manager, cpu, time_now_ns());
	}
}

static void release_task(void *userdata, uint32_t handle)
{
	struct manager *manager = userdata;

	tracer_release_task(manager->tracer, handle);
}

/* Saves the history if that is due, and sets the timer for what is due next without an event. */
static void plan_next(struct manager *manager, uint64_t now_ns, uint64_t saturation_ns,
		      uint64_t placing_ns)
{
	const uint64_t due_ns[] = {
		manager->hand_back.until_ns ? UINT64_MAX : engine_next_ns(manager->engine),
		uclamps_next_ns(manager->clamps),
		task_overrides_next_ns(&manager->task_overrides),
		rule_tracking_next_ns(manager),
		saturation_ns,
		placing_ns,
		idle_latency_next_ns(manager),
	};
	uint64_t next_ns = UINT64_MAX, save_ns;

	for (size_t i = 0; i < ARRAY_SIZE(due_ns); i++)
		if (due_ns[i] < next_ns)
			next_ns = due_ns[i];
	save_ns = past_keep(manager, now_ns, next_ns == UINT64_MAX);
	if (save_ns < next_ns)
		next_ns = save_ns;
	if (next_ns != UINT64_MAX)
		sd_event_source_set_time(manager->timer, next_ns / NS_PER_US + 1);
	sd_event_source_set_enabled(manager->timer,
				    next_ns == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static void describe_classes(struct manager *manager)
{
	const struct clamp_classes *classes = engine_clamp_classes(manager->engine);
	struct tracer_classes sent = {
		.n = classes->n,
		.co_runners = engine_clamps_tasks(manager->engine),
		.burst_limit_ns = manager->policy.caps.burst_limit_ns,
	};

	if (classes->epoch != manager->classes_epoch)
		tracer_forget_classes(manager->tracer);
	for (uint32_t class = 0; class < classes->n; class ++) {
		struct class_clamp clamp;

		engine_clamp_of_class(manager->engine, class, &clamp);
		sent.cap[class] = clamp.cap < CLAMP_MAX_NONE ? clamp.cap : CLAMP_MAX_NONE;
		if (clamp.floor)
			sent.floored |= 1ULL << class;
		if (clamp.response_us)
			sent.timed |= 1ULL << class;
	}
	tracer_set_classes(manager->tracer, &sent);
	manager->classes_epoch = classes->epoch;
	manager->classes_version = classes->version;
}

/* Sends changed clamp classes to the kernel side, before the tasks that have them. */
static void send_classes(struct manager *manager)
{
	struct task_class class;
	bool any = false;
	int r;

	if (engine_clamp_classes(manager->engine)->version != manager->classes_version)
		describe_classes(manager);
	while (engine_take_class(manager->engine, &class)) {
		tracer_set_task_class(manager->tracer, &class);
		any = true;
	}
	r = any ? tracer_send_task_classes(manager->tracer) : 0;
	if (r < 0)
		log_debug("cannot send the clamp class of each task: %s", strerror(-r));
}

/* Only while tasks are followed; rounds are frequent then, so it needs no timer of its own. */
static void resync_devices(struct manager *manager, uint64_t now_ns)
{
	if (now_ns - manager->resynced_ns < RESYNC_NS ||
	    !io_task_count(engine_tasks(manager->engine)))
		return;
	manager->resynced_ns = now_ns;
	tracer_resync_devices(manager->tracer, inputs_take_event, manager);
}

void manager_round(struct manager *manager)
{
	static const struct engine_ops ops = {
		.sample_task = inputs_sample_task,
		.sample_device = inputs_sample_device,
		.sample_domain = inputs_sample_domain,
		.take_decision = take_decision,
		.release_task = release_task,
		.now_ns = time_now_ns,
	};
	uint64_t now_ns = time_now_ns(), saturation_ns, placing_ns;
	bool stands = manager->hand_back.until_ns;

	if (!stands) {
		resync_devices(manager, now_ns);
		overrides_tell_ended(manager, now_ns);
		engine_round(manager->engine, &ops, manager, now_ns);
	}
	saturation_ns = saturation_look(manager, now_ns);
	monitor_publish_boosts(manager);
	send_classes(manager);
	if (grouping_follow(manager))
		rule_tracking_scan(manager);
	manager_apply_task_clamps(manager, now_ns);
	placing_ns = placing_look(manager, now_ns);
	idle_latency_take_boosts(manager, now_ns);
	idle_latency_look(manager, now_ns);
	tracer_follow_clamps(manager->tracer, engine_clamps_tasks(manager->engine),
			     engine_needs_own_clamps(manager->engine));
	tracer_follow_chains(manager->tracer,
			     !stands && engine_follows_chains(manager->engine, now_ns));
	tracer_follow_requests(manager->tracer,
			       !stands && !tracer_only_ticks(manager->tracer) &&
				       engine_follows_requests(manager->engine),
			       now_ns);
	recording_keep(manager, now_ns);
	plan_next(manager, now_ns, saturation_ns, placing_ns);
}
