// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a decision in its one form. Each field stands in one line of this file, in the order in
 * which the decision was made: the demands, what limited the highest of them, the OPP. Below it the
 * other object of the engine that is sent: a task with I/O.
 */
#include "varlink/engine_line.h"

#include "core/io_model.h"
#include "core/opp.h"
#include "shared/cleanup.h"
#include "shared/time.h"

static uint32_t gain_permille(uint32_t saved_ppm)
{
	if (saved_ppm > IO_SHARE_MAX)
		saved_ppm = IO_SHARE_MAX;
	return (uint64_t)saved_ppm * 1000 / (IO_PPM - saved_ppm);
}

static const char *name_of(uint32_t pid, const char *known, line_name_t *ask,
			   char buffer[static TASK_COMM_SIZE])
{
	if (ask)
		return ask(pid, known, buffer);
	return known && known[0] ? known : NULL;
}

void engine_line_put_contender(struct json_out *out, const struct contender *contender,
			       line_name_t *ask)
{
	char comm[TASK_COMM_SIZE];

	field_nonzero(out, "pid", contender->pid);
	field_text(out, "comm", name_of(contender->pid, contender->comm, ask, comm));
	if (!field_open_if(out, "chain", contender->reason == REASON_CHAIN))
		return;
	field_nonzero(out, "pid", contender->partner);
	field_text(out, "comm", name_of(contender->partner, "", ask, comm));
	field_count(out, "share_permille", contender->share_permille);
	json_out_close(out, '}');
}

