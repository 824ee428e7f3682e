// SPDX-License-Identifier: GPL-2.0-only
/*
 * While the work of its CPUs keeps every domain at its highest OPP, no decision can change, and
 * only the scheduler's ticks are traced. They are counted five times a second. When a domain has
 * less to do, everything is traced again. A domain without work has no ticks, which is reported at
 * once. In the meantime neither the load of single tasks nor their I/O is seen.
 */
#include "daemon/modules/modules.h"

#include "core/engine.h"
#include "shared/time.h"
#include "tracer/tracer.h"

/*
 * With twice the time, a clock stays fast for as much longer after the work; with half, there are
 * too few ticks.
 */
#define LOOK_NS (200 * NS_PER_MS)
/* A saturation that ends again and again is not worth attaching and detaching programs. */
#define AGAIN_NS NS_PER_S

static bool are_kept_full(struct core *core)
{
	for (uint32_t domain = 0; domain < core->n_domains; domain++) {
		uint32_t most = 0;

		topology_for_each_cpu(core->topology, cpu, domain) {
			uint32_t share = tracer_tick_share(core->tracer, cpu);

			if (engine_is_spare(core->engine, cpu, share))
				return false;
			if (share > most)
				most = share;
		}
		if (!engine_keeps_full(core->engine, domain, most))
			return false;
	}
	return true;
}

/* Whether a domain that was kept full has nothing to do. */
static bool has_ended(struct core *core, uint64_t now_ns)
{
	if (!tracer_ticks_ended(core->tracer))
		return false;
	for (uint32_t domain = 0; domain < core->n_domains; domain++) {
		bool works = false;

		topology_for_each_cpu(core->topology, cpu, domain)
			works |= tracer_cpu_ticks(core->tracer, cpu, now_ns);
		if (!works && !engine_keeps_full(core->engine, domain, 0))
			return true;
	}
	return false;
}

/* Returns when the next round is due: at once, for what was sampled. */
static uint64_t trace_all_again(struct saturation *saturation, uint64_t now_ns)
{
	struct core *core = saturation->core;

	saturation->next_ns = 0;
	saturation->again_ns = now_ns + AGAIN_NS;
	tracer_trace_only_ticks(core->tracer, false);
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
		engine_mark_due(core->engine, cpu);
	return now_ns;
}

/* Looks whether it begins or ends. Returns when the next round is due for it. */
static uint64_t update(struct saturation *saturation, uint64_t now_ns)
{
	struct core *core = saturation->core;
	uint64_t *next_ns = &saturation->next_ns;
	uint64_t full_ns = engine_full_ns(core->engine, now_ns);

	if (full_ns && full_ns < saturation->again_ns)
		full_ns = saturation->again_ns;
	if (!full_ns || now_ns < full_ns || tracer_is_paused(core->tracer) ||
	    !tracer_may_trace_only_ticks(core->tracer) || has_ended(core, now_ns)) {
		*next_ns = 0;
		if (tracer_only_ticks(core->tracer))
			return trace_all_again(saturation, now_ns);
		return now_ns < full_ns ? full_ns : UINT64_MAX;
	}
	if (now_ns < *next_ns)
		return *next_ns;
	tracer_count_ticks(core->tracer, now_ns);
	if (are_kept_full(core)) {
		tracer_trace_only_ticks(core->tracer, true);
		tracer_watch_ticks(core->tracer);
	} else if (tracer_only_ticks(core->tracer)) {
		return trace_all_again(saturation, now_ns);
	}
	*next_ns = now_ns + LOOK_NS;
	return *next_ns;
}

static void run(void *state, uint64_t now_ns)
{
	struct saturation *saturation = state;

	saturation->round_ns = update(saturation, now_ns);
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	return ((const struct saturation *)state)->round_ns;
}

const struct module saturation_module = {
	.name = "saturation",
	.run = run,
	.next_ns = next_ns,
};
