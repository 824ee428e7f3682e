// SPDX-License-Identifier: GPL-2.0-only
/* The socket's methods for overrides. */
#include <errno.h>

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
