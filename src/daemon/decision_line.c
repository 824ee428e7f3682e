// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a decision in its one form. Each field stands in one line of this file, in the order in
 * which the decision was made: the demands, what limited the highest of them, the OPP.
 */
#include "daemon/decision_line.h"

#include "core/io_model.h"
#include "core/opp.h"
#include "daemon/process.h"
#include "shared/cleanup.h"
#include "shared/time.h"

uint32_t decision_line_gain_permille(uint32_t saved_ppm)
{
	if (saved_ppm > IO_SHARE_MAX)
		saved_ppm = IO_SHARE_MAX;
	return (uint64_t)saved_ppm * 1000 / (IO_PPM - saved_ppm);
}

static const char *name_of(uint32_t pid, const char *known, bool ask,
			   char buffer[static PROCESS_COMM_SIZE])
{
	if (ask)
		return process_name(pid, known, buffer);
	return known && known[0] ? known : NULL;
}

void decision_line_put_contender(struct json_out *out, const struct contender *contender,
				 bool ask_names)
{
	char comm[PROCESS_COMM_SIZE];

	field_nonzero(out, "pid", contender->pid);
	field_text(out, "comm", name_of(contender->pid, contender->comm, ask_names, comm));
	if (contender->reason != REASON_CHAIN) {
		field_null(out, "chain");
		return;
	}
	field_open(out, "chain", '{');
	field_nonzero(out, "pid", contender->partner);
	field_text(out, "comm", name_of(contender->partner, "", ask_names, comm));
	field_count(out, "share_permille", contender->share_permille);
	json_out_close(out, '}');
}

