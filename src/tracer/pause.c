// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces less: by ticks alone, while the work of every CPU keeps its domain at its highest OPP; or
 * nothing, so that wakegov costs the machine's work nothing.
 */
#include "shared/time.h"
#include "tracer/tracer_private.h"

#define SHARE_ALL 1024
#define NOWHERE	  UINT32_MAX

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

static void begin_ticks(struct tracer *tracer)
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

/*
 * Marks every CPU as idle: the next switch or tick shows the running task. The utilisation stays,
 * as no time was accounted meanwhile.
 */
static void rest_cpus(struct tracer *tracer, uint64_t now_ns)
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

/*
 * Prepares for tracing all. Each CPU's utilisation becomes that of the last tracer_count_ticks().
 */
static void end_ticks(struct tracer *tracer)
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
		begin_ticks(tracer);
		return;
	}
	end_ticks(tracer);
	rest_cpus(tracer, time_now_ns());
	programs_set_wanted(&tracer->programs, PROGRAMS_ALL);
}

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
		end_ticks(tracer);
	rest_cpus(tracer, now_ns);
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
	rest_cpus(tracer, time_now_ns());
	programs_set_wanted(&tracer->programs, PROGRAMS_ALL);
	tracer_attach_starts(tracer);
	find_tasks(tracer);
}