static void put_contenders(struct json_out *out, const struct line_facts *facts,
			   const struct topology_domain *info)
{
	const struct explanation *rests_on = facts->rests_on;

	field_count(out, "n_contenders", rests_on->n_contenders);
	field_open(out, "contenders", '[');
	for (uint32_t i = 0; i < rests_on->n_contenders && i < EXPLANATION_CONTENDERS_MAX; i++) {
		const struct contender *contender = &rests_on->contenders[i];

		json_out_open(out, '{');
		field_text(out, "reason", reason_names[contender->reason]);
		field_count(out, "cpu", contender->cpu);
		engine_line_put_contender(out, contender, facts->ask);
		field_count(out, "demand_cap", contender->cap);
		field_count(out, "demand_khz", opp_khz_for_cap(info, contender->cap));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void put_rule(struct json_out *out, const struct explained_rule *rule)
{
	if (!field_open_if(out, "rule", rule->name[0]))
		return;
	field_text(out, "name", rule->name);
	field_text(out, "file", rule->file);
	field_count(out, "line", rule->line);
	field_nonzero(out, "pid", rule->pid);
	json_out_close(out, '}');
}

/* In the order of their application. */
static void put_clamps(struct json_out *out, const struct explanation *rests_on, enum limiter acted)
{
	const struct {
		enum limiter limiter;
		uint32_t khz;
		uint32_t override;
	} clamps[] = {
		{ LIMITER_POLICY_MIN, rests_on->policy_min_khz, rests_on->min_override },
		{ LIMITER_POLICY_MAX, rests_on->policy_max_khz, rests_on->max_override },
		{ LIMITER_SCALING_MIN, rests_on->scaling_min_khz, 0 },
		{ LIMITER_SCALING_MAX, rests_on->scaling_max_khz, 0 },
	};

	field_open(out, "clamps", '[');
	for (size_t i = 0; i < ARRAY_SIZE(clamps); i++) {
		if (!clamps[i].khz || clamps[i].khz == UINT32_MAX)
			continue;
		json_out_open(out, '{');
		field_text(out, "by", limiter_names[clamps[i].limiter]);
		field_count(out, "khz", clamps[i].khz);
		field_nonzero(out, "override", clamps[i].override);
		field_bool(out, "acted", clamps[i].limiter == acted);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* device by its name, as other daemons have other numbers. */
static void put_io(struct json_out *out, const struct line_facts *facts)
{
	const struct explained_io *io = &facts->rests_on->io;
	bool is_predicted = io->device != IO_BOOST_NO_DEVICE;

	if (!field_open_if(out, "io", facts->rests_on->has_io))
		return;
	field_text(out, "state", io_boost_state_names[io->state]);
	field_text(out, "device", facts->device);
	field_count(out, "io_rate_per_s", io->rate_per_s);
	field_count_if(out, "host_share_permille", is_predicted, io->host_ppm / 1000);
	field_count_if(out, "predicted_gain_permille", is_predicted,
		       gain_permille(io->predicted_ppm));
	field_count_if(out, "measured_gain_permille", io->tried,
		       io->found.gain_ppm > 0 ? io->found.gain_ppm / 1000 : 0);
	field_count_if(out, "gain_error_permille", io->tried, io->found.error_ppm / 1000);
	field_count(out, "pairs", io->tried);
	field_nonzero(out, "wanted_khz", io->wanted_khz);
	json_out_close(out, '}');
}

/* The sufficient OPP that was skipped, and the energy that it takes more than the chosen one. */
static void put_skipped(struct json_out *out, const struct line_facts *facts,
			const struct decision *decision)
{
	const struct topology_domain *info = &facts->topology->domains[decision->domain];
	uint32_t lowest_khz = facts->rests_on->lowest_khz;
	double energy[2] = { 0 }; /* of a cycle at either OPP */

	for (uint32_t i = 0; i < info->n_opps; i++) {
		if (info->opp_khz[i] == lowest_khz)
			energy[0] = (double)info->opp_power[i] / lowest_khz;
		if (info->opp_khz[i] == decision->wanted_khz)
			energy[1] = (double)info->opp_power[i] / decision->wanted_khz;
	}
	if (!field_open_if(out, "skipped",
			   lowest_khz < decision->wanted_khz && energy[0] && energy[1]))
		return;
	field_count(out, "khz", lowest_khz);
	field_count(out, "energy_permille", (uint64_t)(energy[0] / energy[1] * 1000 + 0.5));
	field_text(out, "source", facts->power_source);
	json_out_close(out, '}');
}

void engine_line_put_decision(struct json_out *out, const struct decision *decision,
			      const struct line_facts *facts)
{
	const struct topology_domain *info = &facts->topology->domains[decision->domain];
	char comm[TASK_COMM_SIZE];

	json_out_open(out, '{');
	field_text(out, "domain", info->name);
	field_count(out, "monotonic_us", decision->now_ns / NS_PER_US);
	field_nonzero(out, "realtime_us", facts->realtime_us);
	field_text(out, "reason", reason_names[decision->reason]);
	field_text(out, "limiter", limiter_names[decision->limiter]);
	field_text(out, "timing", timing_names[decision->timing]);
	field_nonzero(out, "previous_khz", decision->previous_khz);
	field_nonzero(out, "wanted_khz", decision->wanted_khz);
	field_nonzero(out, "target_khz", decision->target_khz);
	field_nonzero(out, "read_back_khz", facts->read_back_khz);
	field_count(out, "demand_cap", decision->want_cap);
	field_count(out, "cpu", decision->cpu);
	field_nonzero(out, "pid", decision->pid);
	field_text(out, "comm", name_of(decision->pid, decision->comm, facts->ask, comm));
	field_nonzero(out, "capped_pid", decision->capped_pid);
	put_contenders(out, facts, info);
	put_rule(out, &facts->rests_on->rule);
	put_io(out, facts);
	put_clamps(out, facts->rests_on, decision->limiter);
	put_skipped(out, facts, decision);
	json_out_close(out, '}');
}

/* Whether the task's I/O was measured and it runs in a domain. */
static bool is_measured(const struct io_boost *boost, uint32_t domain)
{
	return domain != TOPOLOGY_NO_DOMAIN &&
	       (boost->ratio ||
		(boost->device != IO_BOOST_NO_DEVICE && boost->state != IO_BOOST_MEASURING));
}

/* The host's share of the time of an I/O at the domain's present target. */
static uint32_t host_share_permille(const struct engine *engine, const struct io_boost *boost,
				    uint32_t domain)
{
	const struct topology_domain *info = &engine_topology(engine)->domains[domain];
	uint32_t khz = engine_last(engine, domain)->target_khz;

	return io_share_of_ratio(boost->ratio, io_level_at(info, khz ? khz : info->opp_khz[0])) /
	       1000;
}

/* What the boost is predicted to gain over the lowest OPP of the domain. */
static uint32_t predicted_permille(const struct engine *engine, const struct io_boost *boost,
				   uint32_t domain)
{
	const struct topology_domain *info = &engine_topology(engine)->domains[domain];

	return gain_permille(io_saved_ppm(boost->ratio, io_level_at(info, info->opp_khz[0]),
					  io_level_at(info, boost->wanted_khz)));
}

void engine_line_put_task(struct json_out *out, const struct engine *engine,
			  const struct io_task *task, const char *device, uint64_t now_ns)
{
	const struct topology *topology = engine_topology(engine);
	const struct io_boost *boost = &task->io_boost;
	uint32_t domain = topology_domain_of(topology, task->cpu), pairs = 0;
	bool measured = is_measured(boost, domain), is_predicted = measured && boost->wanted_khz;
	struct experiment_estimate found;

	engine_estimate(engine, boost, &pairs, &found);
	json_out_open(out, '{');
	field_count(out, "pid", task->pid);
	field_nonzero(out, "tgid", task->tgid);
	field_text(out, "comm", task->comm);
	field_count(out, "cpu", task->cpu);
	field_text(out, "domain",
		   domain == TOPOLOGY_NO_DOMAIN ? NULL : topology->domains[domain].name);
	field_text(out, "state", io_boost_state_names[boost->state]);
	field_text(out, "device", device);
	field_count(out, "io_rate_per_s", boost->rate_per_s);
	field_count_if(out, "host_share_permille", measured,
		       measured ? host_share_permille(engine, boost, domain) : 0);
	field_count_if(out, "predicted_gain_permille", is_predicted,
		       is_predicted ? predicted_permille(engine, boost, domain) : 0);
	field_count_if(out, "measured_gain_permille", pairs,
		       found.gain_ppm > 0 ? found.gain_ppm / 1000 : 0);
	field_count_if(out, "gain_error_permille", pairs, found.error_ppm / 1000);
	field_count(out, "pairs", pairs);
	field_nonzero(out, "wanted_khz", boost->wanted_khz);
	field_count(out, "boost_cap", engine_task_boost_cap(engine, task));
	field_nonzero(out, "need_khz",
		      engine_task_need_cap(engine, task) ? engine_last(engine, domain)->target_khz
							 : 0);
	field_bool(out, "kernel_boosts", engine_kernel_boosts(engine, task));
	field_count(out, "hold_left_us",
		    boost->hold_end_ns > now_ns ? (boost->hold_end_ns - now_ns) / NS_PER_US : 0);
	json_out_close(out, '}');
}
