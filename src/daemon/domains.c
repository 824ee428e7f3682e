// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows each domain's state. Whatever may have changed it calls domains_verify(), which asks the
 * backend, takes a domain that has become free, and applies what the policy says of its controls.
 */
#include "daemon/domains.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "actuator/backend.h"
#include "actuator/discovery.h"
#include "actuator/governor.h"
#include "core/opp.h"
#include "daemon/journal.h"
#include "daemon/module.h"
#include "diag/diag.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/text.h"
#include "shared/time.h"
#include "wakegov/abi.h"

static void set_active(struct core *core, uint32_t domain, bool active)
{
	struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_DOMAIN,
		.domain = {
			.domain = domain,
			.active = active,
			.driven = governed_is_driven(&core->domains[domain]),
			.clamps = core->domains[domain].backend->clamps_tasks,
		},
	};

	engine_apply(core->engine, &input);
	tracer_follow_new_tasks(core->tracer, !core->domains[domain].backend->leaves_governor);
	if (active)
		return;
	modules_call(core, target_set, domain, 0, input.now_ns);
	tracer_expect_limits(core->tracer, core->topology->domains[domain].first_cpu,
			     &(struct wakegov_limits){ 0 });
}

int domains_read_limits(struct core *core, uint32_t domain)
{
	struct governed *governed = &core->domains[domain];
	struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_LIMITS,
		.limits = { .domain = domain },
	};
	int r = actuator_domain_read_limits(&governed->actuator, &input.limits.min_khz,
					    &input.limits.max_khz);

	if (r < 0)
		return r;
	governed->others_min_khz = input.limits.min_khz;
	governed->others_max_khz = input.limits.max_khz;
	engine_apply(core->engine, &input);
	return 0;
}

void domains_expect_limits(void *userdata, const struct actuator_domain *actuator, uint32_t min_khz,
			   uint32_t max_khz)
{
	struct core *core = userdata;
	uint32_t cpu = actuator->info->first_cpu, domain = core->topology->cpu_domain[cpu];
	const struct governed *governed = &core->domains[domain];
	uint32_t others_min_khz = governed->others_min_khz;
	uint32_t others_max_khz = governed->others_max_khz;
	struct wakegov_limits limits = {
		.min_khz = min_khz,
		.max_khz = max_khz,
		.in_force_min_khz = min_khz > others_min_khz ? min_khz : others_min_khz,
		.in_force_max_khz = max_khz < others_max_khz ? max_khz : others_max_khz,
		.hardware_max_khz = actuator->hardware_max_khz,
		.governor = actuator->range.governor,
	};
	uint64_t reported_ns;

	/* Where the kernel reports no frequencies, each record is a time to read one. */
	tracer_reported_khz(core->tracer, cpu, &reported_ns);
	limits.known = limits.governor && reported_ns;
	tracer_expect_limits(core->tracer, cpu, &limits);
}

/*
 * Reads the frequency for the accounting, where no kernel event has reported it: at start, after
 * hotplug and suspend. Where the kernel measures it, it tells a frequency of the past, which may
 * not take the place of one that an event has reported.
 */
static void read_frequency(struct core *core, uint32_t domain)
{
	struct actuator_domain *actuator = &core->domains[domain].actuator;
	uint64_t reported_ns;
	uint32_t khz;

	if (actuator_domain_read_back(actuator, &khz) < 0 || !khz)
		return;
	topology_for_each_cpu(core->topology, cpu, domain) {
		tracer_reported_khz(core->tracer, cpu, &reported_ns);
		if (actuator_domain_is_request(actuator, khz) || !reported_ns)
			tracer_set_frequency(core->tracer, cpu, khz);
	}
}

/*
 * The files of a driver that was unloaded or switched (intel_pstate/status) do not come back; those
 * of the next driver are new files, perhaps with other frequencies.
 */
static void end_without_driver(struct core *core, const char *name)
{
	int code;

	if (sd_event_get_exit_code(core->event, &code) >= 0)
		return;
	log_error(
		"%s: its cpufreq driver is gone: wakegovd ends; start it again for the next driver, "
		"as systemd does",
		name);
	sd_event_exit(core->event, -ENODEV);
}

/* Adds to the reason of a yield who has set the governor just now. */
static void name_writer(struct core *core, uint32_t domain)
{
	struct actuator_domain *actuator = &core->domains[domain].actuator;

	topology_for_each_cpu(core->topology, cpu, domain) {
		const struct wakegov_writer writer = tracer_last_writer(core->tracer, cpu);

		if (actuator->taken_control == CONTROL_GOVERNOR && writer.at_ns &&
		    time_now_ns() - writer.at_ns < NS_PER_S)
			text_append(actuator->why, sizeof(actuator->why), " (by %s%s%s)",
				    writer.comm, writer.cgroup[0] ? " of " : "", writer.cgroup);
	}
	text_clean(actuator->why);
}

