// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is traced costs each task of the machine some of its time. Where no domain is governed, as
 * without cpufreq, under backend = observe, or after other programs took all of them over, that
 * gains nothing: the BPF programs are attached only while a module needs them, or a client asks for
 * what they measure, and for ten seconds after its last call.
 */
#include "daemon/modules/modules.h"

#include "core/rule.h"
#include "daemon/loop.h"
#include "daemon/rule_tracking.h"
#include "shared/time.h"

/* A view that is drawn again each second, as top, stays attached. */
#define ASKED_NS (10 * NS_PER_S)

static void resume(struct watching *watching, uint64_t now_ns)
{
	struct core *core = watching->core;

	watching->since_ns = now_ns;
	rounds_resume(core);
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++)
		engine_mark_due(core->engine, cpu);
	if (rule_all(&core->policy))
		rule_tracking_scan(core);
	round_soon(core);
}

static void run(void *state, uint64_t now_ns)
{
	struct watching *watching = state;
	struct core *core = watching->core;
	bool is_watched = now_ns < watching->until_ns || core_drives_any(core);

	modules_each(core, row)
		is_watched |= row->module->needs_tracer && row->module->needs_tracer(row->state);
	if (core_is_lent(core) || is_watched != tracer_is_paused(core->tracer))
		return;
	if (is_watched) {
		resume(watching, now_ns);
	} else {
		tracer_pause(core->tracer);
		watching->since_ns = 0;
	}
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	const struct watching *watching = state;

	return now_ns < watching->until_ns && !core_drives_any(watching->core) ? watching->until_ns
									       : UINT64_MAX;
}

void watching_ask(struct watching *watching)
{
	uint64_t now_ns = time_now_ns();

	watching->until_ns = now_ns + ASKED_NS;
	if (tracer_is_paused(watching->core->tracer) && !core_is_lent(watching->core))
		resume(watching, now_ns);
}

const struct module watching_module = {
	.name = "watching",
	.run = run,
	.next_ns = next_ns,
};
