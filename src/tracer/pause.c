// SPDX-License-Identifier: GPL-2.0-only
/* Pauses the tracer: no BPF program runs, so wakegov costs the machine's work nothing. */
#include "shared/time.h"
#include "tracer/tracer_private.h"

#define NOWHERE UINT32_MAX

void tracer_pause(struct tracer *tracer)
{
	bool by_ticks = tracer_only_ticks(tracer);
	uint64_t now_ns;

	programs_set_wanted(&tracer->programs, PROGRAMS_NONE);
	now_ns = time_now_ns();
	tracer_learn(tracer, false);
	tracer_attach_starts(tracer);
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++)
		account_cpu(&tracer->cpus[cpu].load, now_ns);
	if (by_ticks)
		tracer_end_ticks(tracer);
	tracer_rest_cpus(tracer, now_ns);
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		tracer->slots[i].hold_ns = 0; /* no program watches for the end of the hold time */
}

static void ignore(void *userdata, const struct task_facts *facts)
{
}

/* The iterator over tasks updates the CPU of each task that it finds. The others have exited. */
static void find_tasks(struct tracer *tracer)
{
	uint64_t now_ns;

	tracer_scan_tasks(tracer, ignore, NULL);
	now_ns = time_now_ns();
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++) {
		struct wakegov_slot *slot = &tracer->slots[i];

		if (slot->cpu == NOWHERE) {
			slot->cpu = 0;
			slot->live = 0;
		} else if (slot->last_wait_ns < now_ns) {
			/* Restarts the hold time, as after an I/O. */
			slot->last_wait_ns = now_ns;
		}
	}
}

bool tracer_is_paused(const struct tracer *tracer)
{
	return tracer->programs.wanted == PROGRAMS_NONE;
}

void tracer_resume(struct tracer *tracer)
{
	if (!tracer_is_paused(tracer))
		return;
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		if (tracer->slots[i].pid && tracer->slots[i].live)
			tracer->slots[i].cpu = NOWHERE;
	/* Exits during the pause were not counted. */
	for (uint32_t i = 0; i < WAKEGOV_ENDS; i++)
		tracer->programs.bss->task_ends[i]++;
	tracer_forget_processes(tracer);
	tracer_rest_cpus(tracer, time_now_ns());
	programs_set_wanted(&tracer->programs, PROGRAMS_ALL);
	tracer_attach_starts(tracer);
	find_tasks(tracer);
}
