// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/saturation.h"

#include "core/engine.h"
#include "daemon/loop.h"
#include "daemon/modules/hand_back.h"
#include "shared/time.h"
#include "tracer/tracer.h"

/*
 * With twice the time, a clock stays fast for as much longer after the work; with half, there are
 * too few ticks.
 */
#define LOOK_NS (200 * NS_PER_MS)

static bool is_kept_full(struct manager *manager, uint32_t domain)
{
	uint32_t most = 0;

	topology_for_each_cpu(manager->topology, cpu, domain) {
		uint32_t share = tracer_tick_share(manager->tracer, cpu);

		if (share > most)
			most = share;
	}
	return engine_keeps_full(manager->engine, domain, most);
}

static bool are_kept_full(struct manager *manager)
{
	for (uint32_t domain = 0; domain < manager->n_domains; domain++)
		if (!is_kept_full(manager, domain))
			return false;
	return true;
}

/* Returns when the next round is due: at once, for what was sampled. */
static uint64_t trace_all_again(struct manager *manager, uint64_t now_ns)
{
	manager->saturation_next_ns = 0;
	tracer_trace_only_ticks(manager->tracer, false);
	for (uint32_t domain = 0; domain < manager->n_domains; domain++)
		inputs_sample_domain(manager, domain, now_ns);
	return now_ns;
}

uint64_t saturation_look(struct manager *manager, uint64_t now_ns)
{
	uint64_t *next_ns = &manager->saturation_next_ns;
	uint64_t full_ns = engine_full_ns(manager->engine);

	if (!full_ns || now_ns < full_ns || manager->hand_back.until_ns ||
	    !tracer_may_trace_only_ticks(manager->tracer)) {
		*next_ns = 0;
		if (tracer_only_ticks(manager->tracer))
			return trace_all_again(manager, now_ns);
		return now_ns < full_ns ? full_ns : UINT64_MAX;
	}
	if (now_ns < *next_ns)
		return *next_ns;
	tracer_count_ticks(manager->tracer, now_ns);
	/* The first look only begins to count. */
	if (*next_ns && are_kept_full(manager))
		tracer_trace_only_ticks(manager->tracer, true);
	else if (tracer_only_ticks(manager->tracer))
		return trace_all_again(manager, now_ns);
	*next_ns = now_ns + LOOK_NS;
	return *next_ns;
}
