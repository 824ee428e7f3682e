// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/loop.h"

#include <errno.h>

#include "daemon/domains.h"
#include "daemon/freq_invariance.h"
#include "daemon/modules/clamps.h"
#include "daemon/modules/idle_latency.h"
#include "daemon/modules/placing.h"
#include "daemon/opps.h"
#include "daemon/rule_tracking.h"
#include "frequency/frequency.h"
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

/* Mostly the hold time of the task is over as far as the core knows; newer I/O extends it. */
void inputs_sample_task(void *userdata, const struct io_task *task, uint64_t now_ns)
{
	sample_task(userdata, task->handle, now_ns);
}

void inputs_sample_cpu(struct manager *manager, uint32_t cpu, uint64_t now_ns)
{
	const struct clamp_classes *classes = engine_clamp_classes(manager->engine);
	struct input input;

	freq_invariance_measure_cpu(manager, cpu, now_ns);
	tracer_read_cpu(manager->tracer, cpu, now_ns, &input);
	engine_apply(manager->engine, &input);
	/* The kernel side still has other numbers. */
	if (classes->epoch != manager->classes_epoch)
		return;
	for (uint32_t class = 0; classes->n > 1 && class < classes->n; class ++) {
		if (!tracer_read_class_run(manager->tracer, cpu, class, now_ns, &input))
			continue;
		input.class_run.matched = classes->matched[class];
		input.class_run.own = classes->own[class];
		engine_apply(manager->engine, &input);
	}
}

void inputs_sample_domain(void *userdata, uint32_t domain, uint64_t now_ns)
{
	struct manager *manager = userdata;

	topology_for_each_cpu(manager->topology, cpu, domain)
		inputs_sample_cpu(manager, cpu, now_ns);
}

void inputs_sample_device(void *userdata, uint32_t device, uint64_t now_ns)
{
	struct manager *manager = userdata;
	struct input input;

	if (tracer_read_device(manager->tracer, device, now_ns, &input) == 0)
		engine_apply(manager->engine, &input);
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

	if (classes->epoch != manager->classes_epoch)
		return; /* it is reported again */
	if (event->class < classes->n) {
		input.co_runner.matched = classes->matched[event->class];
		input.co_runner.own = classes->own[event->class];
	}
	engine_apply(manager->engine, &input);
}

/* The kernel has restarted its governors: requests are lost, and limits may have changed. */
static void resume(struct manager *manager)
{
	log_info("resumed from suspend: every domain is checked and set again");
	freq_invariance_choose_references(manager);
	for (uint32_t cpu = 0; cpu < manager->topology->n_cpus; cpu++)
		frequency_forget(manager->frequency, cpu);
	for (uint32_t domain = 0; domain < manager->n_domains; domain++) {
		actuator_domain_forget_request(&manager->domains[domain].actuator);
		domains_verify(manager, domain);
	}
}

/*
 * A backend that writes limits itself must find out who changed them. The next driver sets limits
 * when it comes: the files of the one before are gone then, also where no decision would write.
 */
static void take_limits(struct manager *manager, uint32_t domain)
{
	if (domain == TOPOLOGY_NO_DOMAIN)
		return;
	/* A switch of turbo must be known before the limit that the kernel wrote with it. */
	opps_follow(manager, domain);
	if (range_is_taken(&manager->domains[domain].actuator.range))
		domains_verify(manager, domain);
	else if (domains_read_limits(manager, domain) == -ENODEV)
		domains_take_outcome(manager, domain, -ENODEV);
}

void inputs_take_event(void *userdata, const struct tracer_event *event)
{
	struct manager *manager = userdata;
	uint64_t now_ns = time_now_ns();

	manager->records++;
	switch (event->type) {
	case TRACER_CPU:
		inputs_sample_cpu(manager, event->cpu, now_ns);
		break;
	case TRACER_TASK:
		sample_task(manager, event->handle, now_ns);
		break;
	case TRACER_LIMITS:
		take_limits(manager, manager->topology->cpu_domain[event->cpu]);
		break;
	case TRACER_DEVICE:
		tracer_classify_device(manager->tracer, event->handle);
		break;
	case TRACER_RESUME:
		resume(manager);
		break;
	case TRACER_DEVICE_END:
		engine_apply(manager->engine, &(struct input){ .now_ns = now_ns,
							       .type = INPUT_DEVICE_END,
							       .ended_device = event->handle });
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
