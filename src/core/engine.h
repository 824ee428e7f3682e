/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The policy engine: inputs in, decisions out, time as an argument. It links libc only and
 * allocates nothing after engine_new(), so that the daemon, the simulator, a replay and the tests
 * run the same objects.
 *
 * Everything that happens is an input (engine_apply()); after it, or when engine_next_ns() is over:
 *
 *	engine_round()		     samples, decides, and ends what is over, by the caller's ops
 *	engine_learns()		     whether the next samples need more than counts
 *	engine_pop_class()	     tasks that the kernel side is to know as clamped
 *	engine_pop_clamp()	     the clamps that tasks get, where domains are driven by clamps
 */

#include <stddef.h>

#include "core/clamp_class.h"
#include "core/decision.h"
#include "core/input.h"
#include "core/io_group.h"
#include "core/settings.h"
#include "core/task_table.h"
#include "core/topology.h"

struct engine;

/* topology and policy are copied. Domains start inactive. NULL without memory. */
struct engine *engine_new(const struct topology *topology, const struct policy *policy);
struct engine *engine_free(struct engine *engine);

/*
 * The state on which decisions depend beside topology and policy, as bytes: a new engine with the
 * same topology and policy that loads them makes the same decisions as this one. They begin with
 * version, layout and size. Borrowed until the next call.
 */
size_t engine_state_size(const struct topology *topology, const struct policy *policy);
const void *engine_state(const struct engine *engine);

/*
 * Loads a state into a new engine. The bytes may come from anywhere, and are checked. Returns 0;
 * -EPROTONOSUPPORT for another version or other sizes; -EBADMSG for a state that no engine can
 * have, after which the engine can only be freed.
 */
int engine_load(struct engine *engine, const void *state, size_t size);

/*
 * Sets a new policy for the next decisions; every domain becomes due. Sizes of tables do not
 * change. Boosts are measured anew where a limit of their domain has changed. Where the bits of the
 * rules that a task matches have changed, the caller reports them (INPUT_TASK_RULES) before the
 * next decision.
 */
void engine_set_policy(struct engine *engine, const struct policy *policy, uint64_t now_ns);

void engine_apply(struct engine *engine, const struct input *input);

/*
 * The CPU has changed: a decision is due for its domain, for which engine_round() samples all of
 * its CPUs. No decision depends on it, and no recording contains it.
 */
void engine_mark_due(struct engine *engine, uint32_t cpu);

/* The outcome of a decision. */
enum engine_outcome {
	ENGINE_SET,	/* the domain runs at it as far as is known, or no write was needed */
	ENGINE_NOT_SET, /* the target was not set: the domain is unchanged */
};

/*
 * The tap is called for each call that changes the engine, in order, except engine_load(). NULL
 * ends this.
 */
enum engine_call_type {
	ENGINE_APPLY,
	ENGINE_ADVANCE,
	ENGINE_COMMIT,
	ENGINE_SET_POLICY,
	ENGINE_FORGET_TARGET,
	ENGINE_POP_ENDED,
	ENGINE_POP_CLASS,
	ENGINE_POP_CLAMP,
};

struct engine_call {
	enum engine_call_type type;
	uint64_t now_ns; /* of advance, the decision and the policy */
	union {
		const struct input *input;
		struct {
			const struct decision *decision;
			enum engine_outcome outcome;
		};
		const struct policy *policy;
		uint32_t domain;
		uint32_t handle;
		const struct task_class *class; /* NULL: no waiting task has changed */
		const struct task_clamp *clamp; /* the same */
	};
};

typedef void (*engine_tap_t)(void *userdata, const struct engine_call *call);

void engine_set_tap(struct engine *engine, engine_tap_t tap, void *userdata);

/*
 * The round: samples what is due, ends holds that are over, and decides for the domains that are
 * due. Call it after inputs or when engine_next_ns() is over.
 */
struct engine_ops {
	/* Applies INPUT_TASK of the task, or INPUT_TASK_END, or nothing. */
	void (*sample_task)(void *userdata, const struct io_task *task, uint64_t now_ns);
	/* Applies INPUT_DEVICE, or nothing. */
	void (*sample_device)(void *userdata, uint32_t device, uint64_t now_ns);
	/* Applies INPUT_CPU of each CPU of a domain that is about to be decided for, or is NULL. */
	void (*sample_domain)(void *userdata, uint32_t domain, uint64_t now_ns);
	/*
	 * Carries out the decision, reports the outcome by engine_commit(), and then asks
	 * engine_band() what to watch for.
	 */
	void (*on_decision)(void *userdata, const struct decision *decision);
	/* Ends the following of the task with that handle. May be NULL. */
	void (*release_task)(void *userdata, uint32_t handle);
	/* The time after a decision. NULL: a round takes no time. */
	uint64_t (*now_ns)(void);
};

