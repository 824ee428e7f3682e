// SPDX-License-Identifier: GPL-2.0-only
/* The clock of a domain: changes take the transition latency. */
#include "sim/governor.h"
#include "sim/sim_private.h"

void sim_domain_init(struct sim_domain *domain, const struct platform_domain *info)
{
	*domain = (struct sim_domain){ .info = info };
}

void sim_domain_account(struct sim *sim, struct sim_domain *domain)
{
	domain->opp_ns[domain->opp] += sim->now_ns - domain->since_ns;
	domain->since_ns = sim->now_ns;
}

static void start_change(struct sim *sim, uint32_t index)
{
	struct sim_domain *domain = &sim->domains[index];

	domain->next_opp = platform_opp_at_or_above(domain->info, domain->asked_khz);
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
