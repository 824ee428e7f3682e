// SPDX-License-Identifier: GPL-2.0-only
/* The socket's Status and Domains: the daemon's state as JSON. */
#include <string.h>

#include "actuator/discovery.h"
#include "core/opp.h"
#include "core/rule.h"
#include "daemon/api/api.h"
#include "daemon/domains.h"
#include "daemon/modules/modules.h"
#include "daemon/modules/policy.h"
#include "daemon/process.h"
#include "diag/diag.h"
#include "frequency/frequency.h"
#include "shared/time.h"
#include "shared/version.h"
#include "wakegov/decay.h"

void api_put_policy(struct json_out *out, const struct policies *policies)
{
	field_open(out, "policy", '{');
	field_text(out, "path", policies->core->options->policy_path);
	field_count(out, "reloads", policies->reloads);
	field_text(out, "last_error", policies->last_error);
	field_text(out, "profile", policies->profile.name);
	field_text(out, "profile_why", profile_why(policies));
	json_out_close(out, '}');
}

static void put_hand_back(struct json_out *out, const struct hand_back *hand_back)
{
	uint64_t now_ns = time_now_ns(), until_ns = hand_back->core->handed_back_until_ns;

	if (!field_open_if(out, "hand_back", until_ns))
		return;
	field_text(out, "governor", hand_back->governor[0] ? hand_back->governor : NULL);
	field_count(out, "left_us", until_ns > now_ns ? (until_ns - now_ns) / NS_PER_US : 0);
	json_out_close(out, '}');
}

static void put_tasks(struct json_out *out, const struct engine *engine)
{
	uint32_t n = 0;

	field_open(out, "tasks", '{');
	field_open(out, "states", '[');
	for (enum io_boost_state state = 0; state <= IO_BOOST_LAPSED; state++) {
		uint32_t n_in_state = engine_count_boosts(engine, state);

		json_out_open(out, '{');
		field_text(out, "state", io_boost_state_names[state]);
		field_count(out, "tasks", n_in_state);
		json_out_close(out, '}');
		n += n_in_state;
	}
	json_out_close(out, ']');
	field_count(out, "count", n);
	field_count(out, "max", io_task_size(engine_tasks(engine)));
	json_out_close(out, '}');
}

static void put_drops(struct json_out *out, const struct core *core)
{
	struct tracer_drops drops;

	tracer_drops(core->tracer, &drops);
	field_open(out, "drops", '{');
	field_count(out, "ring", drops.ring);
	field_count(out, "slots", drops.slots);
	field_count(out, "tasks", io_task_refused(engine_tasks(core->engine)));
	field_count(out, "devices", drops.devices);
	field_count(out, "missed", drops.missed);
	field_count(out, "processes", drops.processes);
	field_count(out, "hints", core->rules->hints->refused);
	field_count(out, "threads", drops.threads);
	field_count(out, "chains", drops.chains);
	json_out_close(out, '}');
}

static void put_placement(struct json_out *out, const struct placing *placing)
{
	uint32_t n = 0, n_placed = 0;

	for (uint32_t i = 0; i < PLACEMENT_GROUPS_MAX; i++)
		if (placing->groups[i].key) {
			n_placed += placing_holds(placing, &placing->groups[i]);
			n++;
		}
	field_count(out, "placed_groups", n_placed);
	field_count(out, "released_groups", n - n_placed);
}

static void put_self_and_frequency(struct json_out *out, const struct core *core)
{
	const char *why = core->frequency->why;
	uint64_t measured_ns = core->frequency->measured_ns;

	field_open(out, "self", '{');
	field_count(out, "cpu_us", process_cpu_us());
	field_count(out, "start_cpu_us", core->counts.start_cpu_us);
	field_count(out, "wakeups", core->counts.wakeups);
	field_count(out, "pss_kib", process_pss_kib());
	field_count(out, "events", core->counts.records);
	json_out_close(out, '}');

	field_open(out, "frequency", '{');
	field_text(out, "source", frequency_source(core->frequency));
	field_count_if(out, "age_us", measured_ns != 0, (time_now_ns() - measured_ns) / NS_PER_US);
	field_text(out, "why", why[0] ? why : NULL);
	json_out_close(out, '}');
}

