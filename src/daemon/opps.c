// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/domains.h"

#include "actuator/discovery.h"
#include "core/opp.h"
#include "daemon/module.h"
#include "shared/log.h"
#include "shared/time.h"

/* Returns whether there was a place for it, and memory. */
static bool add(struct core *core, uint32_t domain, uint32_t khz, uint32_t power)
{
	const struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_OPP,
		.opp = { .domain = domain, .khz = khz, .power = power },
	};

	if (core->topology->domains[domain].n_opps == DOMAIN_OPPS_MAX)
		return false;
	modules_each(core, row) if (row->module->add_opp &&
				    row->module->add_opp(row->state, domain) < 0) return false;
	opp_add(&core->topology->domains[domain], khz, power);
	engine_apply(core->engine, &input);
	return true;
}

/* Of more OPPs than there are places for, takes as many evenly, the highest included. */
static void add_above(struct core *core, uint32_t domain, const struct topology_domain *now)
{
	struct topology_domain *info = &core->topology->domains[domain];
	uint32_t first = 0, n, places = DOMAIN_OPPS_MAX - info->n_opps;

	while (first < now->n_opps && now->opp_khz[first] <= topology_domain_max_khz(info))
		first++;
	n = now->n_opps - first;
	if (n < places)
		places = n;
	for (uint32_t i = 0; i < places; i++) {
		uint32_t opp = first + (i + 1) * n / places - 1;

		if (!add(core, domain, now->opp_khz[opp], now->opp_power[opp]))
			return;
	}
	if (!places)
		return;
	topology_for_each_cpu(core->topology, cpu, domain)
		tracer_set_reference(core->tracer, cpu, topology_domain_reference_khz(info));
	modules_call(core, powers_changed);
	log_info("%s: up to %u MHz from now on", info->name, topology_domain_max_khz(info) / 1000);
}

void opps_follow(struct core *core, uint32_t domain)
{
	struct governed *governed = &core->domains[domain];
	struct topology_domain now = core->topology->domains[domain];

	if (!actuator_domain_see_boost(&governed->actuator) || cpufreq_discover_opps(&now) < 0)
		return;
	governed->power_source = power_find(&core->policy, &now);
	add_above(core, domain, &now);
}
