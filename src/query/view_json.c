// SPDX-License-Identifier: GPL-2.0-only
#include "query/view_json.h"

#include <stdbool.h>
#include <stdlib.h>

#include "query/utf8.h"
#include "shared/cleanup.h"

/* An object that is being filled; one value that cannot be had spoils it. */
struct object {
	json_t *json;
	bool spoilt;
};

static struct object object_begin(void)
{
	return (struct object){ .json = json_object() };
}

static json_t *object_end(struct object *object)
{
	if (!object->spoilt)
		return object->json;

	json_decref(object->json);
	return NULL;
}

/* Consumes value. */
static void put(struct object *object, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(object->json, key, value) < 0)
		object->spoilt = true;
}

static void put_text(struct object *object, const char *key, const char *text)
{
	put(object, key, view_json_text(text));
}

/* JSON has no unsigned 64-bit integers; nothing that is counted here gets near the sign bit. */
static void put_count(struct object *object, const char *key, uint64_t value)
{
	put(object, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

static void put_known(struct object *object, const char *key, uint32_t value)
{
	put(object, key, value ? json_integer(value) : json_null());
}

static void put_measured(struct object *object, const char *key, uint32_t value)
{
	put(object, key, value == VIEW_UNKNOWN ? json_null() : json_integer(value));
}

json_t *view_json_text(const char *text)
{
	_cleanup_free_ char *repaired = NULL;
	json_t *value;

	if (!text)
		return json_null();

	value = json_string(text);
	if (value)
		return value;

	repaired = utf8_repair(text);
	return repaired ? json_string(repaired) : NULL;
}

json_t *view_json_domain(const struct domain_view *view)
{
	struct object object = object_begin();

	put_text(&object, "name", view->name);
	put_text(&object, "cpus", view->cpus);
	put_text(&object, "state", view->state);
	put_text(&object, "state_why", view->state_why);
	put_text(&object, "backend", view->backend);
	put_known(&object, "current_khz", view->current_khz);
	put_known(&object, "target_khz", view->target_khz);
	put_known(&object, "min_khz", view->min_khz);
	put_known(&object, "max_khz", view->max_khz);
	put_known(&object, "lowest_opp_khz", view->lowest_opp_khz);
	put_known(&object, "highest_opp_khz", view->highest_opp_khz);
	put_count(&object, "utilisation_cap", view->utilisation_cap);
	put_text(&object, "reason", view->reason);
	put_text(&object, "limiter", view->limiter);
	put_text(&object, "timing", view->timing);
	put_known(&object, "pid", view->pid);
	put_text(&object, "comm", view->comm);
	put_count(&object, "writes", view->writes);
	put_count(&object, "write_errors", view->write_errors);
	put_count(&object, "read_back_mismatches", view->read_back_mismatches);
	return object_end(&object);
}

json_t *view_json_task(const struct task_view *view)
{
	struct object object = object_begin();

	put_count(&object, "pid", view->pid);
	put_known(&object, "tgid", view->tgid);
	put_text(&object, "comm", view->comm);
	put_count(&object, "cpu", view->cpu);
	put_text(&object, "domain", view->domain);
	put_text(&object, "state", view->state);
	put_text(&object, "device", view->device);
	put_count(&object, "io_rate_per_s", view->io_rate_per_s);
	put_measured(&object, "host_share_permille", view->host_share_permille);
	put_measured(&object, "predicted_gain_permille", view->predicted_gain_permille);
	put_measured(&object, "measured_gain_permille", view->measured_gain_permille);
	put_known(&object, "wanted_khz", view->wanted_khz);
	put_count(&object, "boost_cap", view->boost_cap);
	put_count(&object, "lease_left_us", view->lease_left_us);
	return object_end(&object);
}

json_t *view_json_device(const struct device_view *view)
{
	struct object object = object_begin();

	put_text(&object, "name", view->name);
	put_count(&object, "tasks", view->tasks);
	put_count(&object, "depth", view->depth);
	put_count(&object, "completions", view->completions);
	put_count(&object, "idle_us", view->idle_us);
	put_measured(&object, "completions_per_s", view->completions_per_s);
	put_measured(&object, "idle_permille", view->idle_permille);
	put_count(&object, "completion_cpu", view->completion_cpu);
	put_text(&object, "completion_domain", view->completion_domain);
	put_text(&object, "check", view->check);
	put_measured(&object, "predicted_gain_permille", view->predicted_gain_permille);
	put_measured(&object, "measured_gain_permille", view->measured_gain_permille);
	put_count(&object, "calibration_permille", view->calibration_permille);
	put_count(&object, "checks", view->checks);
	if (view->retries)
		put_count(&object, "retry_us", view->retry_us);
	else
		put(&object, "retry_us", json_null());
	put_text(&object, "interrupt_domain", view->interrupt_domain);
	put_text(&object, "interrupt_check", view->interrupt_check);
	put_known(&object, "interrupt_khz", view->interrupt_khz);
	return object_end(&object);
}

json_t *view_json_decision(const struct decision_view *view)
{
	struct object object = object_begin();

	put_count(&object, "monotonic_us", view->monotonic_us);
	put_text(&object, "domain", view->domain);
	put_known(&object, "previous_khz", view->previous_khz);
	put_known(&object, "target_khz", view->target_khz);
	put_known(&object, "read_back_khz", view->read_back_khz);
	put_text(&object, "reason", view->reason);
	put_text(&object, "limiter", view->limiter);
	put_count(&object, "demand_cap", view->demand_cap);
	put_count(&object, "cpu", view->cpu);
	put_known(&object, "pid", view->pid);
	put_text(&object, "comm", view->comm);
	return object_end(&object);
}

json_t *view_json_program(const struct program_view *view)
{
	struct object object = object_begin();

	put_text(&object, "name", view->name);
	put_text(&object, "purpose", view->purpose);
	put_text(&object, "state", view->state);
	put_text(&object, "error", view->error);
	put_count(&object, "events", view->events);
	return object_end(&object);
}

json_t *view_json_policy(const struct status_view *view)
{
	struct object object = object_begin();

	put_text(&object, "path", view->policy_path);
	put_count(&object, "reloads", view->reloads);
	put_text(&object, "last_error", view->last_reload_error);
	return object_end(&object);
}

static json_t *drops(const struct status_view *view)
{
	struct object object = object_begin();

	put_count(&object, "ring", view->drops_ring);
	put_count(&object, "slots", view->drops_slots);
	put_count(&object, "tasks", view->drops_tasks);
	put_count(&object, "devices", view->drops_devices);
	put_count(&object, "anomalies", view->drops_anomalies);
	put_count(&object, "missed", view->drops_missed);
	return object_end(&object);
}

static json_t *self_cost(const struct status_view *view)
{
	struct object object = object_begin();

	put_count(&object, "cpu_us", view->self_cpu_us);
	put_count(&object, "wakeups", view->self_wakeups);
	put_count(&object, "pss_kib", view->self_pss_kib);
	put_count(&object, "events", view->events);
	return object_end(&object);
}

static json_t *task_table(const struct status_view *view)
{
	struct object object = object_begin();

	put_count(&object, "count", view->tasks);
	put_count(&object, "max", view->max_tasks);
	return object_end(&object);
}

json_t *view_json_status(const struct status_view *view, json_t *domains, json_t *programs,
			 json_t *advice)
{
	struct object object = object_begin();

	put_text(&object, "version", view->version);
	put_count(&object, "uptime_us", view->uptime_us);
	put_text(&object, "mode", view->mode);
	put_text(&object, "backend", view->backend);
	put(&object, "policy", view_json_policy(view));
	put(&object, "domains", domains);
	put(&object, "programs", programs);
	put(&object, "tasks", task_table(view));
	put_count(&object, "decisions", view->decisions);
	put(&object, "drops", drops(view));
	put(&object, "advice", advice);
	put(&object, "self", self_cost(view));
	return object_end(&object);
}
