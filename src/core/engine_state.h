/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The state of the engine. A round (round.c) applies inputs to it, decides for the domains that are
 * due (merge.c), and plans when to decide again (plan.c). What the other parts do with the state is
 * in boosts.h, and at the end.
 */

#include <stddef.h>

#include "core/domain.h"
#include "core/due.h"
#include "core/engine.h"
#include "core/io_group.h"
#include "shared/time.h"

/* The caps and floors of the tasks at work in a domain. The highest of each wins. */
struct effective_cap {
	struct clamp_at_work bound; /* the effective cap: the most that its CPUs may ask for */
	struct clamp_at_work long_running; /* the highest of long-running tasks, capped or not */
	struct clamp_at_work capped; /* the highest cap of capped tasks, long-running or not */
	struct clamp_at_work floor;
	uint32_t lowest_cap;
};

/* Whether a learning period is under way, and until when if nothing happens. */
struct tracing_duty {
	bool on;
	uint64_t since_ns; /* when it became on or off; 0: it was never on */
	uint64_t until_ns;
	uint64_t quiet_ns; /* no further period before then, except for tasks that no period has
			      seen */
};

/* No task does I/O. */
#define TRACING_DUTY_NONE ((struct tracing_duty){ .until_ns = UINT64_MAX })

/* When tasks of a clamp class last ran on a CPU. */
struct class_run {
	uint64_t ran_ns;	  /* 0: never */
	uint64_t long_running_ns; /* a long-running one */
	uint32_t ran_pid;
	uint32_t long_running_pid;
};

/* A CPU's chain asks for a big CPU, by the clamps of both tasks. */
struct chain_claim {
	uint32_t pids[2];
	uint32_t cap; /* 0: it does not */
};

struct cpu {
	uint32_t next; /* next CPU of the domain; ENGINE_NO_CPU: last */
	uint32_t util_q;
	uint64_t idle_since_ns;
	uint64_t burst_ns;
	uint32_t est_q;
	bool running;
	struct input_chain chain;
	uint32_t served_pid; /* 0: no longer than ENGINE_CHAIN_HOLD_NS ago */
	uint64_t served_ns;
	struct chain_claim claim;
	struct class_run runs[CLAMP_CLASSES_MAX];
};

/* A chain counts on a CPU for so long after it was last there; as WAKEGOV_CHAIN_HOLD_NS. */
#define ENGINE_CHAIN_HOLD_NS (50 * NS_PER_MS)

/* Until when the chain that was last on the CPU counts; 0: no longer. */
static inline uint64_t engine_chain_until_ns(const struct cpu *cpu, uint64_t now_ns)
{
	uint64_t until_ns = cpu->chain.seen_ns + ENGINE_CHAIN_HOLD_NS;

	return cpu->chain.util_q && now_ns < until_ns ? until_ns : 0;
}

#define ENGINE_NO_CPU UINT32_MAX
#define ENGINE_BLOCK  32 /* with 1,024 domains a pass over all takes three times as long */

/* Incremented when bytes of the state get another meaning but the sizes stay. */
#define ENGINE_STATE_VERSION 1

/* How the state begins: a state of another version, layout or size is refused. */
struct engine_state_header {
	uint32_t version;
	uint32_t layout; /* hash of the sizes of the parts */
	uint64_t size;
};

/*
 * One block of memory: this struct, the state's arrays, and then arrays that are not state. The
 * state, from the header to the end of the tasks, is everything that decisions depend on. It has no
 * pointers, so a copy saves it.
 */
struct engine {
	struct policy policy;
	engine_tap_t tap;
	void *tap_userdata;
	/* Pointers into the same block. */
	struct cpu *cpus;	/* topology->n_cpus */
	struct domain *domains; /* topology->n_domains */
	struct task_table *tasks;
	struct topology *topology; /* a copy of its own, as reference_khz may change */
	struct due *due;	   /* keys of the tasks */
	/*
	 * When each domain is due, and the first of each ENGINE_BLOCK of them: a round passes over
	 * the blocks, and over the domains of those in which one is due.
	 */
	uint64_t *due_ns;
	uint64_t *block_due_ns;
	struct explanation *explanations; /* for the last decisions of the domains */
	uint32_t little_capacity;	  /* of the CPUs of least capacity; 0: all are alike */
	uint32_t big_domain;		  /* the first of those of most capacity */
	uint32_t n_big_cpus;		  /* CPUs of more than the least capacity */
	/*
	 * During a decision: the domain as engine_commit() would make it, and what it rests on,
	 * from which engine_commit() plans the next decision.
	 */
	struct domain proposed;
	struct demand demand;
	struct effective_cap cap;
	bool is_deciding;

	struct engine_state_header header;
	struct clamp_classes clamp_classes;
	struct tracing_duty tracing;
	uint64_t devices_next_ns; /* earliest next_ns of the devices */
	uint64_t groups_next_ns;  /* the same of the groups */
	uint32_t group_turn;	  /* group whose turn is next */
	uint32_t n_groups_begun;
	uint32_t n_clamping; /* number of domains that are driven by clamps */
	bool needs_own;	     /* other domains exist, for which own clamps must be reported */
	struct io_device devices[INPUT_DEVICES_MAX];
	struct io_group groups[IO_GROUPS_MAX];
};

/* engine_state.c: links the CPUs of each domain, and copies its topology. */
void engine_link(struct engine *engine);
/* Applies the policy to the domain. */
void engine_merge_domain(struct engine *engine, uint32_t domain);

/*
 * Walks the CPUs of a domain in ascending order, so that a decision's cost does not depend on the
 * machine's size.
 */
