// SPDX-License-Identifier: GPL-2.0-only
/*
 * Some CPUs run at their highest frequency whatever they do: a driver whose firmware chooses,
 * amd-pstate's guided mode, or the governor performance under backend = limits. No boost can add to
 * that, and what is traced costs each task some of its time. So once the CPUs were measured at
 * their highest while next to nothing was asked of them, and as long as no rule, limit or
 * preference of the policy asks for more than boosts, the domains go back to the governors from
 * before for 10 s, twice that the next time, and so on to 320 s. At the end of each rest every
 * CPU's mean frequency of the whole rest is measured: a lower one ends this, for ten minutes at
 * least. Without counters of the real frequency there is no rest.
 */
#include "daemon/modules/modules.h"

#include "actuator/discovery.h"
#include "actuator/governor.h"
#include "core/rule.h"
#include "daemon/domains.h"
#include "daemon/loop.h"
#include "shared/log.h"
#include "shared/time.h"
#include "wakegov/decay.h"

#define ENOUGH	    6
#define SHORTEST_NS (10 * NS_PER_S)
#define LONGEST_NS  (320 * NS_PER_S)
#define REFUTED_NS  (600 * NS_PER_S)
#define TRIAL_NS    NS_PER_S
#define BETWEEN_NS  (10 * NS_PER_S) /* between two trials without an answer */

/* Counters and the clock that they are compared with are off by a percent or two. */
static bool is_highest(const struct core *core, uint32_t domain, uint32_t khz)
{
	return khz >= topology_domain_max_khz(&core->topology->domains[domain]) / 100 * 97;
}

/* What else the policy asks for has to be held. */
static bool asks_only_boosts(const struct core *core)
{
	if (rule_all(&core->policy))
		return false;
	for (uint32_t i = 0; i < core->n_domains; i++) {
		const struct topology_domain *info = &core->topology->domains[i];
		const struct governed *governed = &core->domains[i];
		struct policy_domain policy;
		uint32_t min_khz, max_khz;

		policy_domain_for(&core->policy, info->name, &policy);
		engine_limits(core->engine, i, &min_khz, &max_khz);
		if (policy.preference != POLICY_PREFERENCE_NONE ||
		    (min_khz > info->opp_khz[0] && min_khz > governed->others_min_khz) ||
		    (max_khz < topology_domain_max_khz(info) &&
		     max_khz < governed->others_max_khz) ||
		    (governed_is_driven(governed) && !governed->backend->leaves_governor))
			return false;
	}
	return true;
}

/*
 * Firmware, or the governor performance, can keep CPUs at their highest whatever they do. A
 * governor that follows their load does so for a while: for tasks that wait for I/O, or that it
 * remembers.
 */
static bool can_be_fast(const struct governed *governed)
{
	uint32_t policy = governed->actuator.info->first_cpu;
	char governor[CONTROL_VALUE_SIZE] = "", driver[32] = "";

	control_load(CONTROL_GOVERNOR, policy, governor, sizeof(governor));
	control_read_file(policy, "scaling_driver", driver, sizeof(driver));
	return governed->backend->leaves_governor &&
	       (!strcmp(governor, "performance") || governor_driver_chooses(driver) ||
		amd_pstate_is_guided());
}

/* The next decisions write their floors again. */
static void end_trial(struct own_clock *own, uint64_t again_ns)
{
	own->trial_ends_ns = own->n_seen = 0;
	own->again_ns = again_ns;
	if (!own->core->withholds)
		return;
	own->core->withholds = false;
	for (uint32_t cpu = 0; cpu < own->core->topology->n_cpus; cpu++)
		engine_mark_due(own->core->engine, cpu);
	round_soon(own->core);
}

