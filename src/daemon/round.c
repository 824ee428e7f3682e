// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/round.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "actuator/governor.h"
#include "daemon/apply_task_clamps.h"
#include "daemon/freq_invariance.h"
#include "daemon/grouping.h"
#include "daemon/idle_latency.h"
#include "daemon/journal.h"
#include "daemon/monitor.h"
#include "daemon/overrides.h"
#include "daemon/past.h"
#include "daemon/placing.h"
#include "daemon/process.h"
#include "daemon/recording.h"
#include "daemon/rule_tracking.h"
#include "shared/log.h"
#include "shared/time.h"

static void sample_task(struct manager *manager, uint32_t handle, uint64_t now_ns)
{
	const struct io_task *task;
	struct input input;

	if (tracer_read_task(manager->tracer, handle, now_ns, &input) < 0)
		return;
	if (input.type == INPUT_TASK)
		freq_invariance_measure_tried(manager, &input.task, now_ns);
	engine_apply(manager->engine, &input);
	task = input.type == INPUT_TASK
		       ? io_task_find(engine_tasks(manager->engine), input.task.pid)
		       : NULL;
	if (task)
		tracer_watch_hold(manager->tracer, handle,
				  io_boost_is_settled(&task->io_boost)
					  ? manager->policy.io_boost.hold_ns
					  : 0);
	else /* the task ended, or the table is full */
		tracer_release_task(manager->tracer, handle);
}

static void sample_cpu(struct manager *manager, uint32_t cpu, uint64_t now_ns)
{
	const struct clamp_classes *classes = engine_clamp_classes(manager->engine);
	struct input input;

	freq_invariance_measure_cpu(manager, cpu, now_ns);
	tracer_read_cpu(manager->tracer, cpu, now_ns, &input);
	engine_apply(manager->engine, &input);
	for (uint32_t class = 0; classes->n > 1 && class < classes->n; class ++) {
		if (!tracer_read_class_run(manager->tracer, cpu, class, now_ns, &input))
			continue;
		input.class_run.matched = classes->matched[class];
		input.class_run.own = classes->own[class];
		engine_apply(manager->engine, &input);
	}
}

static void sample_domain(void *userdata, uint32_t domain, uint64_t now_ns)
{
	struct manager *manager = userdata;

	topology_for_each_cpu(manager->topology, cpu, domain)
		sample_cpu(manager, cpu, now_ns);
}

#define RESYNC_NS (NS_PER_S / 10)

/* Only while tasks are followed; rounds are frequent then, so it needs no timer of its own. */
static void resync_devices(struct manager *manager, uint64_t now_ns)
{
	if (now_ns - manager->resynced_ns < RESYNC_NS ||
	    !io_task_count(engine_tasks(manager->engine)))
		return;
	manager->resynced_ns = now_ns;
	tracer_resync_devices(manager->tracer, manager_take_event, manager);
}

/* Samples a due task. Mostly its hold time seems over; it holds on if the task went on with I/O. */
static void sample_due_task(void *userdata, const struct io_task *task, uint64_t now_ns)
{
	sample_task(userdata, task->handle, now_ns);
}

static void sample_device(void *userdata, uint32_t device, uint64_t now_ns)
{
	struct manager *manager = userdata;
	struct input input;

	if (tracer_read_device(manager->tracer, device, now_ns, &input) == 0)
		engine_apply(manager->engine, &input);
}

static void release_task(void *userdata, uint32_t handle)
{
	struct manager *manager = userdata;

	tracer_release_task(manager->tracer, handle);
}

static void set_active(struct manager *manager, uint32_t domain, bool active)
{
	struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_DOMAIN,
		.domain = {
			.domain = domain,
			.active = active,
			.driven = manager->domains[domain].actuator.state ==
				  ACTUATOR_STATE_DRIVEN,
			.clamps = manager->domains[domain].backend->clamps_tasks,
		},
	};

	engine_apply(manager->engine, &input);
	if (!active)
		account_set_target(manager, domain, 0, input.now_ns);
}

