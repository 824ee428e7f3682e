/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A made-up machine around the engine: CPUs that accrue and decay, tasks that do I/O, a tick, and
 * the caller's round as src/round.c does it. Time goes from event to event; the engine is called
 * only when its timer is over or what it asked to be woken for has happened, so a plan that it
 * forgets shows as a domain that stays where it is.
 *
 * After each round the invariants that hold for every input are checked. A second engine gets the
 * same inputs and must give the same decisions, byte for byte.
 */

#include "test-core.h"

#include "core/engine.h"
#include "core/opp.h"
#include "core/utilisation.h"
#include "wakegov/decay.h"

#define WORLD_CPUS_MAX	  16
#define WORLD_DOMAINS_MAX 4
#define WORLD_TASKS	  32
#define WORLD_TICK_NS	  NS_PER_MS

struct world_cpu {
	uint32_t util_q;
	uint64_t updated_ns;
	bool running;
	uint64_t idle_since_ns;
	struct engine_band band;
	bool armed; /* band is yet to be told about */
};

struct world_task {
	uint32_t pid; /* 0: does not exist */
	uint32_t cpu;
	uint64_t io_waits;
	uint64_t last_io_ns;
};

struct world_domain {
	uint32_t min_khz;
	uint32_t max_khz;
	bool active;
	uint32_t target_khz; /* 0: none, or lost */
	uint64_t changed_ns; /* 0: never, or lost */
	uint64_t changes;
};

struct world {
	struct topology *topology;
	struct policy policy;
	struct engine *engine;
	struct engine *twin;
	uint64_t now_ns;
	uint64_t rounds;
	uint64_t handles_ended;
	struct world_cpu cpus[WORLD_CPUS_MAX];
	struct world_domain domains[WORLD_DOMAINS_MAX];
	struct world_task tasks[WORLD_TASKS];
};

/* Owns topology from then on. Every domain is active, every CPU idle for ever. */
void world_init(struct world *world, struct topology *topology, const struct policy *policy);
void world_deinit(struct world *world);

void world_apply(struct world *world, const struct input *input);
void world_set_policy(struct world *world, const struct policy *policy);
void world_set_active(struct world *world, uint32_t domain, bool active);
void world_set_limits(struct world *world, uint32_t domain, uint32_t min_khz, uint32_t max_khz);
void world_forget_target(struct world *world, uint32_t domain);

/* A switch on the CPU, to a task or to idle; tells the engine if it asked for that. */
void world_switch(struct world *world, uint32_t cpu, bool running);

/* The task did n I/Os; the kernel side has counted them and tells nobody. */
void world_io(struct world *world, uint32_t task, uint64_t n);
/* The kernel side tells of the task: it is new, has moved, or has exited (pid 0 then). */
void world_tell_task(struct world *world, uint32_t task);
void world_start_task(struct world *world, uint32_t task, uint32_t pid, uint32_t cpu);
void world_end_task(struct world *world, uint32_t task);

/* The caller's round, and all the invariants. */
void world_round(struct world *world);

/* Lets time go by. */
void world_run_until(struct world *world, uint64_t until_ns);

static inline const struct decision *world_last(const struct world *world, uint32_t domain)
{
	return engine_last(world->engine, domain);
}
