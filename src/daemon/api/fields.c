// SPDX-License-Identifier: GPL-2.0-only
/* What several methods read and show in the same way. */

#include <stdio.h>

#include "daemon/api/api.h"

void api_put_level(struct json_out *out, const char *key, const struct policy_level *level,
		   enum rule_property property)
{
	uint32_t none = property == RULE_FLOOR ? 0 : TOPOLOGY_CAPACITY_MAX;
	char text[24] = "none";

	switch (level->kind) {
	case POLICY_LEVEL_NONE:
		field_null(out, key);
		return;
	case POLICY_LEVEL_PERCENT:
		snprintf(text, sizeof(text), "%u%%", level->value);
		break;
	case POLICY_LEVEL_KHZ:
		snprintf(text, sizeof(text), "%ukHz", level->value);
		break;
	case POLICY_LEVEL_RESPONSE:
		snprintf(text, sizeof(text), "%uus", level->value);
		break;
	case POLICY_LEVEL_PLACEMENT:
		if (level->value == POLICY_PLACEMENT_FORK_SPREAD)
			snprintf(text, sizeof(text), "fork-spread");
		break;
	case POLICY_LEVEL_IDLE_LATENCY:
		if (level->value < POLICY_IDLE_LATENCY_NONE)
			snprintf(text, sizeof(text), "%uus", level->value);
		break;
	default:
		if (property == RULE_IO_BOOST && (!level->value || level->value == none))
			snprintf(text, sizeof(text), "%s", level->value ? "on" : "off");
		else if (level->value != none)
			snprintf(text, sizeof(text), "%u/1024", level->value);
	}
	field_text(out, key, text);
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
}