void manager_read_limits(struct manager *manager, uint32_t domain)
{
	struct governed *governed = &manager->domains[domain];
	struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_LIMITS,
		.limits = { .domain = domain },
	};

	if (actuator_domain_read_limits(&governed->actuator, &input.limits.min_khz,
					&input.limits.max_khz) < 0)
		return; /* offline: verify reports that */
	governed->others_min_khz = input.limits.min_khz;
	governed->others_max_khz = input.limits.max_khz;
	engine_apply(manager->engine, &input);
}

/*
 * Reads the frequency for the accounting, where no kernel event has reported it: at start, after
 * hotplug and suspend.
 */
static void read_frequency(struct manager *manager, uint32_t domain)
{
	uint32_t khz;

	if (actuator_domain_read_back(&manager->domains[domain].actuator, &khz) < 0)
		return;
	topology_for_each_cpu(manager->topology, cpu, domain)
		tracer_set_frequency(manager->tracer, cpu, khz);
}

/*
 * The files of a driver that was unloaded or switched (intel_pstate/status) do not come back; those
 * of the next driver are new files, perhaps with other frequencies.
 */
static void end_without_driver(struct manager *manager, const char *name)
{
	int code;

	if (sd_event_get_exit_code(manager->event, &code) >= 0)
		return;
	log_error(
		"%s: its cpufreq driver is gone: wakegovd ends; start it again for the next driver, "
		"as systemd does",
		name);
	sd_event_exit(manager->event, -ENODEV);
}

/* Applies an outcome of the actuator to the state of the domain. */
static void take_outcome(struct manager *manager, uint32_t domain, int outcome)
{
	struct governed *governed = &manager->domains[domain];
	const char *name = governed->actuator.info->name;
	struct message_about about = { .domain = name };

	switch (outcome) {
	case ACTUATOR_TAKEN_OVER:
		journal_tell(manager, MESSAGE_YIELDED, &about,
			     "%s: %s; wakegov leaves it alone until: wakegovctl adopt %s", name,
			     governed->actuator.why, name);
		set_active(manager, domain, false);
		break;
	case ACTUATOR_OFFLINE:
		journal_tell(manager, MESSAGE_OFFLINE, &about, "%s: its CPUs are offline", name);
		set_active(manager, domain, false);
		break;
	case -ENODEV:
		end_without_driver(manager, name);
		break;
	default:
		if (outcome < 0 && !governed->error_logged) {
			about.reason = strerrorname_np(-outcome);
			journal_tell(manager, MESSAGE_WRITE_FAILED, &about,
				     "%s: cannot write its frequency: %s", name,
				     strerror(-outcome));
		}
		governed->error_logged = outcome < 0;
	}
}

void manager_verify_domain(struct manager *manager, uint32_t domain)
{
	struct governed *governed = &manager->domains[domain];
	enum actuator_state before = governed->actuator.state;
	uint32_t asked_khz;
	int outcome;

	if (before == ACTUATOR_STATE_YIELDED)
		return;
	/*
	 * During a hand-back nothing is decided for observed domains either, and a domain that
	 * comes online is acquired with the others.
	 */
	if (manager->hand_back.until_ns &&
	    (before == ACTUATOR_STATE_OFFLINE || before == ACTUATOR_STATE_OBSERVED)) {
		set_active(manager, domain, false);
		return;
	}
	if (before == ACTUATOR_STATE_HANDED_BACK) {
		set_active(manager, domain, false);
		outcome = actuator_verify_handed_back(&governed->actuator);
		if (outcome == ACTUATOR_TAKEN_OVER)
			take_outcome(manager, domain, outcome);
		return;
	}
	/* A domain that was offline at the start is taken when it comes online. */
	if (before == ACTUATOR_STATE_OFFLINE && !governed->actuator.held)
		outcome = governed->backend->acquire(&governed->actuator);
	else
		outcome = governed->backend->verify(&governed->actuator);
	if (outcome != ACTUATOR_DONE) {
		if (governed->actuator.state != before || outcome < 0)
			take_outcome(manager, domain, outcome);
		return;
	}
	if (before == ACTUATOR_STATE_OFFLINE)
		journal_tell(manager, MESSAGE_ONLINE,
			     &(struct message_about){ .domain = governed->actuator.info->name },
			     "%s: back online, governed again", governed->actuator.info->name);
	set_active(manager, domain, true);
	manager_read_limits(manager, domain);
	read_frequency(manager, domain);
	/* The request may be lost: hotplug and resume restart the governor. */
	asked_khz = governed->actuator.asked_khz;
	if (!asked_khz || asked_khz != engine_last(manager->engine, domain)->target_khz ||
	    range_is_suspect(&governed->actuator.range))
		engine_forget_target(manager->engine, domain);
}

