// SPDX-License-Identifier: GPL-2.0-only
/* A decision's line, with what only the daemon knows: the time, names of devices and tasks. */
#include "daemon/core.h"
#include "daemon/process.h"
#include "shared/time.h"
#include "varlink/engine_line.h"

#define LINE_MAX_BYTES (16 * 1024)

struct change change_of(const struct core *core, const struct decision *decision,
			uint32_t read_back_khz)
{
	uint64_t age_ns = time_now_ns() - decision->now_ns;
	struct change change = {
		.decision = *decision,
		.rests_on = *engine_explanation(core->engine, decision->domain),
		.realtime_us = (time_of_clock_ns(CLOCK_REALTIME) - age_ns) / NS_PER_US,
		.read_back_khz = read_back_khz,
	};

	if (change.rests_on.has_io)
		tracer_device_name(core->tracer, change.rests_on.io.device, change.device);
	return change;
}

void change_put(struct json_out *out, const char *key, const struct core *core,
		const struct change *change, bool ask_names)
{
	const struct governed *governed;

	if (!change) {
		field_null(out, key);
		return;
	}
	governed = &core->domains[change->decision.domain];
	if (key)
		json_out_key(out, key);
	engine_line_put_decision(out, &change->decision,
				 &(struct line_facts){
					 .topology = core->topology,
					 .rests_on = &change->rests_on,
					 .realtime_us = change->realtime_us,
					 .read_back_khz = change->read_back_khz,
					 .device = change->device[0] ? change->device : NULL,
					 .power_source = power_source_name(governed->power_source),
					 .ask = ask_names ? process_name : NULL,
				 });
}

char *change_line(const struct core *core, const struct change *change)
{
	struct buffer line = { .max = LINE_MAX_BYTES };
	struct json_out out;

	json_out_init(&out, &line);
	change_put(&out, NULL, core, change, false);
	if (json_out_flush(&out) == 0 && buffer_append(&line, "", 1) == 0)
		return line.data;
	buffer_deinit(&line);
	return NULL;
}
