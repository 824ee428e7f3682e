// SPDX-License-Identifier: GPL-2.0-only
/* io.wakegov: what the daemon shows and does. */
#include <errno.h>
#include <stdlib.h>

#include "shared/cleanup.h"
#include "varlink/interface.h"
#include "varlink/methods_adopt.h"
#include "varlink/methods_explain.h"
#include "varlink/methods_override.h"
#include "varlink/methods_rules.h"
#include "varlink/metrics.h"
#include "varlink/monitor.h"
#include "varlink/recording.h"
#include "varlink/tasks.h"
#include "varlink/view_json.h"

static int add_domain(void *out, const struct domain_view *view)
{
	view_json_domain(out, view);
	return ((struct json_out *)out)->error;
}

static int add_device(void *out, const struct device_view *view)
{
	view_json_device(out, view);
	return ((struct json_out *)out)->error;
}

static int add_decision(void *out, const struct decision_view *view)
{
	view_json_decision(out, view);
	return ((struct json_out *)out)->error;
}

static int add_program(void *out, const struct program_view *view)
{
	view_json_program(out, view);
	return ((struct json_out *)out)->error;
}

static int add_advice(void *out, const char *sentence)
{
	json_out_text(out, sentence);
	return ((struct json_out *)out)->error;
}

static void begin_list(struct json_out *out, const char *key)
{
	json_out_key(out, key);
	json_out_open(out, '[');
}

static int put_domains(struct json_out *out, const struct query_source *source)
{
	int r;

	begin_list(out, "domains");
	r = source->domains(source->userdata, add_domain, out);
	json_out_close(out, ']');
	return r;
}

static int put_programs(struct json_out *out, const struct query_source *source)
{
	int r;

	begin_list(out, "programs");
	r = source->programs(source->userdata, add_program, out);
	json_out_close(out, ']');
	return r;
}

static int put_advice(struct json_out *out, const struct query_source *source)
{
	int r;

	begin_list(out, "advice");
	r = source->advice(source->userdata, add_advice, out);
	json_out_close(out, ']');
	return r;
}

static int show_status(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	struct status_view view = { 0 };
	struct json_out *out;
	int r;

	r = source->status(source->userdata, &view);
	if (r < 0)
		return r;
	out = reply_begin(reply);
	view_json_status_fields(out, &view);
	r = put_domains(out, source);
	if (r >= 0)
		r = put_programs(out, source);
	if (r >= 0)
		r = put_advice(out, source);
	return r < 0 ? r : reply_end(reply);
}

static int list_domains(const struct call *call, struct reply *reply)
{
	int r = put_domains(reply_begin(reply), call->source);

	return r < 0 ? r : reply_end(reply);
}

static int list_devices(const struct call *call, struct reply *reply)
{
	struct json_out *out = reply_begin(reply);
	int r;

	begin_list(out, "devices");
	r = call->source->devices(call->source->userdata, add_device, out);
	json_out_close(out, ']');
	return r < 0 ? r : reply_end(reply);
}

static int list_decisions(const struct call *call, struct reply *reply)
{
	json_int_t after_us = json_integer_value(json_object_get(call->parameters, "after_us"));
	const struct query_source *source = call->source;
	struct json_out *out;
	int r;

	if (after_us < 0)
		return reply_send_invalid(reply, "after_us");

	out = reply_begin(reply);
	begin_list(out, "decisions");
	r = source->decisions(source->userdata, (uint64_t)after_us, add_decision, out);
	json_out_close(out, ']');
	return r < 0 ? r : reply_end(reply);
}

static int refuse_policy(struct reply *reply, const char *message)
{
	struct json_out *out = reply_begin_error(reply, "io.wakegov.PolicyInvalid");

	json_out_key(out, "message");
	json_out_text(out, message);
	return reply_end(reply);
}

static void add_warning(void *array, const char *line)
{
	json_array_append_new(array, json_string(line));
}

static int reload_policy(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	json_auto_t *warnings = json_array();
	_cleanup_free_ char *message = NULL;
	struct status_view view = { 0 };
	const json_t *warning;
	struct json_out *out;
	size_t i;
	int r;

	r = source->reload(source->userdata, add_warning, warnings, &message);
	if (r < 0 && message)
		return refuse_policy(reply, message);
	if (r >= 0)
		r = source->status(source->userdata, &view);
	if (r < 0)
		return r;

	out = reply_begin(reply);
	json_out_key(out, "policy");
	view_json_policy(out, &view);
	begin_list(out, "warnings");
	json_array_foreach(warnings, i, warning)
		json_out_text(out, json_string_value(warning));
	json_out_close(out, ']');
	return reply_end(reply);
}

