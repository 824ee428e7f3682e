// SPDX-License-Identifier: GPL-2.0-only
/* Where nothing is governed, the BPF programs are attached only while a client asks. */
#include "daemon/modules/watching.h"

#include "core/rule.h"
#include "daemon/domains.h"
#include "daemon/loop.h"
#include "daemon/rule_tracking.h"
#include "frequency/frequency.h"
#include "shared/time.h"

/* A view that is drawn again each second, as top, stays attached. */
#define ASKED_NS (10 * NS_PER_S)

static bool is_watched(const struct watching *watching, uint64_t now_ns)
{
	const struct core *core = watching->core;

	if (watching->asked_ns && now_ns < watching->asked_ns + ASKED_NS)
		return true;
	modules_each(core, row)
		if (row->module->needs_tracer && row->module->needs_tracer(row->state))
			return true;
	return core_drives_any(core);
}

static void resume(struct watching *watching, uint64_t now_ns)
{
	struct core *core = watching->core;

	watching->since_ns = now_ns;
	core->is_unwatched = false;
	tracer_resume(core->tracer);
	for (uint32_t cpu = 0; cpu < core->topology->n_cpus; cpu++) {
		frequency_forget(core->frequency, cpu);
		engine_mark_due(core->engine, cpu);
	}
	if (rule_all(&core->policy))
		rule_tracking_scan(core);
	round_soon(core);
}

/* A hand-back pauses the tracer itself. */
static void run(void *state, uint64_t now_ns)
{
	struct watching *watching = state;
	struct core *core = watching->core;
	bool is_needed = is_watched(watching, now_ns);

	if (core->handed_back_until_ns || is_needed != core->is_unwatched)
		return;
	if (is_needed) {
		resume(watching, now_ns);
		return;
	}
	tracer_pause(core->tracer);
	core->is_unwatched = true;
	watching->since_ns = 0;
}

static uint64_t next_ns(void *state, uint64_t now_ns, uint64_t others_ns)
{
	const struct watching *watching = state;

	if (!watching->asked_ns || core_drives_any(watching->core) ||
	    now_ns >= watching->asked_ns + ASKED_NS)
		return UINT64_MAX;
	return watching->asked_ns + ASKED_NS;
}

void watching_ask(struct watching *watching)
{
	watching->asked_ns = time_now_ns();
	if (watching->core->is_unwatched)
		resume(watching, watching->asked_ns);
}

const struct module watching_module = {
	.name = "watching",
	.run = run,
	.next_ns = next_ns,
};
