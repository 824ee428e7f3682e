// SPDX-License-Identifier: GPL-2.0-only
/* What several methods read and show in the same way. */

#include "config/keys.h"
#include "daemon/api/api.h"

void api_put_level(struct json_out *out, const char *key, const struct policy_level *level,
		   enum rule_property property)
{
	char buffer[POLICY_LEVEL_SIZE];

	field_text(out, key, policy_level_format(property, level, buffer));
}

void api_put_properties(struct json_out *out, const struct policy_properties *properties)
{
	api_put_level(out, "cap", &properties->cap, RULE_CAP);
	api_put_level(out, "floor", &properties->floor, RULE_FLOOR);
	api_put_level(out, "io_boost", &properties->io_boost, RULE_IO_BOOST);
	api_put_level(out, "placement", &properties->placement, RULE_PLACEMENT);
	api_put_level(out, "idle_latency", &properties->idle_latency, RULE_IDLE_LATENCY);
}

struct api_page api_read_page(const struct call *call)
{
	return (struct api_page){
		.from = (uint32_t)call_number(call, "offset"),
		.left = (uint32_t)call_number_or(call, "limit", API_PAGE_MAX),
		.next = -1,
	};
}

bool api_is_on_page(struct api_page *page, uint32_t place)
{
	if (!page->left) {
		page->next = place;
		return false;
	}
	page->left--;
	return true;
}

int api_end_page(struct json_out *out, const struct api_page *page, struct reply *reply)
{
	json_out_close(out, ']');
	field_count_if(out, "next_offset", page->next >= 0, (uint64_t)page->next);
	return reply_end(reply);
}

void api_count_drops(const struct core *core, struct api_drops ret[static API_DROPS])
{
	struct tracer_drops drops;

	tracer_drops(core->tracer, &drops);
	ret[0] = (struct api_drops){ "ring", drops.ring };
	ret[1] = (struct api_drops){ "slots", drops.slots };
	ret[2] = (struct api_drops){ "tasks", io_task_refused(engine_tasks(core->engine)) };
	ret[3] = (struct api_drops){ "devices", drops.devices };
	ret[4] = (struct api_drops){ "missed", drops.missed };
	ret[5] = (struct api_drops){ "processes", drops.processes };
	ret[6] = (struct api_drops){ "hints", rules_hints(core->rules)->refused };
	ret[7] = (struct api_drops){ "threads", drops.threads };
	ret[8] = (struct api_drops){ "chains", drops.chains };
}
