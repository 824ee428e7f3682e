// SPDX-License-Identifier: GPL-2.0-only
/* The socket's methods for what clients give for a while: overrides and hints. */
#include <errno.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/loop.h"
#include "daemon/modules/overrides.h"
#include "shared/time.h"

static void put_override(struct json_out *out, const struct override *override)
{
	uint64_t now_ns = time_now_ns(), end_ns = override->end_ns;

	json_out_open(out, '{');
	override_put_fields(out, override);
	field_count(out, "left_us", end_ns > now_ns ? (end_ns - now_ns) / NS_PER_US : 0);
	json_out_close(out, '}');
}

int api_list_overrides(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct json_out *out = reply_begin(reply);

	field_open(out, "overrides", '[');
	overrides_each(&manager->overrides, override) {
		if (!override->ended)
			put_override(out, override);
	}
	json_out_close(out, ']');
	return reply_end(reply);
}

int api_add_override(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	const char *domain = call_text(call, "domain"), *wrong;
	struct override override;
	struct json_out *out;

	if (domain && topology_find(core->topology, domain) == TOPOLOGY_NO_DOMAIN)
		return api_refuse_domain(reply, domain);
	wrong = override_parse(call, &override);
	if (wrong)
		return reply_send_invalid(reply, wrong);
	override.uid = call->peer->uid;
	/* The caller itself. */
	if (!domain && !override.target.pid && !override.target.rule[0])
		override.target.pid = (uint32_t)call->peer->pid;
	switch (overrides_add(&manager->overrides, &override,
			      (uint64_t)call_number_or(call, "for_us", API_FOR_DEFAULT_US))) {
	case 0:
		break;
	case -ENOENT:
		return api_refuse_rule(reply, override.target.rule);
	case -ENOSPC:
		return reply_send_error(
			reply, "io.wakegov.TooManyOverrides",
			json_pack("{sI}", "max",
				  (json_int_t)overrides_room(&core->policy, domain)));
	default:
		return api_refuse_task(reply, override.target.pid);
	}
	round_run(core);
	out = reply_begin(reply);
	json_out_key(out, "override");
	put_override(out, &override);
	return reply_end(reply);
}

int api_cancel_override(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	json_int_t id = call_number(call, "id");

	if (id <= 0 || id > UINT32_MAX || overrides_cancel(&manager->overrides, (uint32_t)id) < 0)
		return reply_send_error(reply, "io.wakegov.NoSuchOverride",
					json_pack("{sI}", "id", id));
	round_run(&manager->core);
	return reply_send(reply, json_object());
}

/* Classes and hints. */

int api_list_classes(const struct call *call, struct reply *reply)
{
	const struct core *core = api_core(call);
	const struct policy *policy = &core->policy;
	struct json_out *out = reply_begin(reply);
	bool drives = core_drives_any(core);

	field_text(out, "why_not_here",
		   drives	     ? NULL
		   : core->n_domains ? "not-driven"
				     : "no-domains");
	field_open(out, "classes", '[');
	for (uint32_t i = 0; i < policy->n_classes; i++) {
		const struct policy_class *class = &policy->classes[i];
		int rule = hints_rule(policy, class->name);

		json_out_open(out, '{');
		field_text(out, "name", class->name);
		api_put_properties(out, &class->properties);
		field_bool(out, "inherit", !class->properties.not_inherited);
		field_count(out, "tasks", rule < 0 ? 0 : core->rules->ruled[rule].count.tasks);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	return reply_end(reply);
}

int api_list_hints(const struct call *call, struct reply *reply)
{
	const struct core *core = api_core(call);
	const struct hints *hints = core->rules->hints;
	const struct hint *hint = NULL;
	struct api_page page = api_read_page(call);
	struct json_out *out = reply_begin(reply);

	field_count(out, "total", pid_index_count(hints->index));
	field_open(out, "hints", '[');
	while ((hint = hints_next(hints, hint))) {
		uint32_t place = hint->id % HINTS_MAX;

		if (place < page.from)
			continue;
		if (!api_is_on_page(&page, place))
			break;
		api_put_hint(out, hint);
	}
	return api_end_page(out, &page, reply);
}

static int refuse(struct reply *reply, const struct hint_request *request, int error,
		  const struct policy_query *query)
{
	static const struct {
		int error;
		const char *name;
	} of_task[] = {
		{ -ESRCH, "io.wakegov.NoSuchTask" },	    { -EPERM, "io.wakegov.NotYours" },
		{ -EOPNOTSUPP, "io.wakegov.KernelThread" }, { -ENOENT, "io.wakegov.NoSuchHint" },
		{ -EBUSY, "io.wakegov.HintHeld" },
	};
	json_int_t pid = request->pid ?: (uint32_t)request->peer->pid;

	for (size_t i = 0; i < ARRAY_SIZE(of_task); i++)
		if (error == of_task[i].error)
			return reply_send_error(reply, of_task[i].name,
						json_pack("{sI}", "pid", pid));
	switch (error) {
	case -ENODATA:
		return reply_send_error(reply, "io.wakegov.NoSuchClass",
					json_pack("{ss}", "class", request->class));
	case -EDQUOT:
		return reply_send_error(reply, "io.wakegov.TooManyHints",
					json_pack("{sI}", "max", (json_int_t)query->max_hints));
	case -ENOSPC:
		return reply_send_error(reply, "io.wakegov.NoRoomForHint", json_object());
	default:
		return error;
	}
}

static int give(const struct call *call, struct reply *reply, bool hold)
{
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	const struct hint_request request = {
		.pid = (uint32_t)call_number(call, "pid"),
		.pidfd_id = (uint64_t)call_number(call, "pidfd_id"),
		.class = call_text(call, "class"),
		.children = json_object_get(call->parameters, "children")
				    ? call_flag(call, "children")
				    : -1,
		.for_us = (uint64_t)call_number_or(call, "for_us", API_FOR_DEFAULT_US),
		.peer = call->peer,
	};
	struct hint *hint = NULL;
	struct json_out *out;
	int r;

	if (!hold && !strcmp(request.class, "none"))
		r = hinting_end(&manager->hinting, &request);
	else
		r = hinting_give(&manager->hinting, &request, &hint);
	if (r < 0)
		return refuse(reply, &request, r, &core->policy.query);
	if (hold) {
		r = hinting_hold(&manager->hinting, hint, call->subscription);
		if (r < 0)
			return r;
		reply->continues = true;
	}
	round_run(core);
	out = reply_begin(reply);
	json_out_key(out, "hint");
	api_put_hint(out, hint);
	return reply_end(reply);
}

int api_give_hint(const struct call *call, struct reply *reply)
{
	return give(call, reply, false);
}

/* The hint ends with the connection. */
int api_hold_hint(const struct call *call, struct reply *reply)
{
	return give(call, reply, true);
}
