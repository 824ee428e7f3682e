// SPDX-License-Identifier: GPL-2.0-only
/* The socket's methods for overrides. */
#include <errno.h>

#include "daemon/api/api.h"
#include "daemon/loop.h"
#include "daemon/modules/grants.h"
#include "shared/time.h"

/* The type Override. */
static void put_override(struct json_out *out, const struct topology *topology,
			 const struct override *override)
{
	const struct policy_override *target = &override->target;
	const struct policy_properties *levels = &override->properties;
	uint64_t now_ns = time_now_ns(), end_ns = override->end_ns;
	bool of_rule = !override->of_domain && !target->pid;

	json_out_open(out, '{');
	field_count(out, "id", override->id);
	field_text(out, "domain",
		   override->of_domain ? topology->domains[override->domain].name : NULL);
	field_nonzero(out, "pid", target->pid);
	field_text(out, "comm", target->pid ? override->comm : NULL);
	field_text(out, "rule", of_rule ? target->rule : NULL);
	field_bool(out, "children", target->children);
	field_nonzero(out, "min_khz", override->min_khz);
	field_nonzero(out, "max_khz", override->max_khz);
	field_nonzero(out, "frozen_khz", override->frozen_khz);
	api_put_level(out, "floor", &levels->floor, RULE_FLOOR);
	api_put_level(out, "cap", &levels->cap, RULE_CAP);
	api_put_level(out, "io_boost", &levels->io_boost, RULE_IO_BOOST);
	api_put_level(out, "idle_latency", &levels->idle_latency, RULE_IDLE_LATENCY);
	field_count(out, "uid", override->uid);
	field_count(out, "left_us", end_ns > now_ns ? (end_ns - now_ns) / NS_PER_US : 0);
	json_out_close(out, '}');
}

int api_list_overrides(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct overrides *overrides = &manager->grants.overrides;
	struct json_out *out = reply_begin(reply);

	field_open(out, "overrides", '[');
	for (int of_tasks = 0; of_tasks < 2; of_tasks++)
		overrides_each(overrides, override) {
			if (override->of_domain == !of_tasks && !override->ended)
				put_override(out, manager->core.topology, override);
		}
	json_out_close(out, ']');
	return reply_end(reply);
}

/* Reads one of domain, pid, self and rule. Returns NULL, or the name of an invalid parameter. */
static const char *parse_target(const struct call *call, struct override_request *ret)
{
	ret->domain = call_text(call, "domain");
	ret->rule = call_text(call, "rule");
	ret->children = call_flag(call, "children");
	ret->pid = (uint32_t)call_number(call, "pid");
	if (ret->pid && ret->domain)
		return "pid";
	if (call_flag(call, "self") && (ret->pid || ret->domain))
		return "self";
	if (call_flag(call, "self"))
		ret->pid = (uint32_t)call->peer->pid;
	if (ret->rule && (ret->domain || ret->pid))
		return "rule";
	if (!ret->domain && !ret->rule && !ret->pid)
		return "domain";
	return ret->children && !ret->pid ? "children" : NULL;
}

/* Reads levels as in a policy. Returns NULL, or the name of an invalid parameter. */
static const char *parse_levels(const struct call *call, struct override_request *ret)
{
	ret->floor = call_text(call, "floor");
	ret->cap = call_text(call, "cap");
	ret->io_boost = call_text(call, "io_boost");
	ret->idle_latency = call_text(call, "idle_latency");
	if (ret->floor && (ret->domain || ret->min_khz || ret->freeze))
		return "floor";
	if (ret->cap && (ret->domain || ret->max_khz || ret->freeze))
		return "cap";
	if (ret->idle_latency && ret->domain)
		return "idle_latency";
	return ret->io_boost && ret->domain ? "io_boost" : NULL;
}

/* Returns NULL, or the name of an invalid parameter. */
static const char *parse_request(const struct call *call, struct override_request *ret)
{
	const char *wrong;

	*ret = (struct override_request){
		.min_khz = (uint32_t)call_number(call, "min_khz"),
		.max_khz = (uint32_t)call_number(call, "max_khz"),
		.freeze = call_flag(call, "freeze"),
		.for_us = (uint64_t)call_number_or(call, "for_us", API_FOR_DEFAULT_US),
		.uid = call->peer->uid,
	};
	wrong = parse_target(call, ret);
	if (wrong)
		return wrong;
	if (ret->min_khz && ret->max_khz && ret->min_khz > ret->max_khz)
		return "min_khz";
	wrong = parse_levels(call, ret);
	if (wrong)
		return wrong;
	/* freeze excludes other frequencies; without it something else is needed. */
	if (ret->freeze && (ret->min_khz || ret->max_khz))
		return "freeze";
	if (!ret->freeze && !ret->min_khz && !ret->max_khz && !ret->floor && !ret->cap &&
	    !ret->io_boost && !ret->idle_latency)
		return "freeze";
	return NULL;
}

int api_add_override(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	struct override_request request;
	const char *wrong = parse_request(call, &request);
	struct json_out *out;
	uint32_t id;
	int r;

	if (wrong)
		return reply_send_invalid(reply, wrong);
	r = overrides_add(&manager->grants, &request, &id, &wrong);
	switch (r) {
	case 0:
		break;
	case -ENODEV:
		return api_refuse_domain(reply, request.domain);
	case -ENOENT:
		return api_refuse_rule(reply, request.rule);
	case -ENOSPC:
		return reply_send_error(
			reply, "io.wakegov.TooManyOverrides",
			json_pack("{sI}", "max",
				  (json_int_t)overrides_room(&core->policy, request.domain)));
	case -EINVAL:
		return reply_send_invalid(reply, wrong);
	case -ESRCH:
		return api_refuse_task(reply, request.pid);
	default:
		return r;
	}
	round_run(core);
	out = reply_begin(reply);
	json_out_key(out, "override");
	put_override(out, core->topology, overrides_find(&manager->grants.overrides, id));
	return reply_end(reply);
}

int api_cancel_override(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	json_int_t id = call_number(call, "id");

	if (id <= 0 || id > UINT32_MAX || overrides_cancel(&manager->grants, (uint32_t)id) < 0)
		return reply_send_error(reply, "io.wakegov.NoSuchOverride",
					json_pack("{sI}", "id", id));
	round_run(core);
	return reply_send(reply, json_object());
}
