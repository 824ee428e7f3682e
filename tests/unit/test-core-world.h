/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A made-up machine around the engine: CPUs that accrue and decay, tasks that do I/O, a tick, and
 * the caller's round as src/daemon/round.c does it. Time goes from event to event; the engine is
 * called only when its timer is over or what it asked to be woken for has happened, so a plan that
 * it forgets shows as a domain that stays where it is.
 *
 * After each round the invariants that hold for every input are checked. A second engine gets the
 * same inputs and must give the same decisions, byte for byte.
 */

#include "fake-io.h"
#include "test-core.h"

#include "core/engine.h"
#include "core/opp.h"
#include "wakegov/util_acct.h"

#define WORLD_CPUS_MAX	  16
#define WORLD_DOMAINS_MAX 4
#define WORLD_TASKS	  32
#define WORLD_DEVICES	  8
#define WORLD_TICK_NS	  NS_PER_MS

struct world_cpu {
	struct account_cpu load;
	struct input_chain chain;
	uint32_t served_pid; /* whose wait a kernel thread ended here … */
	uint64_t served_ns;  /* … and when */
	struct engine_band band;
	bool armed; /* band is yet to be told about */
};

struct world_task {
	uint32_t pid; /* 0: does not exist */
	uint32_t cpu;
	uint64_t watch_ns; /* when the kernel side looks for the end of its hold; 0: it does not */
	struct fake_io io;
};

struct world_device {
	bool present; /* its totals can be read */
	uint64_t completions;
	uint32_t completion_cpu;
};

struct world_domain {
	uint32_t min_khz;
	uint32_t max_khz;
	bool active;
	bool observed;	     /* not driven; takes effect with world_set_active() */
	uint32_t target_khz; /* 0: none, or lost */
	uint32_t kernel_khz; /* what the kernel's own boost gives, unless clamps forbid it */
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
	uint64_t samples; /* of tasks */
	bool watches;	  /* the kernel side can watch hold times */
	bool refuses;	  /* no target can be set */
	struct world_cpu cpus[WORLD_CPUS_MAX];
	struct world_domain domains[WORLD_DOMAINS_MAX];
	struct world_task tasks[WORLD_TASKS];
	struct world_device devices[WORLD_DEVICES];
	uint64_t io_updated_ns;
};

/* Owns topology from then on. Every domain is active, every CPU idle for ever. */
void world_init(struct topology *topology, const struct policy *policy);
void world_deinit(void);

/* The world of a test, which is deinitialised after it. */
extern struct world *const world;
int world_tear_down(void **state);
#define WORLD_TEST(name, set_up) TEST_WITH(name, set_up, world_tear_down)

void world_apply(const struct input *input);
void world_set_policy(const struct policy *policy);
void world_set_active(uint32_t domain, bool active);
void world_set_limits(uint32_t domain, uint32_t min_khz, uint32_t max_khz);
void world_forget_target(uint32_t domain);
/* The second engine is made anew from what the first one knows: it goes on in the same way. */
void world_renew_twin(void);

/* A switch on the CPU, to a task or to idle; tells the engine if it asked for that. */
void world_switch(uint32_t cpu, bool running);
/* The same with a task of which it is known what it needs. */
void world_switch_to(uint32_t cpu, bool running, uint32_t est_q);

/* The task did n I/Os without block requests; the kernel side has counted and tells nobody. */
void world_io(uint32_t task, uint64_t n);
/* The kernel side tells of the task: it is new, has moved, or has exited (pid 0 then). */
void world_tell_task(uint32_t task);
/* When the kernel side next looks whether a hold that it watches is over, and that look. */
uint64_t world_next_watch_ns(void);
void world_check_holds(void);
/* One that does nothing by itself, and one that does. */
void world_start_task(uint32_t task, uint32_t pid, uint32_t cpu);
void world_start_io(uint32_t task, uint32_t pid, uint32_t cpu, const struct fake_io *io);
/* It goes on without I/O. */
void world_stop_io(uint32_t task);
/* To another CPU, which is told at once, and the round that follows. */
void world_move_task(uint32_t task, uint32_t cpu);
void world_end_task(uint32_t task);
void world_end_device(uint32_t device);

/* The caller's round, and all the invariants. */
void world_round(void);

/* Lets time go by. */
void world_run_until(uint64_t until_ns);

static inline const struct decision *world_last(uint32_t domain)
{
	return engine_last(world->engine, domain);
}

/* NULL when it is not followed. */
static inline const struct io_task *world_task(uint32_t task)
{
	const struct io_task *found = io_task_find(engine_tasks(world->engine),
						   world->tasks[task].pid);

	return found && !found->released ? found : NULL;
}

/* Those that are followed: not what is remembered of others. */
uint32_t world_count_tasks(void);

/* Between the parts of the world: */

/* At which the CPU accrues. */
uint32_t world_level_q(uint32_t cpu);
/* Tasks do what they do in the time since the last call. */
void world_account_io(void);
/* As engine_round() does first. */
void world_sample_due(void);

static inline bool world_is_outside(const struct world_cpu *cpu, uint64_t now_ns)
{
	uint32_t need_q = account_need_q(cpu->load.util_q, cpu->load.est_q);

	return need_q > cpu->band.high_q || need_q < cpu->band.low_q ||
	       (cpu->band.burst_ns && account_burst_ns(&cpu->load, now_ns) > cpu->band.burst_ns);
}

/* The demand as the design states it, in the plainest way; to be asked before the decision. */
uint32_t world_expected_cap(uint32_t domain);
/* Invariant: what is filed of the tasks is what a look at all of them finds. */
void world_check_due(void);
/* The invariants of one decision, with that demand. */
void world_check(const struct decision *decision, uint32_t cap);