/* The core has no name for a task of which it only knows that it ran. */
static void name_task(struct decision *decision)
{
	char comm[PROCESS_COMM_SIZE];
	const char *name = process_name(decision->pid, decision->comm, comm);

	if (name == comm)
		memcpy(decision->comm, comm, sizeof(decision->comm));
}

static void show(struct manager *manager, const struct decision *decision, uint32_t read_back_khz)
{
	const char *name = manager->topology->domains[decision->domain].name;
	const struct message_about about = {
		.domain = name,
		.pid = decision->pid,
		.comm = decision->comm[0] ? decision->comm : NULL,
		.reason = reason_name(decision->reason),
	};

	monitor_publish_decision(manager, &(struct decision_entry){ *decision, read_back_khz });
	if (log_is_shown(LOG_DEBUG))
		journal_log(MESSAGE_DECISION, &about, "%s: %u -> %u kHz, reads %u: %s", name,
			    decision->previous_khz, decision->target_khz, read_back_khz,
			    about.reason);
}

/*
 * Limits of others in scaling_min_freq and scaling_max_freq are not part of our floor or cap:
 * written by us, they would outlast the others.
 */
static struct actuator_request request_of(struct manager *manager, const struct decision *decision)
{
	const struct governed *governed = &manager->domains[decision->domain];
	uint32_t cap_khz = engine_effective_cap_khz(manager->engine, decision->domain);
	bool boosted = decision->reason == REASON_IO_BOOST || decision->reason == REASON_FLOOR ||
		       decision->reason == REASON_OWN_FLOOR;
	struct actuator_request request = { .target_khz = decision->target_khz };

	engine_limits(manager->engine, decision->domain, &request.min_khz, &request.max_khz);
	if (request.min_khz <= governed->others_min_khz)
		request.min_khz = 0;
	if (request.max_khz >= governed->others_max_khz)
		request.max_khz = UINT32_MAX;
	request.floor_khz = boosted ? decision->target_khz : request.min_khz;
	/* A boost and a floor are bound by their own task's cap (src/core/merge.c), not by
	 * another's. */
	if (boosted && cap_khz < decision->target_khz)
		cap_khz = decision->target_khz;
	request.effective_cap_khz = cap_khz < request.max_khz ? cap_khz : request.max_khz;
	return request;
}

static void act(struct manager *manager, const struct decision *decision)
{
	struct governed *governed = &manager->domains[decision->domain];
	bool changed = decision->target_khz != decision->previous_khz;
	struct decision named = *decision;
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
		      outcome == ACTUATOR_UNVERIFIED ? ENGINE_NOT_SET : ENGINE_SET);
	if (outcome == ACTUATOR_UNVERIFIED)
		return;
	if (!changed) {
		take_outcome(manager, decision->domain, outcome);
		return;
	}
	name_task(&named);
	decision_log_add(manager->log, &named, governed->actuator.read_back_khz,
			 engine_explanation(manager->engine, decision->domain));
	past_add(manager, &named, governed->actuator.read_back_khz);
	stats_add_decision(manager->stats, decision);
	show(manager, &named, governed->actuator.read_back_khz);
	take_outcome(manager, decision->domain, outcome);
	account_set_target(manager, decision->domain,
			   governed->actuator.state == ACTUATOR_STATE_DRIVEN && outcome >= 0
				   ? decision->target_khz
				   : 0,
			   decision->now_ns);
}

