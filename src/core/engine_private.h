/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the parts of the engine share: what it knows (engine.c), whose boost is given (boosts.c,
 * boost_checks.c), what follows for a domain (merge.c).
 */

#include "core/domain.h"
#include "core/engine.h"
#include "core/io_device.h"
#include "core/ruled_tasks.h"

struct cpu {
	uint32_t util_q;
	bool running;
	uint64_t idle_since_ns;
};

struct engine {
	const struct topology *topology;
	struct policy policy;
	struct task_table *tasks;
	struct ruled_tasks *ruled;
	struct cpu *cpus;	/* topology->n_cpus */
	struct domain *domains; /* topology->n_domains */
	struct io_device devices[INPUT_DEVICES_MAX];
	uint64_t devices_next_ns; /* the earliest of theirs */
	struct override_table overrides;
};

/* The domain of a CPU, or NULL when it has none. */
struct domain *engine_domain_of(const struct engine *engine, uint32_t cpu);

void engine_mark_due(const struct engine *engine, uint32_t cpu);

/* boosts.c: a task was sampled; after boosts_move_task() if it is in another domain than before. */
void boosts_sample_task(struct engine *engine, struct task *task, uint64_t now_ns);
void boosts_move_task(struct engine *engine, struct task *task, uint32_t from_cpu, uint64_t now_ns);
/* Settles the state of boosts after a result or a change of the ground. */
void boosts_settle_task(struct engine *engine, struct task *task, uint64_t now_ns);
void boosts_settle_tasks_of(struct engine *engine, uint32_t device, uint64_t now_ns);
/* Makes room for another task: the entry of one that is over goes, if there is any. */
void boosts_forget_one(struct engine *engine);
/* Limits or CPUs changed: what is measured now says nothing about boosts. */
void boosts_disturb(struct engine *engine, uint64_t now_ns);
/* The device is gone. */
void boosts_end_device(struct engine *engine, uint32_t device);
/* Leases and checks whose time it is, and when that is next. */
void boosts_advance(struct engine *engine, uint64_t now_ns);
uint64_t boosts_next_ns(const struct engine *engine);

/* The level that the domain was last told to run at (core/io_model.h). */
uint32_t boosts_level(const struct domain *domain);
/* The OPP that a boost of this ρ is in the domain; 0: none, the lowest does. */
uint32_t boosts_choose_khz(const struct engine *engine, const struct domain *domain,
			   uint32_t ratio);

/* boost_checks.c: the device, which is looked at from now on. */
struct io_device *boosts_attend_device(struct engine *engine, uint32_t device, uint64_t now_ns);
void boosts_check_devices(struct engine *engine, uint64_t now_ns);
void boosts_forget_device(struct engine *engine, uint32_t device);