static void put_programs(struct json_out *out, const struct tracer *tracer)
{
	static const char *const states[] = {
		[TRACER_ATTACHED] = "attached", [TRACER_NOT_NEEDED] = "not-needed",
		[TRACER_PAUSED] = "paused",	[TRACER_UNUSED] = "unused",
		[TRACER_MISSING] = "missing",	[TRACER_FAILED] = "failed",
	};
	struct tracer_program program;

	field_open(out, "programs", '[');
	for (uint32_t i = 0; tracer_program(tracer, i, &program); i++) {
		json_out_open(out, '{');
		field_text(out, "name", program.name);
		field_text(out, "state", states[program.state]);
		field_text(out, "error", program.error ? strerror(-program.error) : NULL);
		field_count(out, "events", program.events);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/*
 * Reads the present utilisation, not that of the last decision. It is no input of the core:
 * otherwise each query would cause decisions.
 */
static uint32_t find_utilisation(struct core *core, uint32_t domain)
{
	uint64_t now_ns = time_now_ns();
	uint32_t util_q = 0;
	struct input input;

	topology_for_each_cpu(core->topology, cpu, domain) {
		freq_invariance_measure_cpu(core, cpu, now_ns);
		tracer_read_cpu(core->tracer, cpu, now_ns, &input);
		if (input.cpu.util_q > util_q)
			util_q = input.cpu.util_q;
	}
	return DECAY_CAP(util_q);
}

struct api_asked api_asked(const struct core *core, uint32_t domain)
{
	const struct governed *governed = &core->domains[domain];
	const struct actuator_domain *actuator = &governed->actuator;
	uint32_t khz = engine_last(core->engine, domain)->target_khz;

	if (actuator->state != ACTUATOR_STATE_DRIVEN)
		return (struct api_asked){ .target_khz = khz };
	if (actuator->asked_khz != khz)
		return (struct api_asked){ 0 };
	if (!governed->backend->leaves_governor)
		return (struct api_asked){ khz, khz, khz };
	if (!actuator->range.is_acquired)
		return (struct api_asked){ .target_khz = khz };
	return (struct api_asked){ khz, opp_clamp(actuator->info, actuator->range.min.put_khz),
				   opp_clamp(actuator->info, actuator->range.max.put_khz) };
}

void api_put_domain(struct json_out *out, struct core *core, uint32_t domain)
{
	static const struct decision none;
	struct governed *governed = &core->domains[domain];
	struct actuator_domain *actuator = &governed->actuator;
	const struct decision *last = engine_last(core->engine, domain);
	struct api_asked asked = api_asked(core, domain);
	const struct policy_rule *rule = NULL; /* the acting one */
	bool is_decided = last->target_khz != 0;
	uint32_t current_khz = 0, min_khz = 0, max_khz = 0;
	char comm[PROCESS_COMM_SIZE];

	if (!is_decided)
		last = &none;
	if (rule_exists(&core->policy, last->rule - 1LL))
		rule = &core->policy.rules[last->rule - 1];
	actuator_domain_read_back(actuator, &current_khz);
	engine_limits(core->engine, domain, &min_khz, &max_khz);
	json_out_open(out, '{');
	field_text(out, "name", actuator->info->name);
	field_text(out, "cpus", governed->cpus);
	field_text(out, "siblings", governed->siblings[0] ? governed->siblings : NULL);
	field_text(out, "state", actuator_state_names[actuator->state]);
	field_text(out, "state_why", actuator->why[0] ? actuator->why : NULL);
	field_text(out, "backend", governed->backend->name);
	field_nonzero(out, "current_khz", current_khz);
	field_nonzero(out, "target_khz", asked.target_khz);
	field_nonzero(out, "min_khz", min_khz);
	field_nonzero(out, "max_khz", max_khz);
	field_nonzero(out, "lowest_opp_khz", actuator->info->opp_khz[0]);
	field_nonzero(out, "highest_opp_khz", topology_domain_max_khz(actuator->info));
	field_count(out, "utilisation_cap", find_utilisation(core, domain));
	field_text(out, "reason", is_decided ? reason_names[last->reason] : NULL);
	field_text(out, "limiter", is_decided ? limiter_names[last->limiter] : NULL);
	field_text(out, "timing", is_decided ? timing_names[last->timing] : NULL);
	field_nonzero(out, "pid", last->pid);
	field_text(out, "comm", process_name(last->pid, last->comm, comm));
	field_count(out, "writes", actuator->writes);
	field_count(out, "write_errors", actuator->write_errors);
	field_count(out, "read_back_mismatches", actuator->read_back_mismatches);
	field_text(out, "rule", rule ? rule->name : NULL);
	field_nonzero(out, "capped_pid", last->capped_pid);
	field_nonzero(out, "asked_min_khz", asked.min_khz);
	field_nonzero(out, "asked_max_khz", asked.max_khz);
	json_out_close(out, '}');
}

static void put_domains(struct json_out *out, struct core *core)
{
	uint32_t n_of_chains = 0;

	field_open(out, "domains", '[');
	for (uint32_t i = 0; i < core->n_domains; i++) {
		api_put_domain(out, core, i);
		n_of_chains += governed_is_driven(&core->domains[i]) &&
			       engine_last(core->engine, i)->reason == REASON_CHAIN;
	}
	json_out_close(out, ']');
	field_count(out, "chain_domains", n_of_chains);
}

/* The fields of the type Notice; NULL and 0 are left out. */
struct notice {
	const char *what, *name, *why;
	const char *domain, *cpus, *other_domain, *other_cpus;
	uint64_t count;
	uint32_t irq;
};

static void put_notice(struct json_out *out, bool is_so, const struct notice *notice)
{
	if (!is_so)
		return;
	json_out_open(out, '{');
	field_text(out, "what", notice->what);
	field_text(out, "name", notice->name);
	field_text(out, "why", notice->why);
	field_nonzero(out, "count", notice->count);
	field_text(out, "domain", notice->domain);
	field_text(out, "cpus", notice->cpus);
	field_text(out, "other_domain", notice->other_domain);
	field_text(out, "other_cpus", notice->other_cpus);
	field_nonzero(out, "irq", notice->irq);
	json_out_close(out, '}');
}

/* Where the interrupts of a device come, and where its tasks are. */
static void put_misplacement(struct json_out *out, const struct core *core, uint32_t device)
{
	const struct topology_domain *domains = core->topology->domains;
	struct interrupt interrupt = { 0 };
	struct misplacement found;
	char name[TRACER_DISK_SIZE];
	bool is_known;

	if (!advice_find_misplacement(core->engine, core->topology, device, &found) ||
	    tracer_device_name(core->tracer, device, name) < 0)
		return;
	is_known = interrupts_of_disk(name, found.cpu, &interrupt);
	put_notice(out, true,
		   &(struct notice){
			   .what = is_known ? "interrupt-elsewhere" : "completions-elsewhere",
			   .name = is_known ? interrupt.name : name,
			   .irq = interrupt.number,
			   .count = found.n_tasks,
			   .domain = domains[found.completion_domain].name,
			   .cpus = core->domains[found.completion_domain].cpus,
			   .other_domain = domains[found.task_domain].name,
			   .other_cpus = core->domains[found.task_domain].cpus,
		   });
}

static void put_advice(struct json_out *out, const struct core *core)
{
	uint64_t refused = engine_clamp_classes(core->engine)->refused;

	field_open(out, "advice", '[');
	for (uint32_t i = 0; i < core->conflicts.n; i++)
		put_notice(
			out, true,
			&(struct notice){ .what = "conflict", .name = core->conflicts.names[i] });
	put_notice(out, core->scheduler[0],
		   &(struct notice){ .what = "sched-ext", .name = core->scheduler });
	put_notice(out, refused, &(struct notice){ .what = "clamp-classes", .count = refused });
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++)
		put_misplacement(out, core, i);
	json_out_close(out, ']');
}

/* What the policy asks for and does not get here. */
static void put_unable(struct json_out *out, const struct manager *manager)
{
	const struct core *core = &manager->core;
	bool places = rule_any_gives(&core->policy, RULE_PLACEMENT);
	const char *unplaced = places ? placing_why_not(&manager->placing) : NULL;
	const char *unlimited = idle_latency_why_not(&manager->idle_latency);
	uint64_t escapes = manager->clamps.n_escapes;
	const struct affinities *affinities = manager->placing.affinities;
	struct tracer_drops drops;

	tracer_drops(core->tracer, &drops);
	field_open(out, "unable", '[');
	put_notice(out, !tick_is_seen(), &(struct notice){ .what = "no-highres" });
	put_notice(out, escapes, &(struct notice){ .what = "clamps-escaped", .count = escapes });
	put_notice(out, drops.threads, &(struct notice){ .what = "memory-limit" });
	put_notice(out, unplaced, &(struct notice){ .what = "placement", .why = unplaced });
	put_notice(out, affinities->foreign,
		   &(struct notice){ .what = "placement-given-up", .count = affinities->foreign });
	put_notice(out, affinities->refused,
		   &(struct notice){ .what = "placement-refused", .count = affinities->refused });
	put_notice(out, unlimited, &(struct notice){ .what = "idle-latency", .why = unlimited });
	json_out_close(out, ']');
}

int api_show_status(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct core *core = call_flag(call, "untraced") ? api_core(call) : api_traced(call);
	const struct governed *domains = core->domains;
	const char *backend = core->n_domains ? domains[0].backend->name : backend_observe.name;
	struct json_out *out = reply_begin(reply);
	uint32_t held_us = manager->idle_latency.held_us;

	for (uint32_t i = 1; i < core->n_domains; i++)
		if (domains[i].backend != domains[0].backend)
			backend = "mixed";
	field_text(out, "version", wakegov_version);
	field_count(out, "uptime_us", (time_now_ns() - core->counts.started_ns) / NS_PER_US);
	field_text(out, "mode", core_drives_any(core) ? "governing" : "observing");
	field_text(out, "backend", backend);
	put_hand_back(out, &manager->hand_back);
	field_count_if(out, "watched_us", manager->watching.since_ns && !core_drives_any(core),
		       (time_now_ns() - manager->watching.since_ns) / NS_PER_US);
	field_bool(out, "policy_is_held", manager->policies.held);
	api_put_policy(out, &manager->policies);
	put_tasks(out, core->engine);
	field_count(out, "decisions", manager->past.ring->total);
	put_drops(out, core);
	put_placement(out, &manager->placing);
	put_self_and_frequency(out, core);
	put_domains(out, core);
	put_programs(out, core->tracer);
	put_advice(out, core);
	put_unable(out, manager);
	field_count_if(out, "idle_latency_us", held_us != POLICY_IDLE_LATENCY_NONE, held_us);
	return reply_end(reply);
}

int api_list_domains(const struct call *call, struct reply *reply)
{
	put_domains(reply_begin(reply), api_traced(call));
	return reply_end(reply);
}
