// SPDX-License-Identifier: GPL-2.0-only
/* The clock of a domain: changes take the transition latency, and keep to the thermal limit. */
#include "sim/governor.h"
#include "sim/sim_private.h"

void sim_domain_init(struct sim_domain *domain, const struct platform_domain *info)
{
	*domain = (struct sim_domain){ .info = info, .limit_khz = platform_max_khz(info) };
}

void sim_domain_account(struct sim *sim, struct sim_domain *domain)
{
	domain->opp_ns[domain->opp] += sim->now_ns - domain->since_ns;
	domain->since_ns = sim->now_ns;
}

/* The lowest OPP at or above what was asked for, else the highest within the limit. */
static uint32_t wanted_opp(const struct sim_domain *domain)
{
	uint32_t opp = platform_opp_at_or_above(domain->info, domain->asked_khz);

	while (opp && domain->info->opps[opp].khz > domain->limit_khz)
		opp--;
	return opp;
}

static void start_change(struct sim *sim, uint32_t index)
{
	struct sim_domain *domain = &sim->domains[index];

	domain->next_opp = wanted_opp(domain);
	if (domain->next_opp == domain->opp)
		return;
	domain->changing = true;
	domain->changes++;
	sim_add_event(sim, sim->now_ns + domain->info->transition_latency_ns, SIM_EVENT_FREQUENCY,
		      index, 0);
}

void sim_request_khz(struct sim *sim, uint32_t domain, uint32_t khz)
{
	sim->domains[domain].asked_khz = khz;
	if (!sim->domains[domain].changing)
		start_change(sim, domain);
}

void sim_domain_on_event(struct sim *sim, uint32_t index)
{
	struct sim_domain *domain = &sim->domains[index];

	sim_domain_account(sim, domain);
	sim_for_each_cpu(sim, cpu, index)
		sim_cpu_account(sim, &sim->cpus[cpu]);
	domain->opp = domain->next_opp;
	domain->changing = false;
	sim_for_each_cpu(sim, cpu, index)
		sim_cpu_plan(sim, &sim->cpus[cpu]);
	sim_tell(sim, on_frequency, index);
	if (!domain->changing)
		start_change(sim, index);
}

void sim_domain_limit(struct sim *sim, uint32_t index, uint32_t percent)
{
	struct sim_domain *domain = &sim->domains[index];

	domain->limit_khz = (uint64_t)platform_max_khz(domain->info) * percent / 100;
	sim_tell(sim, on_limit, index);
	if (!domain->changing)
		start_change(sim, index);
}
