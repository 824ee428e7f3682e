/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The policy engine: inputs in, decisions out, time as an argument. It links libc only and
 * allocates nothing after engine_new(), so that the daemon, the simulator, a replay and the tests
 * run the same objects.
 *
 * Whatever happens is an input (engine_apply()); then, or when engine_next_ns() is over:
 *
 *	engine_round()		     samples, decides, and ends what is over, by the caller's ops
 *	engine_follows_requests()    whether the next samples need more than counts
 *	engine_take_class()	     tasks that the kernel side is to know as clamped
 *	engine_take_clamp()	     what tasks are to carry, where domains are driven by clamps
 */

#include <stddef.h>

#include "core/clamp.h"
#include "core/clamp_class.h"
#include "core/decision.h"
#include "core/explanation.h"
#include "core/input.h"
#include "core/io_device.h"
#include "core/io_group.h"
#include "core/override.h"
#include "core/settings.h"
#include "core/task_table.h"
#include "core/topology.h"

struct engine;

/* topology and policy are copied. Domains start inactive. NULL without memory. */
struct engine *engine_new(const struct topology *topology, const struct policy *policy);
struct engine *engine_free(struct engine *engine);

/*
 * What decisions depend on, beside the topology and the policy, as bytes: a new engine of the same
 * topology and policy that loads them goes on as this one does, decision for decision. They begin
 * with their version, layout and size. Borrowed until the next call.
 */
size_t engine_state_size(const struct topology *topology, const struct policy *policy);
const void *engine_state(const struct engine *engine);

/*
 * Into a new engine. The bytes may say anything, and are checked. Returns 0; -EPROTONOSUPPORT for
 * those of an engine of another version or other sizes; -EBADMSG for those that no engine can have
 * had: then the engine can only be freed.
 */
int engine_load(struct engine *engine, const void *state, size_t size);

/*
 * A new policy, in force at the next decision; every domain becomes due. Sizes of tables are not
 * changed. Which rules a task matches is told anew (INPUT_TASK_RULES) where that is not the same
 * bits any more, before the next decision.
 */
void engine_set_policy(struct engine *engine, const struct policy *policy);

void engine_apply(struct engine *engine, const struct input *input);

/* What became of a decision. */
enum engine_outcome {
	ENGINE_SET, /* its domain runs at it, as far as is known; or nothing had to be written */
	ENGINE_NOT_SET, /* its target was not set: the domain is as before */
};

/*
 * The tap is called for each call that changes the engine, in their order, but for engine_load().
 * A NULL tap is none.
 */
enum engine_call_type {
	ENGINE_APPLY,
	ENGINE_ADVANCE,
	ENGINE_COMMIT,
	ENGINE_SET_POLICY,
	ENGINE_FORGET_TARGET,
	ENGINE_TAKE_ENDED,
	ENGINE_TAKE_CLASS,
	ENGINE_TAKE_CLAMP,
};

struct engine_call {
	enum engine_call_type type;
	uint64_t now_ns; /* of advance and the decision */
	union {
		const struct input *input;
		struct {
			const struct decision *decision;
			enum engine_outcome outcome;
		};
		const struct policy *policy;
		uint32_t domain;
		uint32_t handle;
		const struct task_class *class; /* NULL: those that waited are as before */
		const struct task_clamp *clamp; /* likewise */
	};
};

typedef void (*engine_tap_t)(void *userdata, const struct engine_call *call);

void engine_set_tap(struct engine *engine, engine_tap_t tap, void *userdata);

/*
 * The round, whenever something happened or engine_next_ns() is over: what is due is sampled,
 * holds end, and the domains that are due are decided for.
 */
struct engine_ops {
	/* Applies INPUT_TASK of the task, or INPUT_TASK_END, or nothing. */
	void (*sample_task)(void *userdata, const struct io_task *task, uint64_t now_ns);
	/* Applies INPUT_DEVICE, or nothing. */
	void (*sample_device)(void *userdata, uint32_t device, uint64_t now_ns);
	/* Applies INPUT_CPU of each CPU of a domain that is about to be decided for, or is NULL. */
	void (*sample_domain)(void *userdata, uint32_t domain, uint64_t now_ns);
	/* Does what was decided, tells engine_commit(), then asks engine_band() what to watch for.
	 */
	void (*take_decision)(void *userdata, const struct decision *decision);
	/* The task of that handle is no longer followed. May be NULL. */
	void (*release_task)(void *userdata, uint32_t handle);
	/* The time after a decision. NULL: no time passes in a round. */
	uint64_t (*now_ns)(void);
};

void engine_round(struct engine *engine, const struct engine_ops *ops, void *userdata,
		  uint64_t now_ns);
/* Its first part, without the decisions. */
void engine_sample(struct engine *engine, const struct engine_ops *ops, void *userdata,
		   uint64_t now_ns);

/*
 * Walks the tasks that are to be sampled (INPUT_TASK) before engine_advance(): NULL gives the
 * first, NULL is returned after the last. Each comes once, even if it could not be sampled.
 */
const struct io_task *engine_next_due(struct engine *engine, const struct io_task *after,
				      uint64_t now_ns);

/* Ends the holds that are over at now_ns; their domains become due. */
void engine_advance(struct engine *engine, uint64_t now_ns);

bool engine_is_due(const struct engine *engine, uint32_t domain, uint64_t now_ns);

/*
 * Decides for one active domain. The engine is as before, and is to be told nothing else, until
 * engine_commit(). The decision is borrowed until the next one.
 */
const struct decision *engine_decide(struct engine *engine, uint32_t domain, uint64_t now_ns);

