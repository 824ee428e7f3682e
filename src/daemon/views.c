// SPDX-License-Identifier: GPL-2.0-only
/* What the manager shows: the daemon, its domains, its decisions. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "core/rule.h"
#include "daemon/freq_invariance.h"
#include "daemon/overrides.h"
#include "daemon/state.h"
#include "daemon/views.h"
#include "frequency/frequency.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "varlink/process.h"
#include "wakegov/decay.h"

static uint64_t self_cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ULL +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* Proportional set size in KiB; 0 when the kernel does not say. */
static uint64_t self_pss_kib(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/smaps_rollup", "re");
	unsigned long long kib;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Pss: %llu kB", &kib) == 1)
			return kib;
	return 0;
}

static bool drives_any(const struct manager *manager)
{
	for (uint32_t i = 0; i < manager->n_domains; i++)
		if (manager->domains[i].actuator.state == ACTUATOR_STATE_DRIVEN)
			return true;
	return false;
}

/* That of all domains, or that they are not all moved by the same. */
static const char *name_backend(const struct manager *manager)
{
	const struct governed *domains = manager->domains;

	for (uint32_t i = 1; i < manager->n_domains; i++)
		if (domains[i].backend != domains[0].backend)
			return "mixed";
	return manager->n_domains ? domains[0].backend->name : backend_observe.name;
}

static uint32_t count_followed(const struct engine *engine)
{
	uint32_t n = 0;

	for (enum io_boost_state state = 0; state <= IO_BOOST_LAPSED; state++)
		n += engine_count_boosts(engine, state);
	return n;
}

static void show_frequency(const struct manager *manager, struct status_view *view)
{
	const char *why = frequency_why(manager->frequency);
	uint64_t measured_ns = frequency_measured_ns(manager->frequency);

	view->frequency_source = frequency_source(manager->frequency);
	view->frequency_why = why[0] ? why : NULL;
	view->frequency_is_measured = measured_ns != 0;
	view->frequency_age_us = (time_now_ns() - measured_ns) / NS_PER_US;
}

int views_show_status(void *userdata, struct status_view *ret)
{
	const struct manager *manager = userdata;
	const struct task_table *tasks = engine_tasks(manager->engine);
	struct tracer_drops drops;

	tracer_drops(manager->tracer, &drops);
	*ret = (struct status_view){
		.version = WAKEGOV_VERSION,
		.uptime_us = (time_now_ns() - manager->started_ns) / NS_PER_US,
		.mode = drives_any(manager) ? "governing" : "observing",
		.backend = name_backend(manager),
		.policy_path = manager->options.policy_path,
		.reloads = manager->reloads,
		.last_reload_error = manager->last_reload_error,
		.decisions = decision_log_total(manager->log),
		.tasks = count_followed(manager->engine),
		.max_tasks = task_table_size(tasks),
		.drops_ring = drops.ring,
		.drops_slots = drops.slots,
		.drops_tasks = task_table_refused(tasks),
		.drops_devices = drops.devices,
		.drops_anomalies = drops.anomalies,
		.drops_missed = drops.missed,
		.self_cpu_us = self_cpu_us(),
		.self_wakeups = manager->wakeups,
		.self_pss_kib = self_pss_kib(),
		.events = manager->records,
	};
	show_frequency(manager, ret);
	return 0;
}

int views_list_programs(void *userdata, program_emit_t emit, void *context)
{
	static const char *const states[] = {
		[TRACER_ATTACHED] = "attached",
		[TRACER_UNUSED] = "unused",
		[TRACER_MISSING] = "missing",
		[TRACER_FAILED] = "failed",
	};
	const struct manager *manager = userdata;
	struct tracer_program program;
	int r = 0;

	for (uint32_t i = 0; !r && tracer_program(manager->tracer, i, &program); i++) {
		struct program_view view = {
			.name = program.name,
			.purpose = program.purpose,
			.state = states[program.state],
			.error = program.error ? strerror(-program.error) : NULL,
			.events = program.events,
		};

		r = emit(context, &view);
	}
	return r;
}

/* By its number under the policy of today. */
static const char *rule_of(const struct manager *manager, const struct decision *decision)
{
	const struct policy *policy = &manager->policy;

	if (!rule_exists(policy, decision->rule - 1LL))
		return NULL;
	return policy->rules[decision->rule - 1].name;
}

static void show_decision(const struct manager *manager, struct domain_view *view,
			  const struct decision *last)
{
	if (!last->target_khz)
		return;
	view->target_khz = last->target_khz;
	view->reason = reason_name(last->reason);
	view->limiter = limiter_name(last->limiter);
	view->timing = timing_name(last->timing);
	view->pid = last->pid;
	view->comm = process_name(last->pid, last->comm, view->comm_now);
	view->rule = rule_of(manager, last);
	view->capped_pid = last->capped_pid;
}