static void put_contenders(struct json_out *out, const struct explanation *rests_on,
			   const struct topology_domain *info, bool ask_names)
{
	field_count(out, "n_contenders", rests_on->n_contenders);
	field_open(out, "contenders", '[');
	for (uint32_t i = 0; i < rests_on->n_contenders && i < EXPLANATION_CONTENDERS_MAX; i++) {
		const struct contender *contender = &rests_on->contenders[i];

		json_out_open(out, '{');
		field_text(out, "reason", reason_name(contender->reason));
		field_count(out, "cpu", contender->cpu);
		decision_line_put_contender(out, contender, ask_names);
		field_count(out, "demand_cap", contender->cap);
		field_count(out, "demand_khz", opp_khz_for_cap(info, contender->cap));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void put_rule(struct json_out *out, const struct explained_rule *rule)
{
	if (!rule->name[0]) {
		field_null(out, "rule");
		return;
	}
	field_open(out, "rule", '{');
	field_text(out, "name", rule->name);
	field_text(out, "file", rule->file);
	field_count(out, "line", rule->line);
	field_nonzero(out, "pid", rule->pid);
	json_out_close(out, '}');
}

/* In the order of their application; an override's limit replaces the policy's. */
static void put_clamps(struct json_out *out, const struct explanation *rests_on, enum limiter acted)
{
	const struct override_limits *override = &rests_on->override;
	const struct {
		enum limiter limiter;
		uint32_t khz;
		uint32_t override;
	} clamps[] = {
		{ LIMITER_POLICY_MIN, rests_on->policy_min_khz, 0 },
		{ LIMITER_POLICY_MAX, rests_on->policy_max_khz, 0 },
		{ LIMITER_OVERRIDE_MIN, override->min_khz, override->min_id },
		{ LIMITER_OVERRIDE_MAX, override->max_khz, override->max_id },
		{ LIMITER_FROZEN, override->frozen_khz, override->frozen_id },
		{ LIMITER_SCALING_MIN, rests_on->scaling_min_khz, 0 },
		{ LIMITER_SCALING_MAX, rests_on->scaling_max_khz, 0 },
	};

	field_open(out, "clamps", '[');
	for (size_t i = 0; i < ARRAY_SIZE(clamps); i++) {
		if (!clamps[i].khz || clamps[i].khz == UINT32_MAX)
			continue;
		json_out_open(out, '{');
		field_text(out, "by", limiter_name(clamps[i].limiter));
		field_count(out, "khz", clamps[i].khz);
		field_nonzero(out, "override", clamps[i].override);
		field_bool(out, "acted", clamps[i].limiter == acted);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* device by its name, as other daemons have other numbers. */
static void put_io(struct json_out *out, const struct core *core,
		   const struct explanation *rests_on)
{
	const struct explained_io *io = &rests_on->io;
	bool is_predicted = io->device != IO_BOOST_NO_DEVICE;
	char name[TRACER_DISK_SIZE];

	if (!rests_on->has_io) {
		field_null(out, "io");
		return;
	}
	field_open(out, "io", '{');
	field_text(out, "state", io_boost_state_name(io->state));
	field_text(out, "device",
		   tracer_device_name(core->tracer, io->device, name) == 0 ? name : NULL);
	field_count(out, "io_rate_per_s", io->rate_per_s);
	field_count_if(out, "host_share_permille", is_predicted, io->host_ppm / 1000);
	field_count_if(out, "predicted_gain_permille", is_predicted,
		       decision_line_gain_permille(io->predicted_ppm));
	field_count_if(out, "measured_gain_permille", io->tried,
		       io->found.gain_ppm > 0 ? io->found.gain_ppm / 1000 : 0);
	field_count_if(out, "gain_error_permille", io->tried, io->found.error_ppm / 1000);
	field_count(out, "pairs", io->tried);
	field_nonzero(out, "wanted_khz", io->wanted_khz);
	json_out_close(out, '}');
}

/* The sufficient OPP that was skipped, and the energy that it takes more than the chosen one. */
static void put_skipped(struct json_out *out, const struct core *core,
			const struct decision *decision, uint32_t lowest_khz)
{
	const struct topology_domain *info = &core->topology->domains[decision->domain];
	double energy[2] = { 0 }; /* of a cycle at either OPP */

	for (uint32_t i = 0; i < info->n_opps; i++) {
		if (info->opp_khz[i] == lowest_khz)
			energy[0] = (double)info->opp_power[i] / lowest_khz;
		if (info->opp_khz[i] == decision->wanted_khz)
			energy[1] = (double)info->opp_power[i] / decision->wanted_khz;
	}
	if (lowest_khz >= decision->wanted_khz || !energy[0] || !energy[1]) {
		field_null(out, "skipped");
		return;
	}
	field_open(out, "skipped", '{');
	field_count(out, "khz", lowest_khz);
	field_count(out, "energy_permille", (uint64_t)(energy[0] / energy[1] * 1000 + 0.5));
	field_text(out, "source", power_source_name(core->domains[decision->domain].power_source));
	json_out_close(out, '}');
}

/* The time is that of the decision, by both clocks. */
static void put_times(struct json_out *out, const struct decision *decision)
{
	uint64_t age_ns = time_now_ns() - decision->now_ns;

	field_count(out, "monotonic_us", decision->now_ns / NS_PER_US);
	field_count(out, "realtime_us", (time_of_clock_ns(CLOCK_REALTIME) - age_ns) / NS_PER_US);
}

void decision_line_put(struct json_out *out, const struct core *core,
		       const struct decision *decision, const struct explanation *rests_on,
		       uint32_t read_back_khz, bool ask_names)
{
	const struct topology_domain *info = &core->topology->domains[decision->domain];
	char comm[PROCESS_COMM_SIZE];

	json_out_open(out, '{');
	field_text(out, "domain", info->name);
	put_times(out, decision);
	field_text(out, "reason", reason_name(decision->reason));
	field_text(out, "limiter", limiter_name(decision->limiter));
	field_text(out, "timing", timing_name(decision->timing));
	field_nonzero(out, "previous_khz", decision->previous_khz);
	field_nonzero(out, "wanted_khz", decision->wanted_khz);
	field_nonzero(out, "target_khz", decision->target_khz);
	field_nonzero(out, "read_back_khz", read_back_khz);
	field_count(out, "demand_cap", decision->want_cap);
	field_count(out, "cpu", decision->cpu);
	field_nonzero(out, "pid", decision->pid);
	field_text(out, "comm", name_of(decision->pid, decision->comm, ask_names, comm));
	field_nonzero(out, "capped_pid", decision->capped_pid);
	put_contenders(out, rests_on, info, ask_names);
	put_rule(out, &rests_on->rule);
	put_io(out, core, rests_on);
	put_clamps(out, rests_on, decision->limiter);
	put_skipped(out, core, decision, rests_on->lowest_khz);
	json_out_close(out, '}');
}