static void measured(void *state, uint32_t cpu, uint32_t khz)
{
	struct own_clock *own = state;
	struct core *core = own->core;
	uint32_t domain = topology_domain_of(core->topology, cpu);
	uint64_t now_ns = time_now_ns();
	struct input input;

	if (core->rests || now_ns < own->again_ns)
		return;
	if (!is_highest(core, domain, khz) || !can_be_fast(&core->domains[domain])) {
		end_trial(own, now_ns + REFUTED_NS);
		return;
	}
	if (!own->trial_ends_ns)
		own->trial_ends_ns = now_ns + TRIAL_NS;
	/* With much to do a CPU may be at its highest by firmware of any kind. */
	tracer_read_cpu(core->tracer, cpu, now_ns, &input);
	if ((core->withholds || !engine_floor_khz(core->engine, domain)) &&
	    DECAY_CAP(input.cpu.util_q) <= core->topology->domains[domain].capacity * 5 / 8)
		own->n_seen++;
}

/* Whether no CPU had a lower mean frequency since the last call. */
static bool were_highest(struct core *core, uint64_t now_ns)
{
	bool are_so = true;

	for (uint32_t domain = 0; domain < core->n_domains; domain++)
		topology_for_each_cpu(core->topology, cpu, domain) {
			uint32_t khz = freq_invariance_measure(core, cpu, now_ns);

			if (khz && !is_highest(core, domain, khz))
				are_so = false;
		}
	return are_so;
}

static void begin_rest(struct own_clock *own, uint64_t now_ns)
{
	struct core *core = own->core;

	end_trial(own, now_ns);
	own->length_ns = SHORTEST_NS;
	core->rests = true;
	core->handed_back_until_ns = now_ns + own->length_ns;
	if (domains_hand_back(core, NULL) < 0) {
		own_clock_end(own);
		own->again_ns = now_ns + REFUTED_NS;
		return;
	}
	for (uint32_t i = 0; i < core->n_domains; i++) {
		struct actuator_domain *actuator = &core->domains[i].actuator;

		if (actuator->state == ACTUATOR_STATE_HANDED_BACK)
			actuator_domain_explain(actuator, 0,
						"left to %s: its CPUs run at their "
						"highest frequency by themselves",
						actuator->lent_to);
	}
	were_highest(core, now_ns);
	log_info("the CPUs run at their highest frequency by themselves: the domains are left to "
		 "their governors until that changes");
}

void own_clock_end(struct own_clock *own)
{
	if (!own->core->rests)
		return;
	own->core->rests = false;
	domains_end_hand_back(own->core);
}

/* A rest is over: begins another one if the CPUs were fast in it. */
static void end_rest(struct own_clock *own, uint64_t now_ns)
{
	if (were_highest(own->core, now_ns)) {
		if (own->length_ns < LONGEST_NS)
			own->length_ns *= 2;
		own->core->handed_back_until_ns = now_ns + own->length_ns;
		return;
	}
	own_clock_end(own);
	own->again_ns = now_ns + REFUTED_NS;
	log_info("a CPU did not run at its highest frequency by itself: governing again");
}

static void run(void *state, uint64_t now_ns)
{
	struct own_clock *own = state;
	struct core *core = own->core;
	bool may_rest;

	/* Mostly there is neither, and rounds are frequent. */
	if (!core->rests && (core->handed_back_until_ns || !own->trial_ends_ns))
		return;
	may_rest = asks_only_boosts(core);
	if (core->rests && !may_rest)
		own_clock_end(own);
	else if (core->rests && now_ns >= core->handed_back_until_ns)
		end_rest(own, now_ns);
	else if (core->rests)
		return;
	else if (own->n_seen >= ENOUGH && may_rest && core_drives_any(core))
		begin_rest(own, now_ns);
	else if (now_ns >= own->trial_ends_ns)
		end_trial(own, now_ns + BETWEEN_NS);
	else
		core->withholds = may_rest;
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	const struct own_clock *own = state;

	if (own->core->rests)
		return own->core->handed_back_until_ns;
	return own->core->withholds ? own->trial_ends_ns : UINT64_MAX;
}

static void rules_changed(void *state)
{
	struct core *core = ((struct own_clock *)state)->core;

	if (core->rests)
		round_soon(core);
}

const struct module own_clock_module = {
	.name = "own-clock",
	.rules_changed = rules_changed,
	.measured = measured,
	.run = run,
	.next_ns = next_ns,
};
