// SPDX-License-Identifier: GPL-2.0-only
/* Tracing by ticks alone, while the work of every CPU keeps its domain at its highest OPP. */
#include "shared/time.h"
#include "tracer/tracer_private.h"

#define SHARE_ALL 1024

bool tracer_may_trace_only_ticks(const struct tracer *tracer)
{
	const struct wakegov__bss *shared = tracer->programs.bss;

	return tracer->programs.wanted != PROGRAMS_NONE && !shared->settings.at_every_switch &&
	       !(shared->settings.follow_own && shared->clamps_seen);
}

/* In 1024ths. The count may include a tick too many. */
static uint32_t share_of(uint64_t worked, uint64_t passed)
{
	return worked < passed ? worked * SHARE_ALL / passed : SHARE_ALL;
}

void tracer_count_ticks(struct tracer *tracer, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - tracer->ticked_ns;

	tracer->ticked_ns = now_ns;
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		struct ticked *ticked = &tracer->ticked[cpu];
		uint64_t ticks = tracer->cpus[cpu].ticks - ticked->ticks;
		struct input input;

		/* Where switches are traced, by its utilisation. */
		tracer_read_cpu(tracer, cpu, now_ns, &input);
		ticked->ticks += ticks;
		ticked->share = tracer_only_ticks(tracer)
					? share_of(ticks * tracer->tick_ns, passed_ns)
					: share_of(input.cpu.util_q, tracer_level_q(tracer, cpu));
	}
}

uint32_t tracer_tick_share(const struct tracer *tracer, uint32_t cpu)
{
	return tracer->ticked[cpu].share;
}

void tracer_watch_ticks(struct tracer *tracer)
{
	tracer->programs.bss->ticks_ended = false;
}

static void begin(struct tracer *tracer)
{
	uint64_t now_ns;

	tracer_learn(tracer, false);
	programs_set_wanted(&tracer->programs, PROGRAMS_TICKS);
	now_ns = time_now_ns();
	tracer->programs.bss->settings.only_ticks_since_ns = now_ns;
	tracer_stop_chains(tracer, now_ns);
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		struct wakegov_cpu *shared = &tracer->cpus[cpu];

		shared->watched = cpu; /* each CPU begins at another one */
		account_cpu(&shared->load, now_ns);
		memset(shared->recent, 0, sizeof(shared->recent));
	}
}

void tracer_rest_cpus(struct tracer *tracer, uint64_t now_ns)
{
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		struct wakegov_cpu *shared = &tracer->cpus[cpu];
		struct account_cpu *load = &shared->load;

		load->running = 0;
		load->busy_since_ns = 0;
		load->est_q = 0;
		load->updated_ns = now_ns;
		load->switched_ns = now_ns;
		load->idle_since_ns = now_ns;
		shared->met_ns = now_ns;
		memset(shared->recent, 0, sizeof(shared->recent));
		shared->armed = 0;
	}
}

void tracer_end_ticks(struct tracer *tracer)
{
	struct wakegov__bss *shared = tracer->programs.bss;

	shared->settings.only_ticks_since_ns = 0;
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		struct account_cpu *load = &tracer->cpus[cpu].load;

		tracer->cpus[cpu].full = true;
		load->util_q = (uint64_t)load->level_q * tracer->ticked[cpu].share / SHARE_ALL;
		load->moved_q = 0;
		load->worked_ns = 0;
	}
}

bool tracer_only_ticks(const struct tracer *tracer)
{
	return tracer->programs.wanted == PROGRAMS_TICKS;
}

bool tracer_ticks_ended(const struct tracer *tracer)
{
	return tracer_only_ticks(tracer) && tracer->programs.bss->ticks_ended;
}

bool tracer_cpu_ticks(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns)
{
	return now_ns < tracer->cpus[cpu].ticked_ns + WAKEGOV_NO_TICK_NS;
}

void tracer_trace_only_ticks(struct tracer *tracer, bool only)
{
	if (only == tracer_only_ticks(tracer))
		return;
	if (only) {
		begin(tracer);
		return;
	}
	tracer_end_ticks(tracer);
	tracer_rest_cpus(tracer, time_now_ns());
	programs_set_wanted(&tracer->programs, PROGRAMS_ALL);
}