#define engine_for_each_cpu(engine, cpu, domain)                                       \
	for (uint32_t cpu = (engine)->domains[domain].first_cpu; cpu != ENGINE_NO_CPU; \
	     cpu = (engine)->cpus[cpu].next)

static inline void engine_tap_call(const struct engine *engine, const struct engine_call *call)
{
	if (engine->tap)
		engine->tap(engine->tap_userdata, call);
}

/* The domain of a CPU, or NULL. */
static inline struct domain *engine_domain_of(const struct engine *engine, uint32_t cpu)
{
	uint32_t index = topology_domain_of(engine->topology, cpu);

	return index == TOPOLOGY_NO_DOMAIN ? NULL : &engine->domains[index];
}

/* Call it after each change of active, due and next_ns of the domain. */
static inline void engine_plan_domain(const struct engine *engine, uint32_t index)
{
	const struct domain *domain = &engine->domains[index];
	uint32_t block = index / ENGINE_BLOCK, from = block * ENGINE_BLOCK;
	uint64_t first_ns = UINT64_MAX;

	engine->due_ns[index] = !domain->active ? UINT64_MAX : domain->due ? 0 : domain->next_ns;
	for (uint32_t i = from; i < from + ENGINE_BLOCK && i < engine->topology->n_domains; i++)
		if (engine->due_ns[i] < first_ns)
			first_ns = engine->due_ns[i];
	engine->block_due_ns[block] = first_ns;
}

static inline uint32_t engine_count_blocks(const struct topology *topology)
{
	return (topology->n_domains + ENGINE_BLOCK - 1) / ENGINE_BLOCK;
}

/* A decision is due for the domain. */
static inline void engine_mark_domain(const struct engine *engine, uint32_t index)
{
	engine->domains[index].due = true;
	engine_plan_domain(engine, index);
}

/* Whether a clamp also chooses among CPUs of unlike capacity. */
static inline bool engine_places_by_clamps(const struct engine *engine, uint32_t domain)
{
	return engine->little_capacity && engine->domains[domain].clamps;
}

/* Walks the tasks that due_find() finds. */
#define engine_for_each_due(engine, which, value, task)                                \
	for (struct io_task *task = engine_find_due(engine, which, value, NULL); task; \
	     task = engine_find_due(engine, which, value, task))

static inline struct io_task *engine_find_due(const struct engine *engine, enum due_which which,
					      uint64_t value, const struct io_task *after)
{
	uint32_t from = after ? io_task_place(engine->tasks, after) + 1 : 0;
	uint32_t place = due_find(engine->due, which, value, from);

	return place == DUE_NONE ? NULL : io_task_at(engine->tasks, place);
}

/* The task for which kernel threads worked on the CPU when it was last sampled; NULL: none. */
static inline const struct io_task *engine_served_on(const struct engine *engine, uint32_t cpu)
{
	const struct io_task *task = io_task_find(engine->tasks, engine->cpus[cpu].served_pid);

	return task && !io_boost_is_over(&task->io_boost) ? task : NULL;
}

/* plan.c: sets when the proposed decision for a domain is to be made again, without an event. */
void engine_plan_next(const struct engine *engine, struct domain *domain,
		      const struct demand *demand, uint64_t now_ns);

/* effective_cap.c */
void effective_cap_find(const struct engine *engine, uint32_t domain, uint64_t now_ns,
			struct effective_cap *ret);
/* Stores the new effective cap, and the task that raised it if one did. */
void effective_cap_set(struct domain *domain, const struct effective_cap *cap, uint64_t now_ns);
/* For the end of a decision: sets what the kernel side watches for, and when to decide again. */
void effective_cap_watch(const struct engine *engine, struct domain *domain,
			 const struct effective_cap *cap);
void effective_cap_plan(struct domain *domain, const struct effective_cap *cap, uint64_t now_ns);

/* tracing_duty.c: begins or ends a learning period, as the last step of a round. */
void tracing_duty_update(struct engine *engine, uint64_t now_ns);
/* When it is to be checked next. */
uint64_t tracing_duty_next_ns(const struct engine *engine);

/* clamping.c: the clamp classes of tasks, and the clamps of each. */
void clamping_set_policy(struct engine *engine);
void clamping_rule_task(struct engine *engine, struct task *task);
void clamping_apply_run(struct engine *engine, const struct input_class_run *input);
void clamping_apply_bursts(struct engine *engine, const struct input_bursts *input);
void clamping_apply_own(struct engine *engine, const struct input_own_clamps *input);
void clamping_apply_co_runner(struct engine *engine, const struct input_co_runner *input);
void clamping_apply_waited(struct engine *engine, const struct input_waited *input);
/* The most that rules allow a task, or one without rules (NULL), in work that is waited for. */
uint32_t clamping_most_waiting(const struct engine *engine, const struct task *task,
			       const struct topology_domain *info);
/* Counts the domains that are driven by clamps, after a change. */
void clamping_count_domains(struct engine *engine);
/* The task's own cap in a domain, and the rule that gave it (-1), or CLAMP_CAP_NONE. */
uint32_t clamping_own_cap(const struct engine *engine, uint32_t pid, uint32_t domain,
			  int32_t *ret_rule);
/* clamping_needs.c: applies the start, the boost and the end of tasks' I/O to their clamps. */
void clamping_follow_io(struct engine *engine);
/* The chains of the domain's CPUs: those that fit no little CPU ask for a big one. */
void clamping_follow_chains(struct engine *engine, uint32_t domain, uint64_t now_ns);
void clamping_end_io(struct engine *engine, uint32_t pid);

/*
 * What the domain needs without boosts, where a maximum clamp can hold its tasks to that; 0: none
 * can.
 */
uint32_t engine_need_khz(const struct engine *engine, const struct domain *domain);
