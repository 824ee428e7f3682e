/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the parts of the engine share: what it knows (engine.c), whose boost is given (boosts.c,
 * boost_groups.c), when requests are followed (tracing_duty.c), what follows for a domain
 * (merge.c).
 */

#include <stddef.h>

#include "core/domain.h"
#include "core/due.h"
#include "core/engine.h"
#include "core/io_device.h"
#include "core/io_group.h"

/* When tasks of a clamp class last ran on a CPU. */
struct class_run {
	uint64_t ran_ns;	  /* 0: never */
	uint64_t long_running_ns; /* one that counts */
	uint32_t ran_pid;
	uint32_t long_running_pid;
};

struct cpu {
	uint32_t next; /* of its domain; ENGINE_NO_CPU ends */
	uint32_t util_q;
	uint64_t idle_since_ns;
	uint64_t burst_ns;
	uint32_t est_q;
	bool running;
	struct class_run runs[CLAMP_CLASSES_MAX];
};

#define ENGINE_NO_CPU UINT32_MAX

/* Whether requests are followed, and until when that is so if nothing happens. */
struct tracing_duty {
	bool on;
	bool ends; /* with the next round: the devices are sampled once more */
	uint64_t began_ns;
	uint64_t until_ns;
	uint64_t quiet_ns; /* no other before then, but for tasks that none has seen */
};

/* Nobody does I/O. */
#define TRACING_DUTY_NONE ((struct tracing_duty){ .until_ns = UINT64_MAX })

/* Up when bytes of the state get another meaning without another size. */
#define ENGINE_STATE_VERSION 1

/* How the state begins: a state of another version, layout or size is refused. */
struct engine_state_header {
	uint32_t version;
	uint32_t layout; /* made of the sizes of what follows */
	uint64_t size;
};

/*
 * One block of memory: this, the state's arrays, and then what a state does without. The state is
 * what decisions depend on, from the header to the end of the tasks. It holds no pointers, so to
 * save it is to copy it.
 */
struct engine {
	struct policy policy;
	engine_tap_t tap;
	void *tap_userdata;
	/* Into the same block. */
	struct cpu *cpus;	/* topology->n_cpus */
	struct domain *domains; /* topology->n_domains */
	struct task_table *tasks;
	struct topology *topology;	  /* its own: references may change */
	struct due *due;		  /* of the tasks */
	struct explanation *explanations; /* of the domains' last decisions */
	/* The domain as engine_commit() makes it, while one is decided for. */
	struct domain proposed;
	bool is_deciding;

	struct engine_state_header header;
	struct clamp_classes clamp_classes;
	struct override_table overrides;
	struct tracing_duty tracing;
	uint64_t devices_next_ns; /* the earliest of theirs */
	uint64_t groups_next_ns;  /* likewise */
	uint32_t group_turn;	  /* whose turn is next */
	uint32_t n_groups_begun;
	uint32_t n_clamping; /* domains that are driven by clamps */
	bool needs_own;	     /* there are others */
	struct io_device devices[INPUT_DEVICES_MAX];
	struct io_group groups[IO_GROUPS_MAX];
};

/* engine_state.c: links the CPUs of each domain, and copies what the topology says of it. */
void engine_link(struct engine *engine);
/* What the policy and the overrides say of the domain. */
void engine_merge_domain(struct engine *engine, uint32_t domain);

/* In ascending order: a decision costs what its domain has, not what the machine has. */
#define engine_for_each_cpu(engine, cpu, domain)                                       \
	for (uint32_t cpu = (engine)->domains[domain].first_cpu; cpu != ENGINE_NO_CPU; \
	     cpu = (engine)->cpus[cpu].next)

static inline void engine_tell(const struct engine *engine, const struct engine_call *call)
{
	if (engine->tap)
		engine->tap(engine->tap_userdata, call);
}

/* The domain of a CPU, or NULL when it has none. */
static inline struct domain *engine_domain_of(const struct engine *engine, uint32_t cpu)
{
	uint32_t index = topology_domain_of(engine->topology, cpu);

	return index == TOPOLOGY_NO_DOMAIN ? NULL : &engine->domains[index];
}

static inline void engine_mark_due(const struct engine *engine, uint32_t cpu)
{
	struct domain *domain = engine_domain_of(engine, cpu);

	if (domain)
		domain->due = true;
}

/* An experiment has the domain, and runs it without boosts at present. */
static inline bool engine_leaves_alone(const struct engine *engine, const struct domain *domain)
{
	return domain->trial && !engine->groups[domain->trial - 1].experiment.arm;
}

/* Goes through the tasks that core/due.h finds. */
#define engine_for_each_due(engine, which, value, task)                                \
	for (struct io_task *task = engine_find_due(engine, which, value, NULL); task; \
	     task = engine_find_due(engine, which, value, task))

static inline struct io_task *engine_find_due(const struct engine *engine, enum due_which which,
					      uint32_t value, const struct io_task *after)
{
	uint32_t from = after ? io_task_place(engine->tasks, after) + 1 : 0;
	uint32_t place = due_find(engine->due, which, value, from);

	return place == DUE_NONE ? NULL : io_task_at(engine->tasks, place);
}

