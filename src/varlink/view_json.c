// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/view_json.h"

static void put_text(struct json_out *out, const char *key, const char *text)
{
	json_out_key(out, key);
	json_out_text(out, text);
}

static void put_count(struct json_out *out, const char *key, uint64_t value)
{
	json_out_key(out, key);
	json_out_count(out, value);
}

static void put_null(struct json_out *out, const char *key)
{
	json_out_key(out, key);
	json_out_null(out);
}

static void put_known(struct json_out *out, const char *key, uint32_t value)
{
	if (value)
		put_count(out, key, value);
	else
		put_null(out, key);
}

static void put_measured(struct json_out *out, const char *key, uint32_t value)
{
	if (value == VIEW_UNKNOWN)
		put_null(out, key);
	else
		put_count(out, key, value);
}

void view_json_domain(struct json_out *out, const struct domain_view *view)
{
	json_out_open(out, '{');
	put_text(out, "name", view->name);
	put_text(out, "cpus", view->cpus);
	put_text(out, "state", view->state);
	put_text(out, "state_why", view->state_why);
	put_text(out, "backend", view->backend);
	put_known(out, "current_khz", view->current_khz);
	put_known(out, "target_khz", view->target_khz);
	put_known(out, "min_khz", view->min_khz);
	put_known(out, "max_khz", view->max_khz);
	put_known(out, "lowest_opp_khz", view->lowest_opp_khz);
	put_known(out, "highest_opp_khz", view->highest_opp_khz);
	put_count(out, "utilisation_cap", view->utilisation_cap);
	put_text(out, "reason", view->reason);
	put_text(out, "limiter", view->limiter);
	put_text(out, "timing", view->timing);
	put_known(out, "pid", view->pid);
	put_text(out, "comm", view->comm);
	put_count(out, "writes", view->writes);
	put_count(out, "write_errors", view->write_errors);
	put_count(out, "read_back_mismatches", view->read_back_mismatches);
	put_text(out, "rule", view->rule);
	put_known(out, "capped_pid", view->capped_pid);
	put_known(out, "asked_min_khz", view->asked_min_khz);
	put_known(out, "asked_max_khz", view->asked_max_khz);
	json_out_close(out, '}');
}

void view_json_task(struct json_out *out, const struct task_view *view)
{
	json_out_open(out, '{');
	put_count(out, "pid", view->pid);
	put_known(out, "tgid", view->tgid);
	put_text(out, "comm", view->comm);
	put_count(out, "cpu", view->cpu);
	put_text(out, "domain", view->domain);
	put_text(out, "state", view->state);
	put_text(out, "device", view->device);
	put_count(out, "io_rate_per_s", view->io_rate_per_s);
	put_measured(out, "host_share_permille", view->host_share_permille);
	put_measured(out, "predicted_gain_permille", view->predicted_gain_permille);
	put_measured(out, "measured_gain_permille", view->measured_gain_permille);
	put_measured(out, "gain_error_permille", view->gain_error_permille);
	put_count(out, "pairs", view->pairs);
	put_known(out, "wanted_khz", view->wanted_khz);
	put_count(out, "boost_cap", view->boost_cap);
	put_count(out, "lease_left_us", view->lease_left_us);
	json_out_close(out, '}');
}

void view_json_device(struct json_out *out, const struct device_view *view)
{
	json_out_open(out, '{');
	put_text(out, "name", view->name);
	put_count(out, "tasks", view->tasks);
	put_count(out, "depth", view->depth);
	put_count(out, "completions", view->completions);
	put_count(out, "idle_us", view->idle_us);
	put_measured(out, "completions_per_s", view->completions_per_s);
	put_measured(out, "idle_permille", view->idle_permille);
	put_count(out, "completion_cpu", view->completion_cpu);
	put_text(out, "completion_domain", view->completion_domain);
	put_count(out, "boosted", view->boosted);
	put_count(out, "trying", view->trying);
	json_out_close(out, '}');
}

void view_json_decision(struct json_out *out, const struct decision_view *view)
{
	json_out_open(out, '{');
	put_count(out, "monotonic_us", view->monotonic_us);
	put_text(out, "domain", view->domain);
	put_known(out, "previous_khz", view->previous_khz);
	put_known(out, "target_khz", view->target_khz);
	put_known(out, "read_back_khz", view->read_back_khz);
	put_text(out, "reason", view->reason);
	put_text(out, "limiter", view->limiter);
	put_count(out, "demand_cap", view->demand_cap);
	put_count(out, "cpu", view->cpu);
	put_known(out, "pid", view->pid);
	put_text(out, "comm", view->comm);
	put_text(out, "rule", view->rule);
	put_known(out, "capped_pid", view->capped_pid);
	json_out_close(out, '}');
}