/*
 * As it is now, not as it was at the last decision. The core does not hear of it: else whoever asks
 * would have every domain decided anew.
 */
static uint32_t utilisation_now_cap(struct manager *manager, uint32_t domain)
{
	uint64_t now_ns = time_now_ns();
	uint32_t util_q = 0;
	struct input input;

	topology_for_each_cpu(manager->topology, cpu, domain) {
		freq_invariance_measure_cpu(manager, cpu, now_ns);
		tracer_read_cpu(manager->tracer, cpu, now_ns, &input);
		if (input.cpu.util_q > util_q)
			util_q = input.cpu.util_q;
	}
	return DECAY_CAP(util_q);
}

/* A target that could not be asked for is none. */
static void show_asked(const struct governed *governed, struct domain_view *view)
{
	const struct actuator_domain *actuator = &governed->actuator;

	if (actuator->state != ACTUATOR_STATE_DRIVEN)
		return;
	if (actuator->asked_khz != view->target_khz) {
		view->target_khz = 0;
	} else if (!governed->backend->leaves_governor) {
		view->asked_min_khz = view->asked_max_khz = view->target_khz;
	} else if (range_is_taken(&actuator->range)) {
		view->asked_min_khz = actuator->range.min.put_khz;
		view->asked_max_khz = actuator->range.max.put_khz;
	}
}

void views_show_domain(struct manager *manager, uint32_t i, struct domain_view *view)
{
	struct governed *governed = &manager->domains[i];
	struct actuator_domain *actuator = &governed->actuator;

	*view = (struct domain_view){
		.name = actuator->info->name,
		.cpus = governed->cpus,
		.state = actuator_state_name(actuator->state),
		.state_why = actuator->why[0] ? actuator->why : NULL,
		.backend = governed->backend->name,
		.lowest_opp_khz = actuator->info->opp_khz[0],
		.highest_opp_khz = topology_domain_max_khz(actuator->info),
		.utilisation_cap = utilisation_now_cap(manager, i),
		.writes = actuator->writes,
		.write_errors = actuator->write_errors,
		.read_back_mismatches = actuator->read_back_mismatches,
	};
	actuator_domain_read_back(actuator, &view->current_khz);
	engine_limits(manager->engine, i, &view->min_khz, &view->max_khz);
	show_decision(manager, view, engine_last(manager->engine, i));
	show_asked(governed, view);
}

int views_list_domains(void *userdata, domain_emit_t emit, void *context)
{
	struct manager *manager = userdata;
	int r = 0;

	for (uint32_t i = 0; !r && i < manager->n_domains; i++) {
		struct domain_view view;

		views_show_domain(manager, i, &view);
		r = emit(context, &view);
	}
	return r;
}

struct decision_view views_decision(const struct manager *manager,
				    const struct decision_entry *entry)
{
	const struct decision *decision = &entry->decision;

	return (struct decision_view){
		.monotonic_us = decision->now_ns / NS_PER_US,
		.domain = manager->topology->domains[decision->domain].name,
		.previous_khz = decision->previous_khz,
		.target_khz = decision->target_khz,
		.read_back_khz = entry->read_back_khz,
		.reason = reason_name(decision->reason),
		.limiter = limiter_name(decision->limiter),
		.demand_cap = decision->want_cap,
		.cpu = decision->cpu,
		.pid = decision->pid,
		.comm = decision->comm[0] ? decision->comm : NULL,
		.rule = rule_of(manager, decision),
		.capped_pid = decision->capped_pid,
	};
}

void manager_show_decision(struct manager *manager, const struct decision_entry *entry)
{
	struct decision_view view;

	if (!query_server_is_monitored(manager->server))
		return;
	view = views_decision(manager, entry);
	query_server_publish(manager->server, &(struct event_view){
						      .kind = EVENT_DECISION,
						      .monotonic_us = view.monotonic_us,
						      .domain = view.domain,
						      .pid = view.pid,
						      .comm = view.comm,
						      .decision = &view,
					      });
}

int views_list_decisions(void *userdata, uint64_t after_us, decision_emit_t emit, void *context)
{
	const struct manager *manager = userdata;
	const struct decision_entry *entry;
	int r = 0;

	for (uint32_t i = 0; !r && (entry = decision_log_at(manager->log, i)); i++) {
		struct decision_view view = views_decision(manager, entry);

		if (view.monotonic_us > after_us)
			r = emit(context, &view);
	}
	return r;
}

bool views_knows_domain(void *userdata, const char *name)
{
	const struct manager *manager = userdata;

	for (uint32_t i = 0; i < manager->n_domains; i++)
		if (!strcmp(manager->topology->domains[i].name, name))
			return true;
	return false;
}

uint32_t views_io_min_rate(void *userdata)
{
	const struct manager *manager = userdata;

	return manager->policy.io_boost.min_rate_per_s;
}