static const struct query_method methods[] = {
	{ .name = "Status", .run = show_status },
	{ .name = "Domains", .run = list_domains },
	{
		.name = "Tasks",
		.run = tasks_list,
		.takes = { { .name = "domain", .type = JSON_STRING, .optional = true },
			   { .name = "state", .type = JSON_STRING, .optional = true },
			   { .name = "device", .type = JSON_STRING, .optional = true },
			   { .name = "pid", .type = JSON_INTEGER, .optional = true },
			   { .name = "sort", .type = JSON_STRING, .optional = true },
			   { .name = "offset", .type = JSON_INTEGER, .optional = true },
			   { .name = "limit", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 7,
	},
	{ .name = "Devices", .run = list_devices },
	{ .name = "Rules", .run = methods_list_rules },
	{
		.name = "RuleTasks",
		.run = methods_list_rule_tasks,
		.takes = { { .name = "rule", .type = JSON_STRING },
			   { .name = "offset", .type = JSON_INTEGER, .optional = true },
			   { .name = "limit", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 3,
	},
	{
		.name = "CappedTasks",
		.run = methods_list_capped,
		.takes = { { .name = "offset", .type = JSON_INTEGER, .optional = true },
			   { .name = "limit", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 2,
	},
	{
		.name = "ExplainRules",
		.run = methods_explain_rules,
		.takes = { { .name = "pid", .type = JSON_INTEGER } },
		.n_takes = 1,
	},
	{
		.name = "Decisions",
		.run = list_decisions,
		.takes = { { .name = "after_us", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 1,
	},
	{
		.name = "Monitor",
		.run = monitor_subscribe,
		.streams = true,
		.takes = { { .name = "kinds", .type = JSON_ARRAY, .optional = true },
			   { .name = "domain", .type = JSON_STRING, .optional = true },
			   { .name = "pid", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 3,
	},
	{
		.name = "Record",
		.run = recording_subscribe,
		.right = QUERY_RIGHT_CHANGE,
		.streams = true,
		.takes = { { .name = "max_bytes", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 1,
	},
	{
		.name = "StopRecording",
		.run = recording_stop_for_client,
		.right = QUERY_RIGHT_CHANGE,
	},
	{
		.name = "Explain",
		.run = methods_explain,
		.takes = { { .name = "domain", .type = JSON_STRING, .optional = true },
			   { .name = "cpu", .type = JSON_INTEGER, .optional = true },
			   { .name = "pid", .type = JSON_INTEGER, .optional = true },
			   { .name = "at_us", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 4,
	},
	{
		.name = "Metrics",
		.run = metrics_show,
		.takes = { { .name = "format", .type = JSON_STRING, .optional = true } },
		.n_takes = 1,
	},
	{ .name = "Overrides", .run = methods_list_overrides },
	{
		.name = "AddOverride",
		.run = methods_add_override,
		.right = QUERY_RIGHT_CHANGE,
		.takes = { { .name = "domain", .type = JSON_STRING, .optional = true },
			   { .name = "pid", .type = JSON_INTEGER, .optional = true },
			   { .name = "rule", .type = JSON_STRING, .optional = true },
			   { .name = "children", .type = JSON_TRUE, .optional = true },
			   { .name = "min_khz", .type = JSON_INTEGER, .optional = true },
			   { .name = "max_khz", .type = JSON_INTEGER, .optional = true },
			   { .name = "freeze", .type = JSON_TRUE, .optional = true },
			   { .name = "floor", .type = JSON_STRING, .optional = true },
			   { .name = "cap", .type = JSON_STRING, .optional = true },
			   { .name = "io_boost", .type = JSON_STRING, .optional = true },
			   { .name = "class", .type = JSON_STRING, .optional = true },
			   { .name = "for_us", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 12,
	},
	{
		.name = "CancelOverride",
		.run = methods_cancel_override,
		.right = QUERY_RIGHT_CHANGE,
		.takes = { { .name = "id", .type = JSON_INTEGER } },
		.n_takes = 1,
	},
	{
		.name = "Adopt",
		.run = methods_adopt,
		.right = QUERY_RIGHT_CHANGE,
		.takes = { { .name = "domain", .type = JSON_STRING, .optional = true } },
		.n_takes = 1,
	},
	{ .name = "Reload", .run = reload_policy, .right = QUERY_RIGHT_CHANGE },
};

static const char description[] =
#include "io.wakegov.varlink.inc"
	;

const struct query_interface query_interface_wakegov = {
	.name = "io.wakegov",
	.description = description,
	.methods = methods,
	.n_methods = ARRAY_SIZE(methods),
};
