/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * I/O boosts: the grant to a task (boosts.c), by groups of tasks, also those that take from each
 * other (io_groups.c), and whether it pays for them (boost_trials.c).
 */

#include "core/engine_state.h"

/* boosts.c: the reasons of this task to follow requests, as bits (core/due.h). */
uint32_t boosts_traits(const struct io_boost *boost);
/* Sets the task's key; call it after each change of the task. */
void boosts_set_due(struct engine *engine, const struct io_task *task);

/* Takes a sample of a task; call boosts_move_task() first if its domain changed. */
void boosts_sample_task(struct engine *engine, struct io_task *task, const struct io_boost *before,
			uint64_t now_ns);
void boosts_move_task(struct engine *engine, struct io_task *task, uint32_t from_cpu,
		      uint64_t now_ns);
/* Settles a task's boost after a result of an experiment or a change of its conditions. */
void boosts_settle_task(struct engine *engine, struct io_task *task, uint64_t now_ns);
/*
 * The level on which the task's I/O depends: of its CPU, or of the slowest one on which a kernel
 * thread works for it, as far as is known.
 */
uint32_t boosts_level(const struct engine *engine, const struct io_task *task);
/* Ends a task and its boost. */
void boosts_forget_task(struct engine *engine, struct io_task *task);
/* A decision is due where the task is, and where it holds a boost since it moved. */
void boosts_mark_due(struct engine *engine, const struct io_task *task);
/* Makes room for another task: drops the entry of one whose boost is over, if there is any. */
void boosts_forget_one(struct engine *engine);
/* The domain's limits or its backend changed: experiments that they affect start again. */
void boosts_disturb(struct engine *engine, uint32_t domain, uint64_t now_ns);
/* Drops the device: another one has its number now. */
void boosts_forget_device(struct engine *engine, uint32_t device);
/* The same, and ends the boosts of its tasks: the device is gone. */
void boosts_end_device(struct engine *engine, uint32_t device);
/* Ends holds that are due. */
void boosts_advance(struct engine *engine, uint64_t now_ns);

/* io_groups.c: moves the task to its group. NULL: the table of groups is full. */
struct io_group *io_groups_join(struct engine *engine, struct io_task *task, uint64_t now_ns);
void io_groups_leave(struct engine *engine, struct io_task *task);
/* The experiments of the group cause no wake-ups until one of its tasks is sampled … */
void io_groups_rest(struct engine *engine, uint32_t index);
/* … if the boosts of all its tasks are over. A pair under way ends with its window. */
void io_groups_see_end(struct engine *engine, uint32_t index);
void io_groups_forget(struct engine *engine, uint32_t index);
/* The number of the device's tasks was counted again. */
void io_groups_see_users(struct engine *engine, uint32_t device, uint64_t now_ns);
/* The domains of the group's tasks, and of who ends their waits, belong to its experiment … */
void io_groups_begin_trial(struct engine *engine, uint32_t index);
/* … or no longer do. */
void io_groups_end_trial(struct engine *engine, uint32_t index);
/* Computes when the first experiment of all groups is due. */
void io_groups_plan(struct engine *engine);

/*
 * Whether an experiment runs the domain without the task's boost at present. While its question is
 * open, which can take seconds, boosts of others that have an answer stay: their tasks would lose
 * meanwhile. A refresh pair drops all boosts in the domain: two groups could otherwise hide each
 * other's effect. For the same reason it always drops boosts of tasks that belong to domains of
 * another kind and are here for a moment: with twelve readers that moved to and fro, such a
 * question never got an answer.
 */
bool io_groups_leave_out(const struct engine *engine, const struct domain *domain,
			 const struct io_task *task);

/* boost_trials.c: advances the experiments that are due, after boosts_advance(). */
void boost_trials_advance(struct engine *engine, uint64_t now_ns);

/* Groups that take from each other. */

/* After a pair: whether the group and others are to be asked together from now on. */
void io_rivals_ask(struct engine *engine, uint32_t index, uint64_t now_ns);
/* Whether the group's tasks are to have their boost now, and when no pair is under way. */
bool io_rivals_arm(const struct engine *engine, const struct io_group *group);
bool io_rivals_rest(const struct engine *engine, const struct io_group *group);
/* Whether another group that is asked together with it has a pair under way. */
bool io_rivals_are_tried(const struct engine *engine, uint32_t index);