void engine_round(struct engine *engine, const struct engine_ops *ops, void *userdata,
		  uint64_t now_ns);

/*
 * Walks the tasks that must be sampled (INPUT_TASK) before engine_advance(): NULL gives the first,
 * and NULL is returned after the last. Each comes once, even if it could not be sampled.
 */
const struct io_task *engine_next_due(const struct engine *engine, const struct io_task *after,
				      uint64_t now_ns);

/* Ends the holds that are over at now_ns; their domains become due. */
void engine_advance(struct engine *engine, uint64_t now_ns);

bool engine_is_due(const struct engine *engine, uint32_t domain, uint64_t now_ns);

/*
 * Decides for one active domain, without a change of the engine. The next call must be
 * engine_commit(). The decision is borrowed until the next one.
 */
const struct decision *engine_decide(struct engine *engine, uint32_t domain, uint64_t now_ns);

/*
 * Reports the outcome of the decision, which becomes the domain's last one. A decision that was not
 * set is made again a rate limit later.
 */
void engine_commit(struct engine *engine, uint32_t domain, enum engine_outcome outcome);

/* The last decision for a domain; target_khz is 0 before the first. */
const struct decision *engine_last(const struct engine *engine, uint32_t domain);

/* The basis of the last decision for the domain, or the present one. Borrowed until the next. */
const struct explanation *engine_explanation(const struct engine *engine, uint32_t domain);

/* The domain's target was lost (it was offline, or written over): the next decision is a change. */
void engine_forget_target(struct engine *engine, uint32_t domain);

/* The limits of decisions for the domain. */
void engine_limits(const struct engine *engine, uint32_t domain, uint32_t *ret_min_khz,
		   uint32_t *ret_max_khz);

/*
 * The OPP of the effective cap of the domain, at its last decision or the one under way;
 * UINT32_MAX: no cap.
 */
uint32_t engine_effective_cap_khz(const struct engine *engine, uint32_t domain);
/*
 * The highest OPP that boosts and floors ask of the domain, at the last decision, also where
 * utilisation asks for as much; 0: none.
 */
uint32_t engine_floor_khz(const struct engine *engine, uint32_t domain);

/* When the next round is due without an event; UINT64_MAX: never. */
uint64_t engine_next_ns(const struct engine *engine);

/*
 * What would change the last decision for this CPU's domain: utilisation outside [low_q, high_q]
 * (account_need_q()), a burst longer than burst_ns (account_burst_ns()), the CPU going idle, or
 * tasks that raise or lower the effective cap. The kernel side watches for all of these.
 */
struct engine_band {
	uint32_t low_q;
	uint32_t high_q;    /* UINT32_MAX: no utilisation is too high */
	uint64_t burst_ns;  /* a longer burst changes the decision; 0: no burst does */
	uint32_t chain_q;   /* a chain with more utilisation does so; UINT32_MAX: none does */
	uint32_t waiting_q; /* the utilisation of one that is waited for; 0: it is as any other */
	bool watch;	    /* false: a time is set in engine_next_ns() instead */
	bool watch_idle;
	uint64_t watch_ran;	     /* clamp classes, as bits, of which a task runs … */
	uint64_t watch_long_running; /* … or a long-running task runs */
	uint64_t long_burst_ns;	     /* from this length at full capacity on a burst is long */
};

void engine_band(const struct engine *engine, uint32_t cpu, struct engine_band *ret);

/*
 * Whether anything depends on the domain's target. Where clamps drive it, schedutil finds the
 * frequency above the floor by itself, and only the boosts of tasks with I/O are compared with the
 * target: while there are none, a domain at work is looked at ten times a second, so that what is
 * shown and counted is of now.
 */
bool engine_uses_target(const struct engine *engine, uint32_t domain);

/*
 * Pops one task whose boost has ended: returns true and its handle, which the caller gives back,
 * or false when there is none. Results for the task are kept for a second.
 */
bool engine_pop_ended(struct engine *engine, uint32_t *ret_handle);

/*
 * Pops one task whose clamp class changed, for the kernel side: returns true, or false when there
 * is none. A task with class 0 may have exited.
 */
struct task_class {
	uint32_t pid;
	uint32_t class;
	uint32_t before;
};

