// SPDX-License-Identifier: GPL-2.0-only
/* What the manager can say of why a domain is where it is. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/io_model.h"
#include "core/opp.h"
#include "daemon/state.h"
#include "daemon/views.h"
#include "diag/throttle.h"
#include "shared/time.h"
#include "varlink/process.h"

#define SYS "/sys"

/* Everything that one explanation borrows from. */
struct story {
	struct manager *manager;
	const struct decision *decision;
	const struct explanation *rests_on;
	struct explain_view view;
	struct domain_view domain;
	struct decision_view acted;
	struct explained_rule_view rule;
	struct explained_io_view io;
	char names[EXPLAIN_CONTENDERS_MAX][PROCESS_COMM_SIZE];
	char device[TRACER_DISK_SIZE];
	char texts[EXPLAIN_LIMITERS_MAX][LIMITER_TEXT_SIZE];
};

static const struct topology_domain *info_of(const struct story *story)
{
	return &story->manager->topology->domains[story->decision->domain];
}

static void show_contenders(struct story *story)
{
	const struct explanation *rests_on = story->rests_on;

	story->view.n_contenders = rests_on->n_contenders;
	for (uint32_t i = 0; i < rests_on->n_contenders && i < EXPLAIN_CONTENDERS_MAX; i++) {
		const struct contender *contender = &rests_on->contenders[i];

		story->view.contenders[i] = (struct contender_view){
			.reason = reason_name(contender->reason),
			.cpu = contender->cpu,
			.pid = contender->pid,
			.comm = process_name(contender->pid, contender->comm, story->names[i]),
			.cap = contender->cap,
			.khz = opp_khz_for_cap(info_of(story), contender->cap),
		};
	}
}

static void show_io(struct story *story)
{
	const struct explained_io *io = &story->rests_on->io;
	bool is_predicted = io->device != IO_BOOST_NO_DEVICE;

	if (!story->rests_on->has_io)
		return;
	if (tracer_device_name(story->manager->tracer, io->device, story->device) == 0)
		story->io.device = story->device;
	story->io.state = io_boost_state_name(io->state);
	story->io.rate_per_s = io->rate_per_s;
	story->io.wanted_khz = io->wanted_khz;
	story->io.host_share_permille = is_predicted ? io->host_ppm / 1000 : VIEW_UNKNOWN;
	story->io.predicted_gain_permille = is_predicted ? views_gain_permille(io->predicted_ppm)
							 : VIEW_UNKNOWN;
	story->io.pairs = io->tried;
	story->io.measured_gain_permille = VIEW_UNKNOWN;
	story->io.gain_error_permille = VIEW_UNKNOWN;
	if (io->tried) {
		story->io.measured_gain_permille = io->found.gain_ppm > 0
							   ? io->found.gain_ppm / 1000
							   : 0;
		story->io.gain_error_permille = io->found.error_ppm / 1000;
	}
	story->view.io = &story->io;
}

static void show_rule(struct story *story)
{
	const struct explained_rule *rule = &story->rests_on->rule;

	if (!rule->name[0])
		return;
	story->rule = (struct explained_rule_view){
		.name = rule->name, .file = rule->file, .line = rule->line, .pid = rule->pid
	};
	story->view.rule = &story->rule;
}

static void add_clamp(struct story *story, const char *by, uint32_t khz, uint32_t override,
		      enum limiter limiter)
{
	if (!khz || khz == UINT32_MAX)
		return;
	story->view.clamps[story->view.n_clamps++] = (struct clamp_view){
		.by = by,
		.khz = khz,
		.override = override,
		.acted = story->decision->limiter == limiter,
	};
}

/* In the order in which they come; an override's stands in the place of the policy's. */
static void show_clamps(struct story *story)
{
	const struct explanation *rests_on = story->rests_on;
	const struct override_limits *override = &rests_on->override;

	add_clamp(story, "policy-min", rests_on->policy_min_khz, 0, LIMITER_POLICY_MIN);
	add_clamp(story, "policy-max", rests_on->policy_max_khz, 0, LIMITER_POLICY_MAX);
	add_clamp(story, "override-min", override->min_khz, override->min_id, LIMITER_OVERRIDE_MIN);
	add_clamp(story, "override-max", override->max_khz, override->max_id, LIMITER_OVERRIDE_MAX);
	add_clamp(story, "frozen", override->frozen_khz, override->frozen_id, LIMITER_FROZEN);
	add_clamp(story, "scaling-min", rests_on->scaling_min_khz, 0, LIMITER_SCALING_MIN);
	add_clamp(story, "scaling-max", rests_on->scaling_max_khz, 0, LIMITER_SCALING_MAX);
}