/*
 * What became of the decision, which is the domain's last one from now on. One that was not set is
 * decided again a rate limit later.
 */
void engine_commit(struct engine *engine, uint32_t domain, enum engine_outcome outcome);

/* The last decision for a domain; target_khz is 0 before the first. */
const struct decision *engine_last(const struct engine *engine, uint32_t domain);

/* What the last decision for the domain rests on, or the one under way. Borrowed until the next. */
const struct explanation *engine_explanation(const struct engine *engine, uint32_t domain);

/* The domain's target was lost (it was offline, or written over): the next decision is a change. */
void engine_forget_target(struct engine *engine, uint32_t domain);

/* The limits that decisions for the domain keep to. */
void engine_limits(const struct engine *engine, uint32_t domain, uint32_t *ret_min_khz,
		   uint32_t *ret_max_khz);

/* The OPP that serves the caps at work in the domain, by its last decision or the one under way;
 * UINT32_MAX: none.
 */
uint32_t engine_effective_cap_khz(const struct engine *engine, uint32_t domain);

/* When to call again though nothing happens; UINT64_MAX: never, all is still. */
uint64_t engine_next_ns(const struct engine *engine);

/*
 * What would change the last decision for this CPU's domain: a need outside [low_q, high_q]
 * (account_need_q()), a burst longer than burst_ns (account_burst_ns()), its going idle, or tasks
 * that raise or lower the effective cap. The kernel side watches for all of these.
 */
struct engine_band {
	uint32_t low_q;
	uint32_t high_q;   /* UINT32_MAX: none is too high */
	uint64_t burst_ns; /* work without an idle moment for longer than this; 0: none is too long
			    */
	bool watch;	   /* false: a time is set in engine_next_ns() instead */
	bool watch_idle;
	uint64_t watch_ran;	     /* clamp classes, as bits: one of their tasks runs … */
	uint64_t watch_long_running; /* … or one of those whose bursts are long */
	uint64_t long_burst_ns;	     /* from which length on they are, at full capacity */
};

void engine_band(const struct engine *engine, uint32_t cpu, struct engine_band *ret);

/*
 * One task whose boost ended: true, and its handle, which the caller gives back; false when there
 * is none. What was found out of the task is remembered for a second.
 */
bool engine_take_ended(struct engine *engine, uint32_t *ret_handle);

/*
 * One task whose clamp class changed, for the kernel side: true; false when there is none. Set 0
 * may be that of one that exited.
 */
struct task_class {
	uint32_t pid;
	uint32_t class;
	uint32_t before;
};

bool engine_take_class(struct engine *engine, struct task_class *ret);

const struct clamp_classes *engine_clamp_classes(const struct engine *engine);
/* What a class means where domains cannot be told apart: the weakest of what it is in each. */
void engine_clamp_of_class(const struct engine *engine, uint32_t class, struct class_clamp *ret);

/*
 * One task whose clamps changed: true, and what it is to carry now; false when there is none. Where
 * no domain is driven by clamps, those that were given are taken back in this way.
 */
bool engine_take_clamp(struct engine *engine, struct task_clamp *ret);
/* What a task is to carry that is clamped, whether that is new or not. */
void engine_clamp_of_task(const struct engine *engine, const struct task *task,
			  struct task_clamp *ret);
/* Whether any domain is driven by clamps. */
bool engine_clamps_tasks(const struct engine *engine);
/* Whether any is not, so that what tasks ask for themselves must be told: INPUT_OWN_CLAMPS. */
bool engine_needs_own_clamps(const struct engine *engine);

/*
 * Whether block requests are to be followed from now on: host times, what is in flight, and devices
 * mean something only where that was so. Otherwise they are counted when they start, and no more.
 */
bool engine_follows_requests(const struct engine *engine);

/*
 * A block device that a task named, by the tracer's index. It is to be sampled (INPUT_DEVICE, then
 * engine_advance()) when its next_ns is over; one that is not present, when a task names it.
 */
const struct io_device *engine_device(const struct engine *engine, uint32_t device);

/* The group of a task, by its io_boost.group; NULL: it is in none. */
const struct io_group *engine_group(const struct engine *engine, uint32_t group);
/* Whether an experiment has the domain at present, and is to be told how fast its tasks run. */
bool engine_tries(const struct engine *engine, uint32_t domain);
/* What its experiment found so far, in that many pairs; 0 pairs: nothing. */
void engine_estimate(const struct engine *engine, const struct io_boost *boost, uint32_t *ret_pairs,
		     struct experiment_estimate *ret);

/* The overrides in force, of which the caller may want to tell. */
const struct override_table *engine_overrides(const struct engine *engine);

/*
 * For who shows what is thought of tasks: a place of engine_tasks() whose task came, went or has
 * another state since the place was last returned, or UINT32_MAX. No decision depends on it.
 */
uint32_t engine_take_changed(struct engine *engine);
/* How many tasks are followed whose boost is in that state. */
uint32_t engine_count_boosts(const struct engine *engine, enum io_boost_state state);
/* Walks the tasks that send most of their requests to the device: NULL gives the first. */
const struct io_task *engine_next_user(const struct engine *engine, uint32_t device,
				       const struct io_task *after);

/* All tasks that the engine was told of: their rules, their clamps and their I/O. */
const struct task_table *engine_tasks(const struct engine *engine);
const struct topology *engine_topology(const struct engine *engine);
const struct policy *engine_policy(const struct engine *engine);
bool engine_is_active(const struct engine *engine, uint32_t domain);
/* 0…1024: the boost of a task where it runs now; 0 when it has none. */
uint32_t engine_task_boost_cap(const struct engine *engine, const struct io_task *task);
