// SPDX-License-Identifier: GPL-2.0-only
#include "sim/result.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/cleanup.h"

#define NS_PER_S 1e9

/* The totals of a run at one time; what lies between two of them is the result. */
struct totals {
	uint64_t ios;
	uint64_t rounds;
	uint64_t host_ns, host_running_ns;
	uint64_t thread_ns, interrupt_ns, idle_exit_ns;
	struct sim_domain domains[PLATFORM_DOMAINS_MAX];
	struct sim_device devices[PLATFORM_DEVICES_MAX];
	struct sim_thread threads[RESULT_THREADS_MAX];
};

static void read_totals(const struct sim *sim, struct totals *ret)
{
	*ret = (struct totals){};
	for (uint32_t i = 0; i < sim->n_threads; i++) {
		ret->ios += sim->threads[i].io_done;
		ret->rounds += sim->threads[i].rounds;
		ret->host_ns += sim->threads[i].host.idle_ns;
		ret->host_running_ns += sim->threads[i].host.running_ns;
		if (i < RESULT_THREADS_MAX)
			ret->threads[i] = sim->threads[i];
	}
	for (uint32_t i = 0; i < sim->platform->n_cpus; i++) {
		ret->thread_ns += sim->cpus[i].thread_ns;
		ret->interrupt_ns += sim->cpus[i].interrupt_ns;
		ret->idle_exit_ns += sim->cpus[i].idle_exit_ns;
	}
	for (uint32_t i = 0; i < sim->platform->n_domains; i++)
		ret->domains[i] = sim->domains[i];
	for (uint32_t i = 0; i < sim->platform->n_devices; i++)
		ret->devices[i] = sim->devices[i];
}

/* Σ κ · V² · f · busy time + static power · V / V_max · time. */
static double domain_energy_j(const struct platform_domain *info, const struct sim_domain *before,
			      const struct sim_domain *after)
{
	double v_max = info->opps[info->n_opps - 1].mv, energy_j = 0;
	int n_cpus = __builtin_popcountll(info->cpus);

	for (uint32_t i = 0; i < info->n_opps; i++) {
		double volt = info->opps[i].mv / 1e3, hz = info->opps[i].khz * 1e3;
		double busy_s = (after->busy_ns[i] - before->busy_ns[i]) / NS_PER_S;
		double time_s = (after->opp_ns[i] - before->opp_ns[i]) / NS_PER_S;

		energy_j += info->capacitance_pf * 1e-12 * volt * volt * hz * busy_s;
		energy_j += info->static_uw * 1e-6 * info->opps[i].mv / v_max * time_s * n_cpus;
	}
	return energy_j;
}

static void add_domain(const struct sim *sim, uint32_t index, const struct totals *before,
		       const struct totals *after, double time_s, struct result *ret)
{
	const struct platform_domain *info = &sim->platform->domains[index];
	const struct sim_domain *a = &before->domains[index], *b = &after->domains[index];
	double cpus = (double)__builtin_popcountll(info->cpus) / sim->platform->n_cpus;

	for (uint32_t i = 0; i < info->n_opps; i++)
		ret->mhz[index] += info->opps[i].khz / 1e3 * (b->opp_ns[i] - a->opp_ns[i]) /
				   NS_PER_S / time_s;
	ret->mean_mhz += cpus * ret->mhz[index];
	ret->lowest_opp_percent += cpus * 100 * (b->opp_ns[0] - a->opp_ns[0]) / NS_PER_S / time_s;
	ret->changes_per_s += (b->changes - a->changes) / time_s;
	ret->energy_j += domain_energy_j(info, a, b);
}

static void set_device(const struct sim_device *before, const struct sim_device *after,
		       double time_s, struct result_device *ret)
{
	ret->completions_per_s = (after->completions - before->completions) / time_s;
	ret->idle_percent = 100 * (after->idle_ns - before->idle_ns) / NS_PER_S / time_s;
	ret->mean_depth = (after->in_flight_ns - before->in_flight_ns) / NS_PER_S / time_s;
	if (ret->completions_per_s > 0)
		ret->mean_latency_us = ret->mean_depth / ret->completions_per_s * 1e6;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void set_thread(const struct sim_thread *before, const struct sim_thread *after,
		       double time_s, struct result_thread *ret)
{
	double host_ns = after->host.idle_ns - before->host.idle_ns;

	ret->iops = (after->io_done - before->io_done) / time_s;
	ret->rounds_per_s = (after->rounds - before->rounds) / time_s;
	ret->host_percent = percent(host_ns, time_s * NS_PER_S);
	ret->running_percent = percent(after->host.running_ns - before->host.running_ns, host_ns);
}

static void set_result(const struct sim *sim, const struct totals *a, const struct totals *b,
		       double time_s, struct result *ret)
{
	double thread_ns = b->thread_ns - a->thread_ns;
	double other_ns = b->interrupt_ns - a->interrupt_ns + b->idle_exit_ns - a->idle_exit_ns;
	double host_ns = b->host_ns - a->host_ns;

	*ret = (struct result){
		.workload = sim->workload,
		.governor = sim->governor->name,
		.iops = (b->ios - a->ios) / time_s,
		.rounds_per_s = (b->rounds - a->rounds) / time_s,
		.busy_percent = percent(thread_ns + other_ns,
					sim->platform->n_cpus * time_s * NS_PER_S),
		.off_queue_percent = percent(other_ns, thread_ns + other_ns),
		.host_percent = percent(host_ns, time_s * NS_PER_S),
		.running_percent = percent(b->host_running_ns - a->host_running_ns, host_ns),
		.ios = b->ios,
	};
	for (uint32_t i = 0; i < sim->platform->n_domains; i++)
		add_domain(sim, i, a, b, time_s, ret);
	for (uint32_t i = 0; i < sim->platform->n_devices; i++)
		set_device(&a->devices[i], &b->devices[i], time_s, &ret->devices[i]);
	for (uint32_t i = 0; i < sim->n_threads && i < RESULT_THREADS_MAX; i++)
		set_thread(&a->threads[i], &b->threads[i], time_s, &ret->threads[ret->n_threads++]);
}

int result_run(const struct platform *platform, const struct workload *workload,
	       const struct sim_governor *governor, const uint32_t *fixed_khz,
	       const struct run_options *options, struct result *ret)
{
	struct totals before, after;
	struct sim *sim;
	int r;

	r = sim_new(platform, workload, governor, fixed_khz, options->seed, options->recorder,
		    options->policy, &sim);
	if (r < 0)
		return r;
	r = sim_run(sim, options->warm_up_ns);
	read_totals(sim, &before);
	if (r == 0)
		r = sim_run(sim, options->warm_up_ns + options->duration_ns);
	read_totals(sim, &after);
	set_result(sim, &before, &after, options->duration_ns / NS_PER_S, ret);
	sim_free(sim);
	return r;
}