static void take_decision(void *userdata, const struct decision *decision)
{
	struct manager *manager = userdata;

	act(manager, decision);
	if (manager->domains[decision->domain].actuator.state == ACTUATOR_STATE_DRIVEN)
		account_take(manager, decision);
	topology_for_each_cpu(manager->topology, cpu, decision->domain) {
		struct engine_band band;

		engine_band(manager->engine, cpu, &band);
		if (!tracer_arm(manager->tracer, cpu, &band))
			sample_cpu(manager, cpu, time_now_ns());
	}
}

static uint64_t earlier_of(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* UINT64_MAX: there is nothing to wait for. */
static uint64_t next_due_ns(const struct manager *manager)
{
	uint64_t next_ns = UINT64_MAX;

	if (!manager->hand_back.until_ns)
		next_ns = engine_next_ns(manager->engine);
	next_ns = earlier_of(next_ns, uclamps_next_ns(manager->clamps));
	next_ns = earlier_of(next_ns, task_overrides_next_ns(&manager->task_overrides));
	next_ns = earlier_of(next_ns, manager->scan_due_ns);
	next_ns = earlier_of(next_ns, placing_next_ns(manager));
	return earlier_of(next_ns, idle_latency_next_ns(manager));
}

static void set_timer(struct manager *manager, uint64_t next_ns)
{
	if (next_ns == UINT64_MAX) {
		sd_event_source_set_enabled(manager->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(manager->timer, next_ns / NS_PER_US + 1);
	sd_event_source_set_enabled(manager->timer, SD_EVENT_ONESHOT);
}

static void describe_classes(struct manager *manager)
{
	const struct clamp_classes *classes = engine_clamp_classes(manager->engine);
	struct tracer_classes told = {
		.n = classes->n,
		.co_runners = engine_clamps_tasks(manager->engine),
		.burst_limit_ns = manager->policy.caps.burst_limit_ns,
	};

	if (classes->epoch != manager->classes_epoch)
		tracer_forget_classes(manager->tracer);
	for (uint32_t class = 0; class < classes->n; class ++) {
		struct class_clamp clamp;

		engine_clamp_of_class(manager->engine, class, &clamp);
		told.cap[class] = clamp.cap < CLAMP_MAX_NONE ? clamp.cap : CLAMP_MAX_NONE;
		if (clamp.floor)
			told.floored |= 1ULL << class;
		if (clamp.response_us)
			told.timed |= 1ULL << class;
	}
	tracer_set_classes(manager->tracer, &told);
	manager->classes_epoch = classes->epoch;
	manager->classes_version = classes->version;
}

/* Sends the clamp classes of tasks to the kernel side, after the classes' own properties. */
static void tell_classes(struct manager *manager)
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
		log_debug("which clamps tasks have cannot be told of each: %s", strerror(-r));
}

void manager_round(struct manager *manager)
{
	static const struct engine_ops ops = {
		.sample_task = sample_due_task,
		.sample_device = sample_device,
		.sample_domain = sample_domain,
		.take_decision = take_decision,
		.release_task = release_task,
		.now_ns = time_now_ns,
	};
	uint64_t now_ns = time_now_ns(), next_ns;
	bool stands = manager->hand_back.until_ns;

	if (!stands) {
		resync_devices(manager, now_ns);
		overrides_tell_ended(manager, now_ns);
		engine_round(manager->engine, &ops, manager, now_ns);
	}
	monitor_publish_boosts(manager);
	tell_classes(manager);
	if (grouping_follow(manager))
		rule_tracking_scan(manager);
	manager_apply_task_clamps(manager, now_ns);
	placing_look(manager, now_ns);
	idle_latency_take_boosts(manager, now_ns);
	idle_latency_look(manager, now_ns);
	tracer_follow_clamps(manager->tracer, engine_clamps_tasks(manager->engine),
			     engine_needs_own_clamps(manager->engine));
	tracer_follow_requests(manager->tracer, !stands && engine_follows_requests(manager->engine),
			       now_ns);
	recording_keep(manager, now_ns);
	next_ns = next_due_ns(manager);
	past_keep(manager, now_ns, next_ns == UINT64_MAX);
	set_timer(manager, earlier_of(next_ns, past_next_ns(manager)));
}

static void take_bursts(struct manager *manager, uint32_t class, uint64_t now_ns)
{
	const struct clamp_classes *classes = engine_clamp_classes(manager->engine);
	struct input input = { .now_ns = now_ns, .type = INPUT_BURSTS };

	/* The class number is from before a renumbering. */
	if (class >= classes->n || classes->epoch != manager->classes_epoch)
		return;
	input.bursts = (struct input_bursts){
		.length_ns = tracer_burst_ns(manager->tracer, class),
		.matched = classes->matched[class],
		.own = classes->own[class],
	};
	engine_apply(manager->engine, &input);
}

static void take_co_runner(struct manager *manager, const struct tracer_event *event,
			   uint64_t now_ns)
{
	const struct clamp_classes *classes = engine_clamp_classes(manager->engine);
	struct input input = {
		.now_ns = now_ns,
		.type = INPUT_CO_RUNNER,
		.co_runner = { .pid = event->pid },
	};

	if (event->class < classes->n) {
		input.co_runner.matched = classes->matched[event->class];
		input.co_runner.own = classes->own[event->class];
	}
	engine_apply(manager->engine, &input);
}

/* The kernel has restarted its governors: requests are lost, and limits may have changed. */
static void resume(struct manager *manager)
{
	log_info("resumed from suspend: every domain is looked at and set again");
	freq_invariance_choose_references(manager);
	for (uint32_t cpu = 0; cpu < manager->topology->n_cpus; cpu++)
		freq_invariance_forget(manager, cpu);
	for (uint32_t domain = 0; domain < manager->n_domains; domain++) {
		actuator_domain_forget_request(&manager->domains[domain].actuator);
		manager_verify_domain(manager, domain);
	}
}

static void end_device(struct manager *manager, uint32_t device, uint64_t now_ns)
{
	const struct input input = {
		.now_ns = now_ns,
		.type = INPUT_DEVICE_END,
		.ended_device = device,
	};

	engine_apply(manager->engine, &input);
}

void manager_take_event(void *userdata, const struct tracer_event *event)
{
	struct manager *manager = userdata;
	uint64_t now_ns = time_now_ns();
	uint32_t domain;

	manager->records++;
	switch (event->type) {
	case TRACER_CPU:
		sample_cpu(manager, event->cpu, now_ns);
		break;
	case TRACER_TASK:
		sample_task(manager, event->handle, now_ns);
		break;
	case TRACER_LIMITS:
		domain = manager->topology->cpu_domain[event->cpu];
		/* A backend that writes limits itself must find out who changed them. */
		if (domain != TOPOLOGY_NO_DOMAIN &&
		    range_is_taken(&manager->domains[domain].actuator.range))
			manager_verify_domain(manager, domain);
		else if (domain != TOPOLOGY_NO_DOMAIN)
			manager_read_limits(manager, domain);
		break;
	case TRACER_DEVICE:
		tracer_classify_device(manager->tracer, event->handle);
		break;
	case TRACER_RESUME:
		resume(manager);
		break;
	case TRACER_DEVICE_END:
		end_device(manager, event->handle, now_ns);
		break;
	case TRACER_CHILD:
		manager_take_child(manager, event->parent, event->pid);
		break;
	case TRACER_OWN:
		manager_take_own_clamps(manager, event->pid, event->own, event->ended, now_ns);
		break;
	case TRACER_BURSTS:
		take_bursts(manager, event->class, now_ns);
		break;
	case TRACER_CO_RUNNER:
		take_co_runner(manager, event, now_ns);
		break;
	case TRACER_FACTS:
	case TRACER_GONE:
	case TRACER_SCAN:
		rule_tracking_take_event(manager, event);
		break;
	case TRACER_PLACED_CHILD:
	case TRACER_FULL_CACHE:
	case TRACER_GROUP_WAKES:
		placing_take_event(manager, event);
		break;
	case TRACER_IDLE_LATENCY:
		idle_latency_take_event(manager, event->cpu, now_ns);
		break;
	}
}
