// SPDX-License-Identifier: GPL-2.0-only
#include "canned_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"

/* The kernel cuts names within characters, and tasks may put anything into them. */
static const char *const comms[] = { "fio", "kworker/0:1H", "\x1b[31mred\xff", "\xc3\xa9t\xc3" };

static int canned_status(void *userdata, struct status_view *ret)
{
	const struct canned_source *canned = userdata;

	if (canned->error)
		return canned->error;

	*ret = (struct status_view){
		.version = "0.1.0",
		.uptime_us = 11544000000,
		.mode = "governing",
		.backend = "setspeed",
		.policy_path = "/etc/wakegov.conf",
		.reloads = canned->reloads,
		.last_reload_error = canned->policy_error,
		.decisions = 123456,
		.tasks = canned->n_tasks,
		.max_tasks = 20000,
		.drops_slots = 3,
		.self_cpu_us = 1234567,
		.self_wakeups = canned->count_wakeups ? canned->count_wakeups() : 0,
		.self_pss_kib = 2150,
		.events = UINT64_MAX,
	};
	return 0;
}

static int canned_programs(void *userdata, program_emit_t emit, void *context)
{
	static const struct program_view programs[] = {
		{ "sched_switch", "bursts and utilisation", "attached", NULL, 987654321 },
		{ "block_rq_issue", "asynchronous I/O", "failed", "no BTF for it", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		int r = emit(context, &programs[i]);

		if (r)
			return r;
	}
	return 0;
}

/* The first is boosted, the second someone else's, the third gone; the others like the first. */
static void make_domain(uint32_t i, char *name, size_t size, struct domain_view *ret)
{
	snprintf(name, size, "policy%u", i);
	*ret = (struct domain_view){
		.name = name,
		.cpus = "0-3",
		.state = i == 1	  ? "yielded"
			 : i == 2 ? "offline"
				  : "driven",
		.state_why = i == 1 ? "scaling_setspeed was changed by someone else" : NULL,
		.backend = "setspeed",
	};
	if (i == 2)
		return;

	ret->current_khz = 1800000;
	ret->target_khz = 2400000;
	ret->min_khz = 800000;
	ret->max_khz = 3600000;
	ret->lowest_opp_khz = 800000;
	ret->highest_opp_khz = 3600000;
	ret->utilisation_cap = 341;
	ret->reason = i == 1 ? "utilisation" : "io-boost";
	ret->limiter = i == 1 ? "none" : "policy-max";
	ret->timing = i == 1 ? "held" : "now";
	ret->pid = i == 1 ? 0 : 812;
	ret->comm = i == 1 ? NULL : "fio";
	ret->writes = 42;
	ret->write_errors = i == 3 ? 2 : 0;
}

static int canned_domains(void *userdata, domain_emit_t emit, void *context)
{
	const struct canned_source *canned = userdata;

	for (uint32_t i = 0; i < canned->n_domains && !canned->error; i++) {
		struct domain_view view;
		char name[24];
		int r;

		make_domain(i, name, sizeof(name), &view);
		r = emit(context, &view);
		if (r)
			return r;
	}
	return canned->error;
}

static int canned_tasks(void *userdata, task_emit_t emit, void *context)
{
	const struct canned_source *canned = userdata;

	for (uint32_t i = 0; i < canned->n_tasks && !canned->error; i++) {
		struct task_view view = {
			.pid = 812 + i,
			.tgid = i % 3 ? 812 : 0,
			.comm = comms[i % ARRAY_SIZE(comms)],
			.cpu = i % 4,
			.domain = "policy0",
			.state = "held",
			.io_rate_per_s = 25000,
			.boost_cap = 700,
			.lease_left_us = 9500,
		};
		int r = emit(context, &view);

		if (r)
			return r;
	}
	return canned->error;
}

static int canned_decisions(void *userdata, uint64_t after_us, decision_emit_t emit, void *context)
{
	const struct canned_source *canned = userdata;

	for (uint32_t i = 1; i <= canned->n_decisions && !canned->error; i++) {
		struct decision_view view = {
			.monotonic_us = i * 1000ull,
			.domain = "policy0",
			.previous_khz = i > 1 ? 1800000 : 0,
			.target_khz = 2400000,
			.read_back_khz = 2400000,
			.reason = i % 2 ? "io-boost" : "utilisation",
			.limiter = i % 2 ? "policy-max" : "none",
			.demand_cap = 341,
			.cpu = 2,
			.pid = i % 2 ? 812 : 0,
			.comm = i % 2 ? "fio" : NULL,
		};
		int r = view.monotonic_us > after_us ? emit(context, &view) : 0;

		if (r)
			return r;
	}
	return canned->error;
}

static int canned_reload(void *userdata, char **ret_message)
{
	struct canned_source *canned = userdata;

	if (canned->error)
		return canned->error;
	if (canned->policy_error) {
		*ret_message = strdup(canned->policy_error);
		return *ret_message ? -EINVAL : -ENOMEM;
	}
	canned->reloads++;
	return 0;
}

void canned_source_init(struct canned_source *canned)
{
	canned->source = (struct query_source){
		.status = canned_status,
		.programs = canned_programs,
		.domains = canned_domains,
		.tasks = canned_tasks,
		.decisions = canned_decisions,
		.reload = canned_reload,
		.userdata = canned,
	};
}
