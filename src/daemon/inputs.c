// SPDX-License-Identifier: GPL-2.0-only
/* Turns the tracer's records and totals into inputs of the engine. */
#include "daemon/loop.h"

#include <errno.h>

#include "daemon/domains.h"
#include "daemon/module.h"
#include "frequency/frequency.h"
#include "shared/log.h"
#include "shared/time.h"

static void sample_task(struct core *core, uint32_t handle, uint64_t now_ns)
{
	const struct io_task *task;
	struct input input;

	if (tracer_read_task(core->tracer, handle, now_ns, &input) < 0)
		return;
	if (input.type == INPUT_TASK)
		freq_invariance_measure_tried(core, &input.task, now_ns);
	engine_apply(core->engine, &input);
	task = input.type == INPUT_TASK ? io_task_find(engine_tasks(core->engine), input.task.pid)
					: NULL;
	if (task)
		tracer_watch_hold(
			core->tracer, handle,
			io_boost_is_settled(&task->io_boost) ? core->policy.io_boost.hold_ns : 0);
	else /* the task ended, or the table is full */
		tracer_release_task(core->tracer, handle);
}

/* The core mostly asks when a task's hold time seems to be over; newer I/O extends it. */
void inputs_sample_task(void *userdata, const struct io_task *task, uint64_t now_ns)
{
	sample_task(userdata, task->handle, now_ns);
}

static void sample_cpu(struct core *core, uint32_t cpu, uint64_t now_ns)
{
	const struct clamp_classes *classes = engine_clamp_classes(core->engine);
	struct input input;

	freq_invariance_measure_cpu(core, cpu, now_ns);
	tracer_read_cpu(core->tracer, cpu, now_ns, &input);
	engine_apply(core->engine, &input);
	/* The kernel side still has other numbers. */
	if (classes->epoch != core->classes_epoch)
		return;
	for (uint32_t class = 0; classes->n > 1 && class < classes->n; class ++) {
		if (!tracer_read_class_run(core->tracer, cpu, class, now_ns, &input))
			continue;
		input.class_run.matched = classes->matched[class];
		input.class_run.own = classes->own[class];
		engine_apply(core->engine, &input);
	}
}

void inputs_sample_domain(void *userdata, uint32_t domain, uint64_t now_ns)
{
	struct core *core = userdata;

	topology_for_each_cpu(core->topology, cpu, domain)
		sample_cpu(core, cpu, now_ns);
}

void inputs_sample_device(void *userdata, uint32_t device, uint64_t now_ns)
{
	struct core *core = userdata;
	struct input input;

	if (tracer_read_device(core->tracer, device, now_ns, &input) == 0)
		engine_apply(core->engine, &input);
}

static void on_bursts(struct core *core, uint32_t class, uint64_t now_ns)
{
	const struct clamp_classes *classes = engine_clamp_classes(core->engine);
	struct input input = { .now_ns = now_ns, .type = INPUT_BURSTS };

	/* The class number is from before a renumbering. */
	if (class >= classes->n || classes->epoch != core->classes_epoch)
		return;
	input.bursts = (struct input_bursts){
		.length_ns = tracer_burst_ns(core->tracer, class),
		.matched = classes->matched[class],
		.own = classes->own[class],
	};
	engine_apply(core->engine, &input);
}

static void on_co_runner(struct core *core, const struct wakegov_record *record, uint64_t now_ns)
{
	const struct clamp_classes *classes = engine_clamp_classes(core->engine);
	struct input input = {
		.now_ns = now_ns,
		.type = INPUT_CO_RUNNER,
		.co_runner = { .pid = record->pid },
	};

	if (classes->epoch != core->classes_epoch)
		return; /* it is reported again */
	if (record->class < classes->n) {
		input.co_runner.matched = classes->matched[record->class];
		input.co_runner.own = classes->own[record->class];
	}
	engine_apply(core->engine, &input);
}

/* The kernel has restarted its governors: requests are lost, and limits may have changed. */
static void resume(struct core *core)
{
	log_info("resumed from suspend: every domain is checked and set again");
	freq_invariance_choose_references(core);
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
		frequency_forget(core->frequency, cpu);
	for (uint32_t domain = 0; domain < core->n_domains; domain++) {
		core->domains[domain].actuator.asked_khz = 0;
		domains_verify(core, domain);
	}
}

/*
 * A backend that writes limits must find out who changed them. A new driver sets limits when it is
 * loaded. The old one's files are gone then, which is noticed here even if no decision would write.
 */
static void on_limits(struct core *core, uint32_t domain)
{
	if (domain == TOPOLOGY_NO_DOMAIN)
		return;
	/* A switch of turbo must be known before the limit that the kernel wrote with it. */
	opps_follow(core, domain);
	if (core->domains[domain].actuator.range.is_acquired)
		domains_verify(core, domain);
	else if (domains_read_limits(core, domain) == -ENODEV)
		domains_set_outcome(core, domain, -ENODEV);
}

void inputs_on_event(void *userdata, const struct wakegov_record *record)
{
	struct core *core = userdata;
	uint64_t now_ns = time_now_ns();

	core->counts.records++;
	switch (record->type) {
	case WAKEGOV_RECORD_CPU:
		engine_mark_due(core->engine, record->cpu);
		break;
	case WAKEGOV_RECORD_TASK:
		sample_task(core, record->slot, now_ns);
		break;
	case WAKEGOV_RECORD_LIMITS:
		on_limits(core, core->topology->cpu_domain[record->cpu]);
		break;
	case WAKEGOV_RECORD_DEVICE:
		tracer_classify_device(core->tracer, record->device);
		break;
	case WAKEGOV_RECORD_RESUME:
		resume(core);
		break;
	case WAKEGOV_RECORD_DEVICE_END:
		engine_apply(core->engine, &(struct input){ .now_ns = now_ns,
							    .type = INPUT_DEVICE_END,
							    .ended_device = record->device });
		break;
	case WAKEGOV_RECORD_BURSTS:
		on_bursts(core, record->class, now_ns);
		break;
	case WAKEGOV_RECORD_WAITED:
		engine_apply(core->engine,
			     &(struct input){ .now_ns = now_ns,
					      .type = INPUT_WAITED,
					      .waited = { record->pid, record->class } });
		break;
	case WAKEGOV_RECORD_CO_RUNNER:
		on_co_runner(core, record, now_ns);
		break;
	default:
		modules_call(core, on_event, record, now_ns);
	}
}