bool engine_pop_class(struct engine *engine, struct task_class *ret);

const struct clamp_classes *engine_clamp_classes(const struct engine *engine);
/* The clamps of a class where domains cannot be distinguished: the weakest of all domains. */
void engine_clamp_of_class(const struct engine *engine, uint32_t class, struct class_clamp *ret);

/*
 * Pops one task whose clamps changed: returns true and its new clamps, or false when there is
 * none. When no domain is driven by clamps any more, this hands out the end of all clamps.
 */
bool engine_pop_clamp(struct engine *engine, struct task_clamp *ret);
/* The clamps of a task, changed or not. */
void engine_clamp_of_task(const struct engine *engine, const struct task *task,
			  struct task_clamp *ret);
/* Whether any domain is driven by clamps. */
bool engine_clamps_tasks(const struct engine *engine);
/* Whether any domain is not, so that own clamps of tasks must be reported: INPUT_OWN_CLAMPS. */
bool engine_needs_own_clamps(const struct engine *engine);

/*
 * Whether a learning period is under way: a task's devices and requests in flight are to be valid
 * now. Otherwise the number of its requests is enough.
 */
bool engine_learns(const struct engine *engine);

/*
 * When every domain will have had to run at its highest OPP for 100 ms, by the utilisation of its
 * CPUs alone: from then on, as long as that stays so, no task could change a decision. UINT64_MAX:
 * a domain has not; 0: none is governed.
 */
uint64_t engine_full_ns(const struct engine *engine, uint64_t now_ns);

/*
 * Whether a CPU that works for this share of the time, of 1024, at the highest OPP that the limits
 * allow is enough to keep the domain there. Of a domain that is not governed it is.
 */
bool engine_keeps_full(const struct engine *engine, uint32_t domain, uint32_t share);

/*
 * Whether a CPU that works for this share of the time, of 1024, is one to spare: a big one to which
 * the clamps of tasks may move more work, as a little one could do what it does.
 */
bool engine_is_spare(const struct engine *engine, uint32_t cpu, uint32_t share);

/* A task with I/O on a little CPU that asks for a big one, of which this one is idle; 0: none. */
uint32_t engine_find_stranded(const struct engine *engine, uint32_t *ret_cpu);

/*
 * A block device that a task uses, by the tracer's index. Sample it (INPUT_DEVICE, then
 * engine_advance()) when its next_ns is over; an absent one, when a task names it.
 */
const struct io_device *engine_device(const struct engine *engine, uint32_t device);

/* The group of a task, by io_boost.group; NULL: none. */
const struct io_group *engine_group(const struct engine *engine, uint32_t group);
/* Whether an experiment has the domain now: samples of its tasks then need a measured level. */
bool engine_tries(const struct engine *engine, uint32_t domain);
/* The result of the boost's experiment so far, and the number of its pairs; 0: none. */
void engine_estimate(const struct engine *engine, const struct io_boost *boost, uint32_t *ret_pairs,
		     struct experiment_estimate *ret);

/*
 * For display: a place of engine_tasks() whose task came, went or changed its state since the place
 * was last returned, or UINT32_MAX. *ret_before is the state of its boost then; -1: the task is
 * new. No decision depends on it.
 */
uint32_t engine_pop_changed(struct engine *engine, int *ret_before);
/* The number of followed tasks whose boost is in that state. */
uint32_t engine_count_boosts(const struct engine *engine, enum io_boost_state state);
/* Walks the tasks that send most of their requests to the device: NULL gives the first. */
const struct io_task *engine_next_user(const struct engine *engine, uint32_t device,
				       const struct io_task *after);

/* All tasks of the engine: rules, clamps and I/O. */
const struct task_table *engine_tasks(const struct engine *engine);
const struct topology *engine_topology(const struct engine *engine);
const struct policy *engine_policy(const struct engine *engine);
bool engine_is_active(const struct engine *engine, uint32_t domain);
/* The boost of a task in its present domain, 0…1024; 0: none. */
uint32_t engine_task_boost_cap(const struct engine *engine, const struct io_task *task);
/*
 * The maximum of a task whose I/O gains nothing from more, where clamps drive its domain: what the
 * domain needs without boosts, 1…1024; 0: none.
 */
uint32_t engine_task_need_cap(const struct engine *engine, const struct io_task *task);
/*
 * Whether schedutil boosts the task for its I/O now, where clamps drive its domain: neither a boost
 * of ours nor a maximum (see engine_task_need_cap()) takes the place of that.
 */
bool engine_kernel_boosts(const struct engine *engine, const struct io_task *task);