const char *view_event_kind_name(enum event_kind kind)
{
	static const char *const names[EVENT_KINDS] = {
		[EVENT_DECISION] = "decision", [EVENT_BOOST] = "boost",	  [EVENT_YIELD] = "yield",
		[EVENT_ERROR] = "error",       [EVENT_CHANGE] = "change",
	};

	return names[kind];
}

void view_json_event(struct json_out *out, const struct event_view *view, uint64_t number)
{
	json_out_open(out, '{');
	put_count(out, "number", number);
	put_count(out, "monotonic_us", view->monotonic_us);
	put_text(out, "kind", view_event_kind_name(view->kind));
	put_text(out, "domain", view->domain);
	put_known(out, "pid", view->pid);
	put_text(out, "comm", view->comm);
	put_text(out, "message", view->message);
	json_out_key(out, "decision");
	if (view->decision)
		view_json_decision(out, view->decision);
	else
		json_out_null(out);
	put_text(out, "previous_state", view->previous_state);
	json_out_key(out, "task");
	if (view->task)
		view_json_task(out, view->task);
	else
		json_out_null(out);
	json_out_close(out, '}');
}

void view_json_override(struct json_out *out, const struct override_view *view)
{
	json_out_open(out, '{');
	put_count(out, "id", view->id);
	put_text(out, "domain", view->domain);
	put_known(out, "pid", view->pid);
	put_text(out, "comm", view->comm);
	put_text(out, "rule", view->rule);
	json_out_key(out, "children");
	json_out_bool(out, view->children);
	put_known(out, "min_khz", view->min_khz);
	put_known(out, "max_khz", view->max_khz);
	put_known(out, "frozen_khz", view->frozen_khz);
	put_text(out, "floor", view->floor);
	put_text(out, "cap", view->cap);
	put_text(out, "io_boost", view->io_boost);
	put_count(out, "uid", view->uid);
	put_count(out, "left_us", view->left_us);
	json_out_close(out, '}');
}

void view_json_program(struct json_out *out, const struct program_view *view)
{
	json_out_open(out, '{');
	put_text(out, "name", view->name);
	put_text(out, "purpose", view->purpose);
	put_text(out, "state", view->state);
	put_text(out, "error", view->error);
	put_count(out, "events", view->events);
	json_out_close(out, '}');
}

void view_json_policy(struct json_out *out, const struct status_view *view)
{
	json_out_open(out, '{');
	put_text(out, "path", view->policy_path);
	put_count(out, "reloads", view->reloads);
	put_text(out, "last_error", view->last_reload_error);
	json_out_close(out, '}');
}

static void put_drops(struct json_out *out, const struct status_view *view)
{
	json_out_key(out, "drops");
	json_out_open(out, '{');
	put_count(out, "ring", view->drops_ring);
	put_count(out, "slots", view->drops_slots);
	put_count(out, "tasks", view->drops_tasks);
	put_count(out, "devices", view->drops_devices);
	put_count(out, "anomalies", view->drops_anomalies);
	put_count(out, "missed", view->drops_missed);
	json_out_close(out, '}');
}

static void put_self_cost(struct json_out *out, const struct status_view *view)
{
	json_out_key(out, "self");
	json_out_open(out, '{');
	put_count(out, "cpu_us", view->self_cpu_us);
	put_count(out, "wakeups", view->self_wakeups);
	put_count(out, "pss_kib", view->self_pss_kib);
	put_count(out, "events", view->events);
	json_out_close(out, '}');
}

static void put_task_table(struct json_out *out, const struct status_view *view)
{
	json_out_key(out, "tasks");
	json_out_open(out, '{');
	put_count(out, "count", view->tasks);
	put_count(out, "max", view->max_tasks);
	json_out_close(out, '}');
}

static void put_frequency(struct json_out *out, const struct status_view *view)
{
	json_out_key(out, "frequency");
	json_out_open(out, '{');
	put_text(out, "source", view->frequency_source);
	if (view->frequency_is_measured)
		put_count(out, "age_us", view->frequency_age_us);
	else
		put_null(out, "age_us");
	put_text(out, "why", view->frequency_why);
	json_out_close(out, '}');
}

void view_json_status_fields(struct json_out *out, const struct status_view *view)
{
	put_text(out, "version", view->version);
	put_count(out, "uptime_us", view->uptime_us);
	put_text(out, "mode", view->mode);
	put_text(out, "backend", view->backend);
	json_out_key(out, "policy");
	view_json_policy(out, view);
	put_task_table(out, view);
	put_count(out, "decisions", view->decisions);
	put_drops(out, view);
	put_self_cost(out, view);
	put_frequency(out, view);
}