static int add_limiter(void *context, const char *who, const char *text)
{
	struct story *story = context;
	uint32_t n = story->view.n_limiters;

	if (n == EXPLAIN_LIMITERS_MAX)
		return 0;
	snprintf(story->texts[n], sizeof(story->texts[n]), "%s", text);
	story->view.limiters[n] = (struct limiter_view){ .who = who, .text = story->texts[n] };
	story->view.n_limiters++;
	return 0;
}

/* Of the present only: what the files say now was not so then. */
static void show_limiters(struct story *story)
{
	const struct actuator_domain *actuator =
		&story->manager->domains[story->decision->domain].actuator;
	struct throttle_domain domain = {
		.first_cpu = info_of(story)->first_cpu,
		.lowest_khz = info_of(story)->opp_khz[0],
		.highest_khz = topology_domain_max_khz(info_of(story)),
		.asked_min_khz = story->domain.asked_min_khz,
		.asked_max_khz = story->domain.asked_max_khz,
		.current_khz = story->domain.current_khz,
	};

	if (actuator->state == ACTUATOR_STATE_OFFLINE)
		return;
	if (actuator->state != ACTUATOR_STATE_DRIVEN)
		add_limiter(story, "governor",
			    actuator->why[0] ? actuator->why
					     : "the kernel's own governor sets this clock; wakegov "
					       "only says what it would do");
	actuator_domain_read_limits((struct actuator_domain *)actuator, &domain.scaling_min_khz,
				    &domain.scaling_max_khz);
	throttle_find(SYS, &domain, add_limiter, story);
}

static int tell_story(struct story *story, const struct decision_entry *acted, explain_emit_t emit,
		      void *context)
{
	views_show_domain(story->manager, story->decision->domain, &story->domain);
	story->view.domain = &story->domain;
	if (acted) {
		story->acted = views_decision(story->manager, acted);
		story->view.acted = &story->acted;
	}
	story->view.reason = reason_name(story->decision->reason);
	story->view.limiter = limiter_name(story->decision->limiter);
	story->view.timing = timing_name(story->decision->timing);
	story->view.demand_cap = story->decision->want_cap;
	story->view.wanted_khz = story->decision->wanted_khz;
	story->view.target_khz = story->decision->target_khz;
	story->view.decided_us = story->decision->now_ns / NS_PER_US;
	show_contenders(story);
	show_rule(story);
	show_io(story);
	show_clamps(story);
	if (story->view.is_present)
		show_limiters(story);
	return emit(context, &story->view);
}

/* The index of the domain that is asked for, or a negative errno. */
static int find_domain(const struct manager *manager, const struct explain_request *request)
{
	const struct topology *topology = manager->topology;
	uint32_t domain = TOPOLOGY_NO_DOMAIN;
	const struct task *task;

	for (uint32_t i = 0; request->domain && i < manager->n_domains; i++)
		if (!strcmp(topology->domains[i].name, request->domain))
			return (int)i;
	if (request->domain)
		return -ENOENT;
	if (request->has_cpu) {
		domain = topology_domain_of(topology, request->cpu);
		return domain == TOPOLOGY_NO_DOMAIN ? -ENODEV : (int)domain;
	}
	task = task_table_find(engine_tasks(manager->engine), request->pid);
	if (task)
		domain = topology_domain_of(topology, task->cpu);
	return domain == TOPOLOGY_NO_DOMAIN ? -ESRCH : (int)domain;
}

int views_explain(void *userdata, const struct explain_request *request, explain_emit_t emit,
		  void *context)
{
	struct manager *manager = userdata;
	uint64_t at_ns = request->at_us ? request->at_us * NS_PER_US : UINT64_MAX;
	struct story story = { .manager = manager, .view.is_present = !request->at_us };
	int domain = find_domain(manager, request);
	const struct decision_entry *acted;

	if (domain < 0)
		return domain;
	acted = decision_log_find(manager->log, (uint32_t)domain, at_ns);
	if (request->at_us && !acted)
		return -ENODATA;
	story.decision = request->at_us ? &acted->decision
					: engine_last(manager->engine, (uint32_t)domain);
	story.rests_on = request->at_us ? &acted->explanation
					: engine_explanation(manager->engine, (uint32_t)domain);
	return tell_story(&story, acted, emit, context);
}