/* Applies an outcome of the actuator to the state of the domain. */
void domains_set_outcome(struct core *core, uint32_t domain, int outcome)
{
	struct governed *governed = &core->domains[domain];
	const char *name = governed->actuator.info->name;
	struct event about = { .domain = name };
	uint64_t now_ns;

	switch (outcome) {
	case ACTUATOR_TAKEN_OVER:
		now_ns = time_now_ns();
		name_writer(core, domain);
		/* A program that keeps setting and restoring a control is named once a minute. */
		governed->yield_said = !governed->yield_said_ns ||
				       now_ns - governed->yield_said_ns >= 60 * NS_PER_S;
		if (governed->yield_said) {
			governed->yield_said_ns = now_ns;
			journal_report(core, MESSAGE_YIELDED, &about,
				       "%s: %s; wakegov leaves it alone until: wakegovctl adopt %s",
				       name, governed->actuator.why, name);
		}
		set_active(core, domain, false);
		break;
	case ACTUATOR_OFFLINE:
		journal_report(core, MESSAGE_OFFLINE, &about, "%s: its CPUs are offline", name);
		set_active(core, domain, false);
		break;
	case -ENODEV:
		end_without_driver(core, name);
		break;
	default:
		if (outcome < 0 && !governed->error_logged) {
			about.reason = strerrorname_np(-outcome);
			journal_report(core, MESSAGE_WRITE_FAILED, &about,
				       "%s: cannot write its frequency: %s", name,
				       strerror(-outcome));
		}
		if (outcome != ACTUATOR_UNCHANGED) /* which wrote nothing: no news of the error */
			governed->error_logged = outcome < 0;
	}
}

int domains_acquire(struct core *core, uint32_t domain)
{
	struct governed *governed = &core->domains[domain];
	const char *name = governed->actuator.info->name;
	int r = backend_acquire(&governed->actuator, core->policy.backend, &governed->backend,
				governed->passed_over);

	if (r < 0)
		return r;
	if (governed->actuator.unsaved[0])
		log_warning("%s: %s", name, governed->actuator.unsaved);
	if (!governed->backend->writes && governed->passed_over[0])
		journal_log(MESSAGE_OBSERVED, &(struct event){ .domain = name },
			    "%s: only observed: %s", name, governed->passed_over);
	else
		log_debug("%s: backend %s%s%s", name, governed->backend->name,
			  governed->passed_over[0] ? ": " : "", governed->passed_over);
	return r;
}

/* A domain that fails is left alone until a user adopts it. */
static int acquire_again(struct core *core, uint32_t domain)
{
	struct actuator_domain *actuator = &core->domains[domain].actuator;
	int r = domains_acquire(core, domain);

	if (r >= 0)
		return r;
	log_error("%s: cannot be governed: %s; wakegov leaves it alone until: wakegovctl adopt %s",
		  actuator->info->name, actuator->why, actuator->info->name);
	actuator->state = ACTUATOR_STATE_YIELDED;
	actuator->taken_from_us[0] = '\0';
	return r;
}

void domains_verify(struct core *core, uint32_t domain)
{
	struct governed *governed = &core->domains[domain];
	enum actuator_state before = governed->actuator.state;
	uint32_t asked_khz;
	int outcome;

	opps_follow(core, domain);
	if (before == ACTUATOR_STATE_YIELDED &&
	    (core->handed_back_until_ns || !actuator_domain_is_back(&governed->actuator)))
		return;
	/*
	 * During a hand-back nothing is decided for observed domains either, and a domain that
	 * comes online is acquired with the others.
	 */
	if (core->handed_back_until_ns &&
	    (before == ACTUATOR_STATE_OFFLINE || before == ACTUATOR_STATE_OBSERVED)) {
		set_active(core, domain, false);
		return;
	}
	if (before == ACTUATOR_STATE_HANDED_BACK) {
		set_active(core, domain, false);
		outcome = actuator_verify_handed_back(&governed->actuator);
		if (outcome == ACTUATOR_TAKEN_OVER)
			domains_set_outcome(core, domain, outcome);
		return;
	}
	if (!governed->actuator.held && before != ACTUATOR_STATE_OBSERVED)
		outcome = acquire_again(core, domain);
	else
		outcome = governed->backend->verify(&governed->actuator);
	if (outcome != ACTUATOR_DONE) {
		if (governed->actuator.state == ACTUATOR_STATE_YIELDED && outcome < 0)
			set_active(core, domain, false);
		else if (governed->actuator.state != before || outcome < 0)
			domains_set_outcome(core, domain, outcome);
		return;
	}
	if (before == ACTUATOR_STATE_YIELDED && governed->yield_said)
		log_notice("%s: the value of wakegov that another program had changed is back: "
			   "governed again",
			   governed->actuator.info->name);
	if (before == ACTUATOR_STATE_OFFLINE)
		journal_report(core, MESSAGE_ONLINE,
			       &(struct event){ .domain = governed->actuator.info->name },
			       "%s: back online, governed again", governed->actuator.info->name);
	set_active(core, domain, true);
	domains_read_limits(core, domain);
	if (governed->actuator.range.is_acquired)
		domains_expect_limits(core, &governed->actuator,
				      governed->actuator.range.min.put_khz,
				      governed->actuator.range.max.put_khz);
	read_frequency(core, domain);
	/* The request may be lost: hotplug and resume restart the governor. */
	asked_khz = governed->actuator.asked_khz;
	if (!asked_khz || asked_khz != engine_last(core->engine, domain)->target_khz)
		engine_forget_target(core->engine, domain);
	domains_set_preference(core, domain);
}

