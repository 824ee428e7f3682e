// SPDX-License-Identifier: GPL-2.0-only
#include "canned_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "canned_rules.h"
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
		.drops_devices = 4,
		.drops_anomalies = 5,
		.frequency_source = "msr",
		.frequency_is_measured = true,
		.frequency_age_us = 12500,
		.frequency_why = "perf: its counters stand still",
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
	ret->asked_min_khz = ret->asked_max_khz = i ? 0 : 2400000;
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
			.state = i % 4 ? "trying" : "pays",
			.device = i % 4 ? NULL : "nvme0n1",
			.io_rate_per_s = 25000,
			.host_share_permille = i % 4 ? VIEW_UNKNOWN : 612,
			.predicted_gain_permille = i % 4 ? VIEW_UNKNOWN : 463,
			.measured_gain_permille = i % 2 ? VIEW_UNKNOWN : 405,
			.gain_error_permille = i % 2 ? VIEW_UNKNOWN : 21,
			.pairs = i % 2 ? 0 : 14,
			.wanted_khz = i % 4 ? 0 : 1416000,
			.boost_cap = 700,
			.lease_left_us = 9500,
		};
		int r = emit(context, &view);

		if (r)
			return r;
	}
	return canned->error;
}

/* The first pays, the second does not, the third was just seen. */
static void make_device(uint32_t i, char *name, size_t size, struct device_view *ret)
{
	snprintf(name, size, "nvme%un1", i);
	*ret = (struct device_view){
		.name = name,
		.tasks = i % 3 == 2 ? 0 : 3,
		.depth = 17,
		.completions = UINT64_MAX,
		.idle_us = 8250000,
		.completions_per_s = i % 3 == 2 ? VIEW_UNKNOWN : 24817,
		.idle_permille = i % 3 == 2 ? VIEW_UNKNOWN : 412,
		.completion_cpu = 1,
		.completion_domain = i % 3 == 2 ? NULL : "policy0",
		.boosted = i % 3 == 0 ? 3 : 0,
		.trying = i % 3 == 1,
	};
}

static int canned_devices(void *userdata, device_emit_t emit, void *context)
{
	const struct canned_source *canned = userdata;

	for (uint32_t i = 0; i < canned->n_devices && !canned->error; i++) {
		struct device_view view;
		char name[24];
		int r;

		make_device(i, name, sizeof(name), &view);
		r = emit(context, &view);
		if (r)
			return r;
	}
	return canned->error;
}

static int canned_advice(void *userdata, advice_emit_t emit, void *context)
{
	const struct canned_source *canned = userdata;

	if (!canned->n_devices)
		return 0;
	return emit(context, "interrupt of nvme0q3 lands in policy0, the task runs in policy4: "
			     "write 4-5 to /proc/irq/38/smp_affinity_list or, if the kernel "
			     "refuses that, keep the task on CPUs 0-3 (taskset -c)");
}