/* boosts.c: the reasons of this task to follow requests, as bits (core/due.h). */
uint32_t boosts_traits(const struct io_boost *boost);
/* Sets its key, after each change of the task. */
void boosts_set_due(struct engine *engine, const struct io_task *task);

/* A task was sampled; after boosts_move_task() if it is in another domain than before. */
void boosts_sample_task(struct engine *engine, struct io_task *task, const struct io_boost *before,
			uint64_t now_ns);
void boosts_move_task(struct engine *engine, struct io_task *task, uint32_t from_cpu,
		      uint64_t now_ns);
/* Settles the state of boosts after a result or a change of the ground. */
void boosts_settle_task(struct engine *engine, struct io_task *task, uint64_t now_ns);
/* The task is over, and so is what it asked for. */
void boosts_forget_task(struct engine *engine, struct io_task *task);
/* Makes room for another task: the entry of one that is over goes, if there is any. */
void boosts_forget_one(struct engine *engine);
/* The domain's limits, or what it is driven by, changed: what they bound is measured anew. */
void boosts_disturb(struct engine *engine, uint32_t domain, uint64_t now_ns);
/* The device is gone. */
void boosts_end_device(struct engine *engine, uint32_t device);
/* Holds and experiments whose time it is. */
void boosts_advance(struct engine *engine, uint64_t now_ns);

/* The OPP that a boost of this ρ is in the domain; 0: none, the lowest does. */
uint32_t boosts_choose_khz(const struct engine *engine, const struct domain *domain,
			   uint32_t ratio);

/* boost_groups.c: the task's group, where it belongs now; NULL: there are as many as can be. */
struct io_group *boosts_join_group(struct engine *engine, struct io_task *task, uint64_t now_ns);
void boosts_leave_group(struct engine *engine, struct io_task *task);
/* One of its tasks ended. After the last one the experiment asks for no more wake-ups. */
void boosts_rest_group(struct engine *engine, uint32_t index);
void boosts_forget_group(struct engine *engine, uint32_t index);
/* The number of its device's tasks was taken anew. */
void boosts_see_users(struct engine *engine, uint32_t device, uint64_t now_ns);
/* Goes on with the experiments whose time it is. */
void boosts_try(struct engine *engine, uint64_t now_ns);

/* boost_devices.c: the device, which is looked at from now on. */
void boosts_attend_device(struct engine *engine, uint32_t device, uint64_t now_ns);
void boosts_look_at_devices(struct engine *engine, uint64_t now_ns);
void boosts_forget_device(struct engine *engine, uint32_t device);

/* tracing_duty.c: starts or stops following requests, last of a round; and when to check again. */
void tracing_duty_update(struct engine *engine, uint64_t now_ns);
uint64_t tracing_duty_next_ns(const struct engine *engine);

/* effective_cap.c: the caps and floors of the tasks at work in a domain. The highest of each wins.
 */
struct effective_cap {
	struct clamp_at_work bound; /* the effective cap: the most that its CPUs may ask for */
	struct clamp_at_work long_running; /* the highest of long-running tasks, capped or not */
	struct clamp_at_work capped;	   /* the highest of capped tasks, long-running or not */
	struct clamp_at_work floor;
	uint32_t lowest_cap;
};

void effective_cap_find(const struct engine *engine, uint32_t domain, uint64_t now_ns,
			struct effective_cap *ret);
/* The OPP of the effective cap at the last decision; UINT32_MAX: there was no cap. */
uint32_t effective_cap_khz(const struct domain *domain);
/* Stores the new effective cap, and which task raised it, if one did. */
void effective_cap_take(struct domain *domain, const struct effective_cap *cap, uint64_t now_ns);
/* After the decision: what the kernel side watches for, and when to decide again. */
void effective_cap_watch(const struct engine *engine, struct domain *domain,
			 const struct effective_cap *cap);
void effective_cap_plan(struct domain *domain, const struct effective_cap *cap, uint64_t now_ns);
/* For how long a task is at work after it last ran. */
uint64_t effective_cap_hold_ns(const struct engine *engine, uint32_t domain);

/* clamping.c: the clamp classes of tasks, and what each is to carry. */
void clamping_set_policy(struct engine *engine);
void clamping_rule_task(struct engine *engine, struct task *task);
void clamping_apply_run(struct engine *engine, const struct input_class_run *input);
void clamping_apply_bursts(struct engine *engine, const struct input_bursts *input);
void clamping_apply_own(struct engine *engine, const struct input_own_clamps *input);
void clamping_apply_co_runner(struct engine *engine, const struct input_co_runner *input);
/* A domain came to be driven by clamps, or is so no longer. */
void clamping_count_domains(struct engine *engine);
/* What the I/O of tasks means for their clamps; its end does so at once. */
void clamping_follow_io(struct engine *engine);
void clamping_end_io(struct engine *engine, uint32_t pid);
/* The task's own cap in a domain, and the rule that gave it (-1), or CLAMP_CAP_NONE. */
uint32_t clamping_own_cap(const struct engine *engine, uint32_t pid, uint32_t domain,
			  int32_t *ret_rule);