int domains_hand_back(struct core *core, const char *governor)
{
	int r = 0;

	restore_visit(core->saved);
	for (uint32_t i = 0; i < core->n_domains && r >= 0; i++) {
		struct actuator_domain *actuator = &core->domains[i].actuator;

		domains_verify(core, i);
		if (!governed_is_driven(&core->domains[i]))
			continue;
		r = actuator_hand_back(actuator, core->domains[i].backend, governor);
		if (r < 0)
			log_error("%s: %s", actuator->info->name, actuator->why);
		else
			domains_verify(core, i);
	}
	return r < 0 ? r : 0;
}

void domains_end_hand_back(struct core *core)
{
	/* Reads take-overs by other programs while the domain is not ours: they keep it. */
	domains_verify_touched(core);
	core->handed_back_until_ns = 0;
	for (uint32_t i = 0; i < core->n_domains; i++) {
		struct actuator_domain *actuator = &core->domains[i].actuator;
		int r = 0;

		if (actuator->state == ACTUATOR_STATE_HANDED_BACK)
			r = actuator_end_hand_back(actuator);
		if (r < 0)
			log_error("%s: the values from before the hand-back cannot be restored: %s",
				  actuator->info->name, strerror(-r));
		domains_verify(core, i);
	}
}

/*
 * Logs each outcome once: what the driver lacks, it lacks for every domain, and after every reload.
 */
void domains_set_preference(struct core *core, uint32_t domain)
{
	static const char *const words[] = {
		[POLICY_PREFERENCE_NONE] = NULL,
		[POLICY_PREFERENCE_DEFAULT] = "default",
		[POLICY_PREFERENCE_PERFORMANCE] = "performance",
		[POLICY_PREFERENCE_BALANCE_PERFORMANCE] = "balance_performance",
		[POLICY_PREFERENCE_BALANCE_POWER] = "balance_power",
		[POLICY_PREFERENCE_POWER] = "power",
	};
	struct governed *governed = &core->domains[domain];
	struct policy_domain policy;
	bool is_logged = false;
	int outcome;

	if (!governed->actuator.held)
		return;
	policy_domain_for(&core->policy, governed->actuator.info->name, &policy);
	outcome = preference_set(&governed->actuator, words[policy.preference]);
	for (uint32_t i = 0; i < core->n_domains; i++)
		is_logged |= core->domains[i].preference_outcome == outcome;
	if (!is_logged && outcome != PREFERENCE_DONE && outcome != PREFERENCE_UNCHANGED)
		log_warning("%s: %s", governed->actuator.info->name, preference_describe(outcome));
	governed->preference_outcome = outcome;
}

/* The values that the other program set are saved as those to restore. */
static int adopt(struct core *core, uint32_t domain)
{
	struct governed *governed = &core->domains[domain];
	int r = acquire_again(core, domain);

	if (r < 0)
		return r;
	governed->yield_said_ns = 0;
	log_notice("%s: adopted on request, backend %s", governed->actuator.info->name,
		   governed->backend->name);
	domains_verify(core, domain);
	return r;
}

int domains_adopt(struct core *core, const char *name, uint32_t *ret_adopted)
{
	bool found = !name;
	int error = 0;

	*ret_adopted = 0;
	for (uint32_t i = 0; i < core->n_domains; i++) {
		const struct actuator_domain *actuator = &core->domains[i].actuator;
		int r;

		if (name && strcmp(actuator->info->name, name) != 0)
			continue;
		found = true;
		if (actuator->state != ACTUATOR_STATE_YIELDED)
			continue;
		r = adopt(core, i);
		if (r < 0)
			error = error ?: r;
		else
			++*ret_adopted;
	}
	return found ? error : -ENOENT;
}