static void make_decision(uint32_t i, struct decision_view *ret)
{
	*ret = (struct decision_view){
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
}

static int canned_decisions(void *userdata, uint64_t after_us, decision_emit_t emit, void *context)
{
	const struct canned_source *canned = userdata;

	for (uint32_t i = 1; i <= canned->n_decisions && !canned->error; i++) {
		struct decision_view view;
		int r = 0;

		make_decision(i, &view);
		if (view.monotonic_us > after_us)
			r = emit(context, &view);
		if (r)
			return r;
	}
	return canned->error;
}

/* Decisions of two domains in turn, every second one for a task. */
static void publish_events(const struct canned_source *canned)
{
	struct event_view change = { .kind = EVENT_CHANGE, .message = "policy read again" };

	for (uint32_t i = 1; i <= canned->n_events; i++) {
		struct decision_view view;

		make_decision(i, &view);
		view.domain = i % 3 ? "policy0" : "policy1";
		canned->publish(&(struct event_view){
			.kind = EVENT_DECISION,
			.monotonic_us = view.monotonic_us,
			.domain = view.domain,
			.pid = view.pid,
			.comm = view.comm,
			.decision = &view,
		});
	}
	canned->publish(&change);
}

/* There is no engine here whose life could be recorded. */
static int canned_record_start(void *userdata, uint64_t max_bytes)
{
	return -EOPNOTSUPP;
}

static int canned_reload(void *userdata, void (*warn)(void *context, const char *line),
			 void *context, char **ret_message)
{
	struct canned_source *canned = userdata;

	if (canned->error)
		return canned->error;
	if (canned->policy_error) {
		*ret_message = strdup(canned->policy_error);
		return *ret_message ? -EINVAL : -ENOMEM;
	}
	canned->reloads++;
	warn(context, "wakegov.conf:12: [rule games] user = joe can never match: there is no such "
		      "user; add it and reload");
	warn(context, "a new backend takes effect when wakegovd is restarted");
	if (canned->publish)
		publish_events(canned);
	return 0;
}

static int canned_opp_times(void *userdata, opp_time_emit_t emit, void *context)
{
	const struct canned_source *canned = userdata;

	for (uint32_t i = 0; i < canned->n_domains && !canned->error; i++) {
		for (uint32_t opp = 0; opp < 4; opp++) {
			char name[24];
			int r;

			snprintf(name, sizeof(name), "policy%u", i);
			r = emit(context, &(struct opp_time_view){
						  .domain = name,
						  .khz = 800000 * (opp + 1),
						  .ns = (i + opp) * 1234567890ull,
					  });
			if (r)
				return r;
		}
	}
	return canned->error;
}

static int canned_counts(void *userdata, enum count_kind kind, count_emit_t emit, void *context)
{
	static const char *const names[3][2] = {
		[COUNT_DECISIONS] = { "idle", "io-boost" },
		[COUNT_LIMITS] = { "none", "cap" },
		[COUNT_BOOSTS] = { "pays", "does-not-pay" },
	};
	int r = emit(context, names[kind][0], 17);

	return r ? r : emit(context, names[kind][1], 4);
}

static uint32_t canned_io_min_rate(void *userdata)
{
	return 1000;
}

static bool canned_knows_domain(void *userdata, const char *name)
{
	const struct canned_source *canned = userdata;
	unsigned int i;

	return sscanf(name, "policy%u", &i) == 1 && i < canned->n_domains;
}

static int explained_domain(const struct canned_source *canned,
			    const struct explain_request *request)
{
	unsigned int i = 0;

	if (request->domain &&
	    (sscanf(request->domain, "policy%u", &i) != 1 || i >= canned->n_domains))
		return -ENOENT;
	if (request->has_cpu && request->cpu > 3)
		return -ENODEV;
	if (request->pid && request->pid != 812)
		return -ESRCH;
	return request->at_us && request->at_us < 1000 ? -ENODATA : (int)i;
}

/* policy0 is io-boosted and cut by an override; the others are somebody else's. */
static int canned_explain(void *userdata, const struct explain_request *request,
			  explain_emit_t emit, void *context)
{
	static const struct explained_io_view io = { "pays", "nvme0n1", 25000, 612,    463,
						     405,    21,	14,    2400000 };
	static const struct explained_rule_view rule = { "backup", "/etc/wakegov/wakegov.conf", 12,
							 812 };
	const struct canned_source *canned = userdata;
	int i = explained_domain(canned, request);
	struct domain_view domain;
	struct decision_view acted;
	char name[24];
	struct explain_view view = {
		.domain = &domain,
		.is_present = !request->at_us,
		.decided_us = 5000,
		.reason = i ? "utilisation" : "io-boost",
		.limiter = i ? "none" : "override-max",
		.timing = i ? "held" : "now",
		.demand_cap = 1111,
		.wanted_khz = 2400000,
		.target_khz = 2400000,
		.contenders = { { "io-boost", 2, 812, comms[2], 1111, 3906000 },
				{ "utilisation", 1, 0, NULL, 341, 1200000 } },
		.n_contenders = 2,
		.rule = i ? NULL : &rule,
		.io = i ? NULL : &io,
		.clamps = { { "override-max", 2400000, 7, true },
			    { "scaling-max", 3600000, 0, false } },
		.n_clamps = 2,
		.acted = &acted,
		.limiters = { { "thermal", "heat: cooling_device0 is at step 3 of 7" } },
		.n_limiters = i != 0,
	};

	if (canned->error || i < 0)
		return canned->error ? canned->error : i;
	make_domain((uint32_t)i, name, sizeof(name), &domain);
	make_decision(5, &acted);
	return emit(context, &view);
}

static int canned_overrides(void *userdata, override_emit_t emit, void *context)
{
	const struct canned_source *canned = userdata;
	int r = canned->error;

	for (uint32_t i = 0; !r && i < canned->n_overrides; i++)
		r = emit(context, &canned->overrides[i]);
	return r;
}

/* There is a process 812 and a rule backup; what they are called with is what they have. */
static int find_overridden(const struct override_request *request, struct override_view *ret)
{
	static const char *const names[] = { "policy0", "policy1", "policy2" };
	unsigned int domain;

	if (request->pid)
		ret->pid = request->pid;
	if (request->pid)
		ret->comm = "make";
	else if (request->rule)
		ret->rule = "backup";
	if (request->pid && request->pid != 812)
		return -ESRCH;
	if (request->rule && strcmp(request->rule, "backup") != 0)
		return -ENOENT;
	if (request->class && strcmp(request->class, "batch") != 0)
		return -ENODATA;
	if (request->domain &&
	    (sscanf(request->domain, "policy%u", &domain) != 1 || domain >= ARRAY_SIZE(names)))
		return -ENODEV;
	ret->domain = request->domain ? names[domain] : NULL;
	return 0;
}

static int canned_add_override(void *userdata, const struct override_request *request,
			       uint32_t *ret_id, uint32_t *ret_max, const char **ret_wrong)
{
	struct canned_source *canned = userdata;
	struct override_view view = {
		.children = request->children,
		.min_khz = request->domain ? request->min_khz : 0,
		.max_khz = request->domain ? request->max_khz : 0,
		.frozen_khz = request->domain && request->freeze ? 2400000 : 0,
		.floor = request->domain || !request->min_khz ? NULL : "1200000kHz",
		.cap = request->cap || request->class ? "30%" : NULL,
		.io_boost = request->io_boost ? "off" : NULL,
		.uid = request->uid,
		.left_us = request->for_us,
	};
	int r = canned->error ?: find_overridden(request, &view);

	*ret_max = CANNED_OVERRIDES_MAX;
	*ret_wrong = "cap";
	if (r < 0)
		return r;
	if (request->cap && strcmp(request->cap, "30%") != 0)
		return -EINVAL;
	if (canned->n_overrides == CANNED_OVERRIDES_MAX)
		return -ENOSPC;
	*ret_id = view.id = ++canned->next_override;
	canned->overrides[canned->n_overrides++] = view;
	return 0;
}

static int canned_cancel_override(void *userdata, uint32_t id)
{
	struct canned_source *canned = userdata;
	uint32_t i = 0;

	while (i < canned->n_overrides && canned->overrides[i].id != id)
		i++;
	if (i == canned->n_overrides)
		return -ENOENT;
	canned->n_overrides--;
	memmove(&canned->overrides[i], &canned->overrides[i + 1],
		(canned->n_overrides - i) * sizeof(canned->overrides[0]));
	return 0;
}

static int canned_adopt(void *userdata, const char *domain, uint32_t *ret_adopted)
{
	if (domain && strcmp(domain, "policy4") != 0)
		return -ENOENT;
	*ret_adopted = 1;
	return 0;
}

void canned_source_init(struct canned_source *canned)
{
	canned->source = (struct query_source){
		.status = canned_status,
		.programs = canned_programs,
		.advice = canned_advice,
		.domains = canned_domains,
		.tasks = canned_tasks,
		.devices = canned_devices,
		.decisions = canned_decisions,
		.knows_domain = canned_knows_domain,
		.io_min_rate = canned_io_min_rate,
		.explain = canned_explain,
		.rules = canned_rules,
		.count_rules = canned_count_rules,
		.rule_tasks = canned_rule_tasks,
		.capped_tasks = canned_capped_tasks,
		.explain_rules = canned_explain_rules,
		.overrides = canned_overrides,
		.add_override = canned_add_override,
		.cancel_override = canned_cancel_override,
		.adopt = canned_adopt,
		.opp_times = canned_opp_times,
		.counts = canned_counts,
		.reload = canned_reload,
		.record_start = canned_record_start,
		.userdata = canned,
	};
}
