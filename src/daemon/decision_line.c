// SPDX-License-Identifier: GPL-2.0-only
/* A decision's line, with what only the daemon knows: the time, names of devices and tasks. */
#include "daemon/core.h"
#include "daemon/process.h"
#include "shared/time.h"
#include "varlink/engine_line.h"

void decision_line_put(struct json_out *out, const struct core *core,
		       const struct decision *decision, const struct explanation *rests_on,
		       uint32_t read_back_khz, bool ask_names)
{
	uint64_t age_ns = time_now_ns() - decision->now_ns;
	char device[TRACER_DISK_SIZE];
	struct line_facts facts = {
		.topology = core->topology,
		.rests_on = rests_on,
		.realtime_us = (time_of_clock_ns(CLOCK_REALTIME) - age_ns) / NS_PER_US,
		.read_back_khz = read_back_khz,
		.power_source = power_source_name(core->domains[decision->domain].power_source),
		.ask = ask_names ? process_name : NULL,
	};

	if (rests_on->has_io && tracer_device_name(core->tracer, rests_on->io.device, device) == 0)
		facts.device = device;
	engine_line_put_decision(out, decision, &facts);
}
