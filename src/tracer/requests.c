// SPDX-License-Identifier: GPL-2.0-only
/* Switches between following block requests from start to end, and counting them only. */
#include "shared/time.h"
#include "tracer/tracer_private.h"

/* Forgets the requests that were in flight when following ended: most have ended unseen. */
static void void_flights(struct tracer *tracer)
{
	for (uint32_t i = 0; i < WAKEGOV_FLIGHT_SETS; i++)
		for (uint32_t j = 0; j < WAKEGOV_FLIGHT_WAYS; j++)
			tracer->flights[i].ways[j].start_ns = 0;
}

static void void_depths(struct tracer *tracer, uint64_t now_ns)
{
	for (uint32_t i = 0; i < WAKEGOV_DEVICES; i++) {
		struct wakegov_device *device = &tracer->devices[i];

		device->flow = wakegov_flow_completions(device->flow) << WAKEGOV_DEPTH_BITS;
		device->idle_since_ns = 0;
	}
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++) {
		struct wakegov_slot *slot = &tracer->slots[i];

		slot->completed = slot->started;
		slot->completions_ns = slot->starts_ns;
		slot->max_depth = 0;
		slot->idle_since_ns = 0;
		slot->sleep_ns = 0;
		slot->think_ns = 0;
		tracer->seen[i].sums_ns = 0;
		tracer->seen[i].depth = 0;
		tracer->seen[i].seen_ns = now_ns;
	}
}

/*
 * Attaches the programs at each request and each wake-up only while they are of use: a program that
 * returns at once costs more than the work that these do.
 */
void tracer_attach_needed(struct tracer *tracer, bool follow)
{
	const struct wakegov__bss *shared = tracer->programs.bss;
	bool clamps = shared->settings.n_clamp_classes ||
		      (shared->settings.follow_own && shared->clamps_seen);

	programs_need(&tracer->programs, WAKEGOV_BLOCK_COMPLETE, follow);
	programs_need(&tracer->programs, WAKEGOV_BLOCK_MERGE, follow);
	programs_need(&tracer->programs, WAKEGOV_SCHED_WAKING,
		      follow || clamps || shared->settings.placing || shared->settings.chains);
	programs_need(&tracer->programs, WAKEGOV_SOFTIRQ_RAISE, shared->settings.chains);
	programs_need(&tracer->programs, WAKEGOV_TIMER_EXIT, shared->settings.chains);
	programs_need(&tracer->programs, WAKEGOV_INPUT_EVENT, shared->settings.chains);
}

/*
 * Follows ends first on every CPU, then starts CPU by CPU: a request may end on any CPU, so that no
 * end of a followed request is lost. Requests that started before have no entry, and their ends are
 * ignored.
 */
void tracer_follow_requests(struct tracer *tracer, bool follow, uint64_t now_ns)
{
	volatile struct wakegov_settings *settings = &tracer->programs.bss->settings;

	if (follow != tracer_counts_only(tracer))
		return;
	/*
	 * An end without a start is no anomaly before all CPUs follow starts, nor after they have
	 * stopped.
	 */
	settings->follow_since_ns = UINT64_MAX;
	if (follow) {
		void_flights(tracer);
		void_depths(tracer, now_ns);
		tracer_attach_needed(tracer, true);
		tracer_attach_starts(tracer, true);
	} else {
		tracer_end_learning(tracer);
	}
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++)
		tracer->cpus[cpu].count_only = !follow;
	if (follow) {
		/* A request is dated after its start was seen; an interrupt may lie between. */
		settings->follow_since_ns = time_now_ns() + tracer->tick_ns;
		tracer_begin_learning(tracer);
		return;
	}
	tracer_attach_needed(tracer, false);
	tracer_attach_starts(tracer, false);
}
