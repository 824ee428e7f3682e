// SPDX-License-Identifier: GPL-2.0-only
/* Explains a domain's frequency. */
#include <errno.h>
#include <string.h>

#include "core/opp.h"
#include "daemon/api/api.h"
#include "daemon/history/past.h"
#include "daemon/process.h"
#include "diag/diag.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "wakegov/abi.h"

#define SYS		  "/sys"
#define LIMITERS_MAX	  10
#define KERNEL_BOOSTS_MAX 6

static void put_contenders(struct json_out *out, const struct explanation *rests_on,
			   const struct topology_domain *info)
{
	field_count(out, "n_contenders", rests_on->n_contenders);
	field_open(out, "contenders", '[');
	for (uint32_t i = 0; i < rests_on->n_contenders && i < EXPLANATION_CONTENDERS_MAX; i++) {
		const struct contender *contender = &rests_on->contenders[i];

		json_out_open(out, '{');
		field_text(out, "reason", reason_name(contender->reason));
		field_count(out, "cpu", contender->cpu);
		api_put_contender(out, contender);
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

struct limiters {
	struct json_out *out;
	uint32_t n;
};

static int put_limiter(void *context, const char *who, const char *text)
{
	struct limiters *limiters = context;

	if (limiters->n++ == LIMITERS_MAX)
		return 1;
	json_out_open(limiters->out, '{');
	field_text(limiters->out, "who", who);
	field_text(limiters->out, "text", text);
	json_out_close(limiters->out, '}');
	return 0;
}

static void put_limiters(struct json_out *out, struct core *core, uint32_t i)
{
	struct actuator_domain *actuator = &core->domains[i].actuator;
	struct api_asked asked = api_asked(core, i);
	struct limiters limiters = { .out = out };
	struct wakegov_limits requests;
	struct throttle_domain domain = {
		.first_cpu = actuator->info->first_cpu,
		.lowest_khz = actuator->info->opp_khz[0],
		.highest_khz = topology_domain_max_khz(actuator->info),
		.asked_min_khz = asked.min_khz,
		.asked_max_khz = asked.max_khz,
	};

	if (actuator->state == ACTUATOR_STATE_OFFLINE)
		return;
	if (actuator->state != ACTUATOR_STATE_DRIVEN)
		put_limiter(&limiters, "governor",
			    actuator->why[0] ? actuator->why
					     : "the kernel's own governor sets this clock; wakegov "
					       "only says what it would do");
	actuator_domain_read_back(actuator, &domain.current_khz);
	actuator_domain_read_limits(actuator, &domain.scaling_min_khz, &domain.scaling_max_khz);
	if (range_is_taken(&actuator->range))
		requests = (struct wakegov_limits){ .min_khz = actuator->range.min.saved_khz,
						    .max_khz = actuator->range.max.saved_khz };
	else
		actuator_domain_read_requests(actuator, &requests);
	domain.request_min_khz = requests.min_khz;
	domain.request_max_khz = requests.max_khz;
	throttle_find(SYS, &domain, put_limiter, &limiters);
}

/* The first task of the domain whose idle latency is under trial or was tried; NULL: none. */
static const struct io_task *find_idle_trial(const struct core *core, uint32_t domain,
					     const struct experiment **ret_trial,
					     struct experiment_estimate *ret_found)
{
	const struct io_task *task = NULL;

	while ((task = io_task_next(engine_tasks(core->engine), task))) {
		if (topology_domain_of(core->topology, task->cpu) != domain ||
		    io_boost_is_over(&task->io_boost))
			continue;
		*ret_trial = engine_idle_trial(core->engine, &task->io_boost, ret_found);
		if (*ret_trial)
			return task;
	}
	return NULL;
}

static void put_idle_latency(struct json_out *out, const struct core *core, uint32_t domain)
{
	static const char *const states[] = {
		[EXPERIMENT_OPEN] = "trying",
		[EXPERIMENT_PAYS] = "pays",
		[EXPERIMENT_DOESNT] = "does-not-pay",
		[EXPERIMENT_CANT_TELL] = "cannot-tell",
	};
	const struct experiment *trial;
	struct experiment_estimate found;
	const struct io_task *task = find_idle_trial(core, domain, &trial, &found);
	char comm[PROCESS_COMM_SIZE];

	if (!task) {
		field_null(out, "idle_latency");
		return;
	}
	field_open(out, "idle_latency", '{');
	field_count(out, "pid", task->pid);
	field_text(out, "comm", process_name(task->pid, task->comm, comm));
	field_count(out, "latency_us", core->policy.io_boost.idle_latency_us);
	field_text(out, "state", states[trial->verdict]);
	field_count(out, "measured_gain_permille", found.gain_ppm > 0 ? found.gain_ppm / 1000 : 0);
	field_count(out, "gain_error_permille", found.error_ppm / 1000);
	field_count(out, "pairs", trial->tried);
	json_out_close(out, '}');
}

/* The tasks that schedutil boosts, and those that get a maximum as its boost gains nothing. */
static void put_kernel_boosts(struct json_out *out, const struct core *core, uint32_t domain)
{
	const struct io_task *task = NULL;
	uint32_t n = 0;

	while (n < KERNEL_BOOSTS_MAX && (task = io_task_next(engine_tasks(core->engine), task))) {
		bool held_back = task->io_boost.state == IO_BOOST_DOESNT_PAY &&
				 engine_task_need_cap(core->engine, task);

		if (topology_domain_of(core->topology, task->cpu) != domain ||
		    (!held_back && !engine_kernel_boosts(core->engine, task)))
			continue;
		api_put_task(out, core, task);
		n++;
	}
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

/* The decision to explain, of the present or the past, and its source. */
struct explained {
	const struct decision *decision;
	const struct explanation *rests_on;
	const struct decision_entry *acted; /* the last remembered change, or NULL … */
	const struct history_entry *past;   /* … or that of the archive, or NULL */
	uint32_t left_out; /* number of decisions after it that the archive left out */
	bool is_present;   /* the present decision: files in /sys belong to it */
	bool has_task;	   /* a task was given: it is on this CPU, or ran there last */
	uint32_t cpu;
};

static void put_acted(struct json_out *out, const struct core *core,
		      const struct explained *explained)
{
	json_out_key(out, "acted");
	if (explained->past)
		api_put_past_decision(out, explained->past);
	else if (explained->acted)
		api_put_decision(out, core, explained->acted);
	else
		field_null(out, NULL);
	field_nonzero(out, "left_out", explained->left_out);
}

static void put_io(struct json_out *out, const struct core *core, const struct explained *explained)
{
	const struct explained_io *io = &explained->rests_on->io;
	bool is_predicted = io->device != IO_BOOST_NO_DEVICE;
	char name[TRACER_DISK_SIZE];
	const char *device = NULL;

	if (!explained->rests_on->has_io) {
		field_null(out, "io");
		return;
	}
	if (explained->past)
		device = explained->past->device[0] ? explained->past->device : NULL;
	else if (tracer_device_name(core->tracer, io->device, name) == 0)
		device = name;
	field_open(out, "io", '{');
	field_text(out, "state", io_boost_state_name(io->state));
	field_text(out, "device", device);
	field_count(out, "io_rate_per_s", io->rate_per_s);
	field_count_if(out, "host_share_permille", is_predicted, io->host_ppm / 1000);
	field_count_if(out, "predicted_gain_permille", is_predicted,
		       api_gain_permille(io->predicted_ppm));
	field_count_if(out, "measured_gain_permille", io->tried,
		       io->found.gain_ppm > 0 ? io->found.gain_ppm / 1000 : 0);
	field_count_if(out, "gain_error_permille", io->tried, io->found.error_ppm / 1000);
	field_count(out, "pairs", io->tried);
	field_nonzero(out, "wanted_khz", io->wanted_khz);
	json_out_close(out, '}');
}

static int send_explanation(struct reply *reply, struct core *core,
			    const struct explained *explained)
{
	const struct decision *decision = explained->decision;
	const struct explanation *rests_on = explained->rests_on;
	const struct topology_domain *info = &core->topology->domains[decision->domain];
	struct json_out *out = reply_begin(reply);
	bool is_decided = decision->target_khz != 0;

	json_out_key(out, "domain");
	api_put_domain(out, core, decision->domain);
	field_bool(out, "is_present", explained->is_present);
	field_count_if(out, "cpu", explained->has_task, explained->cpu);
	field_count_if(out, "decided_us", is_decided, decision->now_ns / NS_PER_US);
	field_text(out, "reason", is_decided ? reason_name(decision->reason) : NULL);
	field_text(out, "limiter", is_decided ? limiter_name(decision->limiter) : NULL);
	field_text(out, "timing", is_decided ? timing_name(decision->timing) : NULL);
	field_count(out, "demand_cap", decision->want_cap);
	field_nonzero(out, "wanted_khz", decision->wanted_khz);
	field_nonzero(out, "target_khz", decision->target_khz);
	put_contenders(out, rests_on, info);
	put_rule(out, &rests_on->rule);
	put_io(out, core, explained);
	if (explained->is_present)
		put_idle_latency(out, core, decision->domain);
	else
		field_null(out, "idle_latency");
	field_open(out, "kernel_boosts", '[');
	if (explained->is_present)
		put_kernel_boosts(out, core, decision->domain);
	json_out_close(out, ']');
	put_clamps(out, rests_on, decision->limiter);
	put_skipped(out, core, decision, rests_on->lowest_khz);
	put_acted(out, core, explained);
	field_open(out, "limiters", '[');
	if (explained->is_present)
		put_limiters(out, core, decision->domain);
	json_out_close(out, ']');
	return reply_end(reply);
}

/* The CPU of a task: that of its last I/O, or where the kernel shows it. */
static int find_cpu(struct core *core, uint32_t pid, uint32_t *ret)
{
	const struct io_task *task = io_task_find(engine_tasks(core->engine), pid);
	struct task_facts facts;
	int r;

	if (task) {
		*ret = task->cpu;
		return 0;
	}
	r = tracer_find_task(core->tracer, pid, &facts);
	return r < 0 ? r : process_last_cpu((pid_t)pid, ret);
}

/*
 * Looks in the archive for a decision that is not in memory, for callers who may see the names of
 * all tasks.
 */
static int explain_past(const struct call *call, struct reply *reply, uint32_t domain,
			uint64_t at_us, uint64_t at_realtime_us)
{
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	struct archive *archive = manager->past.archive;
	struct history_entry past;
	struct explained explained = { .decision = &past.entry.decision,
				       .rests_on = &past.entry.explanation,
				       .past = &past };

	if (!at_realtime_us || !archive || !call->peer->may_change ||
	    !archive_find(archive, core->topology->domains[domain].name, at_realtime_us, &past,
			  &explained.left_out))
		return reply_send_error(reply, "io.wakegov.NotRemembered",
					json_pack("{sI}", "at_us", (json_int_t)at_us));
	past.entry.decision.domain = domain;
	return send_explanation(reply, core, &explained);
}

int api_explain(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	const char *name = call_text(call, "domain");
	bool has_cpu = call_has_number(call, "cpu");
	struct explained explained = { .has_task = call_has_number(call, "pid") };
	const struct decision_entry *acted;
	json_int_t cpu = call_number(call, "cpu"), pid = call_number(call, "pid");
	uint64_t at_us = (uint64_t)call_number(call, "at_us");
	uint64_t at_realtime_us = (uint64_t)call_number(call, "at_realtime_us");
	uint32_t domain;
	int r;

	if (!!name + has_cpu + !!pid != 1)
		return reply_send_invalid(reply, "domain");
	if (pid) {
		r = find_cpu(core, (uint32_t)pid, &explained.cpu);
		if (r == -ESRCH)
			return api_refuse_task(reply, pid);
		if (r < 0)
			return r;
		cpu = explained.cpu;
	}
	domain = name ? topology_find(core->topology, name)
		      : topology_domain_of(core->topology, (uint32_t)cpu);
	if (domain == TOPOLOGY_NO_DOMAIN && name)
		return api_refuse_domain(reply, name);
	if (domain == TOPOLOGY_NO_DOMAIN)
		return reply_send_error(reply, "io.wakegov.NoSuchCpu",
					json_pack("{sI}", "cpu", cpu));

	acted = decision_log_find(manager->past.log, domain,
				  at_us ? at_us * NS_PER_US : UINT64_MAX);
	if (at_realtime_us && (!at_us || !acted))
		return explain_past(call, reply, domain, at_us, at_realtime_us);
	explained.acted = acted;
	explained.is_present = !at_us;
	if (explained.is_present) {
		explained.decision = engine_last(core->engine, domain);
		explained.rests_on = engine_explanation(core->engine, domain);
	} else if (acted) {
		explained.decision = &acted->decision;
		explained.rests_on = &acted->explanation;
	} else {
		return reply_send_error(reply, "io.wakegov.NotRemembered",
					json_pack("{sI}", "at_us", (json_int_t)at_us));
	}
	return send_explanation(reply, core, &explained);
}