/* Where the policy's backend cannot drive the domain now, it is observed until that changes. */
static void acquire_anew(struct core *core, uint32_t domain)
{
	struct governed *governed = &core->domains[domain];
	struct actuator_domain *actuator = &governed->actuator;

	if (!governed_is_driven(governed) && actuator->state != ACTUATOR_STATE_OBSERVED)
		return;
	actuator_domain_release(actuator, governed->backend, NULL, NULL);
	if (actuator->state == ACTUATOR_STATE_RELEASED && domains_acquire(core, domain) < 0) {
		snprintf(governed->passed_over, sizeof(governed->passed_over), "not %s: %s",
			 governed->backend->name, actuator->why);
		governed->backend = &backend_observe;
		governed->backend->acquire(actuator);
	}
	domains_verify(core, domain);
	log_notice("%s: backend %s%s%s", actuator->info->name, governed->backend->name,
		   governed->passed_over[0] ? ", " : "", governed->passed_over);
}

void domains_follow_kernel(struct core *core)
{
	char before[SCHED_EXT_NAME_SIZE];
	bool was_guided = core->is_guided;

	strcpy(before, core->scheduler);
	sched_ext_has_all("/sys", core->scheduler);
	core->is_guided = amd_pstate_is_guided();
	if (!strcmp(before, core->scheduler) && was_guided == core->is_guided)
		return;
	for (uint32_t i = 0; i < core->n_domains; i++)
		acquire_anew(core, i);
}

static void add_conflict(void *userdata, const char *name)
{
	struct conflicts_found *found = userdata;

	found->names[found->n++] = name;
}

void domains_find_conflicts(struct core *core)
{
	const struct conflicts_found before = core->conflicts;
	struct conflicts_found *found = &core->conflicts;

	found->n = 0;
	conflicts_find(add_conflict, found);
	for (uint32_t i = 0; i < found->n; i++) {
		bool is_known = false;

		for (uint32_t j = 0; j < before.n; j++)
			is_known |= before.names[j] == found->names[i];
		if (!is_known)
			log_notice("%s runs, and sets what wakegov sets: wakegovctl doctor says "
				   "what, and what to do",
				   found->names[i]);
	}
}

void domains_verify_touched(struct core *core)
{
	actuator_watch_read(core->watch);
	for (uint32_t i = 0; i < core->n_domains; i++)
		if (core->domains[i].actuator.touched)
			domains_verify(core, i);
}

/* Returns false without a free place or memory. */
static bool add_opp(struct core *core, uint32_t domain, uint32_t khz, uint32_t power)
{
	const struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_OPP,
		.opp = { .domain = domain, .khz = khz, .power = power },
	};

	if (core->topology->domains[domain].n_opps == DOMAIN_OPPS_MAX)
		return false;
	modules_each(core, row)
		if (row->module->add_opp && row->module->add_opp(row->state, domain) < 0)
			return false;
	opp_add(&core->topology->domains[domain], khz, power);
	engine_apply(core->engine, &input);
	return true;
}

/* If there are more OPPs than places, adds evenly spaced ones, the highest included. */
static void add_opps_above(struct core *core, uint32_t domain, const struct topology_domain *now)
{
	struct topology_domain *info = &core->topology->domains[domain];
	uint32_t first = 0, n, places = DOMAIN_OPPS_MAX - info->n_opps;

	while (first < now->n_opps && now->opp_khz[first] <= topology_domain_max_khz(info))
		first++;
	n = now->n_opps - first;
	if (n < places)
		places = n;
	for (uint32_t i = 0; i < places; i++) {
		uint32_t opp = first + (i + 1) * n / places - 1;

		if (!add_opp(core, domain, now->opp_khz[opp], now->opp_power[opp]))
			return;
	}
	if (!places)
		return;
	topology_for_each_cpu(core->topology, cpu, domain)
		tracer_set_reference(core->tracer, cpu, topology_domain_reference_khz(info));
	log_info("%s: up to %u MHz from now on", info->name, topology_domain_max_khz(info) / 1000);
}

void opps_follow(struct core *core, uint32_t domain)
{
	struct governed *governed = &core->domains[domain];
	struct topology_domain now = core->topology->domains[domain];

	if (!actuator_domain_see_boost(&governed->actuator) || cpufreq_discover_opps(&now) < 0)
		return;
	governed->power_source = power_find(&core->policy, &now);
	add_opps_above(core, domain, &now);
}
