// SPDX-License-Identifier: GPL-2.0-only
/* io.wakegov: what the daemon shows and does. */
#include <errno.h>
#include <stdlib.h>

#include "query/interface.h"
#include "query/view_json.h"
#include "shared/cleanup.h"

static void decrefp(json_t **json)
{
	json_decref(*json);
}

static int append_domain(void *array, const struct domain_view *view)
{
	return json_array_append_new(array, view_json_domain(view)) < 0 ? -ENOMEM : 0;
}

static int append_program(void *array, const struct program_view *view)
{
	return json_array_append_new(array, view_json_program(view)) < 0 ? -ENOMEM : 0;
}

static int append_advice(void *array, const char *sentence)
{
	return json_array_append_new(array, view_json_text(sentence)) < 0 ? -ENOMEM : 0;
}

/*
 * Domains, programs and advice are bounded by the machine and the build, so their tree may be
 * built.
 */
static int show_status(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	_cleanup_(decrefp) json_t *programs = json_array();
	_cleanup_(decrefp) json_t *domains = json_array();
	_cleanup_(decrefp) json_t *advice = json_array();
	struct status_view view = { 0 };
	int r;

	r = source->status(source->userdata, &view);
	if (r < 0)
		return r;
	r = source->domains(source->userdata, append_domain, domains);
	if (r < 0)
		return r;
	r = source->programs(source->userdata, append_program, programs);
	if (r < 0)
		return r;
	r = source->advice(source->userdata, append_advice, advice);
	if (r < 0)
		return r;

	return reply_send(reply, view_json_status(&view, take_ptr(domains), take_ptr(programs),
						  take_ptr(advice)));
}

static int add_domain(void *reply, const struct domain_view *view)
{
	return reply_add_element(reply, view_json_domain(view));
}

static int list_domains(const struct call *call, struct reply *reply)
{
	int r = reply_begin_list(reply, "domains");

	if (!r)
		r = call->source->domains(call->source->userdata, add_domain, reply);
	return r < 0 ? r : reply_end_list(reply);
}

static int add_task(void *reply, const struct task_view *view)
{
	return reply_add_element(reply, view_json_task(view));
}

static int list_tasks(const struct call *call, struct reply *reply)
{
	int r = reply_begin_list(reply, "tasks");

	if (!r)
		r = call->source->tasks(call->source->userdata, add_task, reply);
	return r < 0 ? r : reply_end_list(reply);
}

static int add_device(void *reply, const struct device_view *view)
{
	return reply_add_element(reply, view_json_device(view));
}

static int list_devices(const struct call *call, struct reply *reply)
{
	int r = reply_begin_list(reply, "devices");

	if (!r)
		r = call->source->devices(call->source->userdata, add_device, reply);
	return r < 0 ? r : reply_end_list(reply);
}

static int add_decision(void *reply, const struct decision_view *view)
{
	return reply_add_element(reply, view_json_decision(view));
}

static int list_decisions(const struct call *call, struct reply *reply)
{
	json_int_t after_us = json_integer_value(json_object_get(call->parameters, "after_us"));
	const struct query_source *source = call->source;
	int r;

	if (after_us < 0)
		return reply_send_invalid(reply, "after_us");

	r = reply_begin_list(reply, "decisions");
	if (!r)
		r = source->decisions(source->userdata, (uint64_t)after_us, add_decision, reply);
	return r < 0 ? r : reply_end_list(reply);
}

static int reload_policy(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	_cleanup_free_ char *message = NULL;
	struct status_view view = { 0 };
	int r;

	if (!call->privileged)
		return reply_send_error(reply, "org.varlink.service.PermissionDenied",
					json_object());

	r = source->reload(source->userdata, &message);
	if (r < 0 && message)
		return reply_send_error(reply, "io.wakegov.PolicyInvalid",
					json_pack("{so}", "message", view_json_text(message)));
	if (r >= 0)
		r = source->status(source->userdata, &view);
	if (r < 0)
		return r;

	return reply_send(reply, json_pack("{so}", "policy", view_json_policy(&view)));
}

static const struct query_method methods[] = {
	{ .name = "Status", .run = show_status },
	{ .name = "Domains", .run = list_domains },
	{ .name = "Tasks", .run = list_tasks },
	{ .name = "Devices", .run = list_devices },
	{
		.name = "Decisions",
		.run = list_decisions,
		.takes = { { .name = "after_us", .type = JSON_INTEGER, .optional = true } },
		.n_takes = 1,
	},
	{ .name = "Reload", .run = reload_policy },
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
