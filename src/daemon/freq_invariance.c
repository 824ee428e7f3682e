// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which frequency counts as full capacity, and how fast CPUs really run, for the core's
 * utilisation.
 */
#include "daemon/domains.h"

#include <string.h>

#include "daemon/core.h"
#include "daemon/journal.h"
#include "daemon/module.h"
#include "daemon/process.h"
#include "frequency/frequency.h"
#include "shared/log.h"
#include "shared/time.h"

/* Logs changes only: the start has logged the first value. */
static void set_reference(struct core *core, uint32_t domain, uint32_t khz)
{
	struct topology_domain *info = &core->topology->domains[domain];
	const struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_REFERENCE,
		.reference = { .domain = domain, .khz = khz },
	};

	if (info->reference_khz == khz)
		return;
	info->reference_khz = khz;
	if (!core->engine)
		return;
	engine_apply(core->engine, &input);
	topology_for_each_cpu(core->topology, cpu, domain)
		tracer_set_reference(core->tracer, cpu, topology_domain_reference_khz(info));
	log_info("%s: capacity is measured by %u MHz from now on", info->name,
		 topology_domain_reference_khz(info) / 1000);
}

void freq_invariance_choose_references(struct core *core)
{
	const char *unread, *why;
	struct turbo turbo;
	bool known = reference_read_turbo(&turbo, &unread) == 0;

	if (!known)
		log_debug("turbo frequencies: %s", unread);
	core->base_khz = known ? turbo.base_khz : 0;
	for (uint32_t i = 0; i < core->topology->n_domains; i++) {
		const struct topology_domain *info = &core->topology->domains[i];
		struct policy_domain policy;
		uint32_t khz;

		policy_domain_for(&core->policy, info->name, &policy);
		khz = reference_choose(policy.reference, known ? &turbo : NULL, &why);
		if (why)
			log_warning("%s: frequency-reference is not as the policy wants: %s%s%s",
				    info->name, why, known ? "" : ": ", known ? "" : unread);
		if (!khz && reference_turbo_is_off())
			khz = reference_base_khz(info->first_cpu);
		set_reference(core, i, khz);
	}
}

static uint32_t ask_kernel(void *userdata, uint32_t cpu)
{
	struct core *core = userdata;
	uint32_t domain = topology_domain_of(core->topology, cpu), khz;

	if (domain == TOPOLOGY_NO_DOMAIN ||
	    actuator_domain_read_back(&core->domains[domain].actuator, &khz) < 0)
		return 0;
	return khz;
}

int freq_invariance_start(struct core *core)
{
	core->frequency = frequency_new(core->topology->n_cpus, core->base_khz, counter_readers,
					ask_kernel, core);
	if (!core->frequency)
		return log_oom();
	log_debug("frequency source: %s%s%s", frequency_source(core->frequency),
		  core->frequency->why[0] ? "; " : "", core->frequency->why);
	return 0;
}

int freq_invariance_drop_capabilities(struct core *core)
{
	const struct counter_reader *reader = *core->frequency->reader;

	return process_drop_capabilities(reader ? reader->capabilities : 0);
}

uint32_t freq_invariance_measure(struct core *core, uint32_t cpu, uint64_t now_ns)
{
	const char *dropped = frequency_source(core->frequency);
	uint64_t reported_ns;
	uint32_t reported_khz = tracer_reported_khz(core->tracer, cpu, &reported_ns), khz;

	switch (frequency_measure(core->frequency, cpu, now_ns, reported_khz, reported_ns, &khz)) {
	case FREQUENCY_MEASURED:
		tracer_set_measured(core->tracer, cpu, khz);
		modules_call(core, measured, cpu, khz);
		return khz;
	case FREQUENCY_DROPPED:
		journal_report(core, MESSAGE_SOURCE_DROPPED, &(struct event){ .reason = dropped },
			       "frequencies are no longer counted by %s but by %s: %s", dropped,
			       frequency_source(core->frequency), core->frequency->why);
		freq_invariance_drop_capabilities(core);
		break;
	case FREQUENCY_NOTHING:
		break;
	}
	return 0;
}

void freq_invariance_measure_cpu(struct core *core, uint32_t cpu, uint64_t now_ns)
{
	if (topology_domain_of(core->topology, cpu) != TOPOLOGY_NO_DOMAIN &&
	    tracer_cpu_works(core->tracer, cpu))
		freq_invariance_measure(core, cpu, now_ns);
}

void freq_invariance_measure_tried(struct core *core, struct input_task *task, uint64_t now_ns)
{
	uint32_t domain = topology_domain_of(core->topology, task->cpu);

	if (domain == TOPOLOGY_NO_DOMAIN || !engine_tries(core->engine, domain))
		return;
	freq_invariance_measure(core, task->cpu, now_ns);
	task->level_q = tracer_level_q(core->tracer, task->cpu);
}
