/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What an engine knows, piece by piece. A new engine of the same topology and policy that is given
 * all the pieces of another goes on as that one would: decision for decision. This is how a
 * recording can begin in the middle of an engine's life.
 */

#include "core/clamped_tasks.h"
#include "core/domain.h"
#include "core/io_device.h"
#include "core/io_group.h"
#include "core/override.h"
#include "core/ruled_tasks.h"
#include "core/task_table.h"

struct engine;

/* When tasks of a clamp class last ran on a CPU. */
struct class_run {
	uint64_t ran_ns;	  /* 0: never */
	uint64_t long_running_ns; /* one that counts */
	uint32_t ran_pid;
	uint32_t long_running_pid;
};

/* Whether requests are followed, and until when that is so if nothing happens. */
struct tracing_duty {
	bool on;
	bool ends; /* with the next round: the devices are sampled once more */
	uint64_t began_ns;
	uint64_t until_ns;
	uint64_t quiet_ns; /* no other before then, but for tasks that none has seen */
};

enum engine_piece_type {
	ENGINE_PIECE_CPU,
	ENGINE_PIECE_DOMAIN, /* without what the topology and the policy say of it */
	ENGINE_PIECE_DEVICE,
	ENGINE_PIECE_TASK,
	ENGINE_PIECE_GROUP,
	ENGINE_PIECE_RULED_TASK,
	ENGINE_PIECE_OVERRIDE,
	ENGINE_PIECE_CLAMP_CLASS,
	ENGINE_PIECE_CLASS_RUN,
	ENGINE_PIECE_CLAMPED,
	ENGINE_PIECE_REST, /* what is of none of them */
};

struct engine_cpu {
	uint32_t util_q;
	bool running;
	uint64_t idle_since_ns;
	uint32_t est_q;
	uint64_t burst_ns;
};

struct engine_clamp_class {
	uint64_t matched; /* the rules that make it, as bits … */
	uint32_t own;	  /* … and what its tasks ask for themselves: wakegov/own.h */
	uint64_t burst_ns;
};

struct engine_class_run {
	uint32_t class;
	struct class_run run;
};

struct engine_rest {
	uint64_t refused_tasks; /* that found the table full */
	uint64_t refused_ruled_tasks;
	uint64_t refused_clamped;
	uint64_t refused_classes;
	uint32_t classes_epoch;
	uint32_t classes_version;
	uint64_t devices_next_ns;
	struct tracing_duty tracing;
	uint64_t groups_next_ns;
	uint32_t group_turn;
	uint32_t n_groups_begun;
};

struct engine_piece {
	enum engine_piece_type type;
	uint32_t index; /* of the CPU, domain, device, group, override or clamp class; the place of
			 * the task
			 */
	union {
		struct engine_cpu cpu;
		struct domain domain;
		struct io_device device;
		struct task task;
		struct io_group group;
		struct ruled_task ruled_task;
		struct input_override override;
		struct engine_clamp_class class;
		struct engine_class_run class_run;
		struct clamped_task clamped;
		struct engine_rest rest;
	};
};

/* Devices that are as in a new engine, and free places, are left out. take is called with each. */
void engine_save(const struct engine *engine,
		 void (*take)(void *userdata, const struct engine_piece *piece), void *userdata);

/*
 * False, and nothing is changed, for a piece that no engine can have had: from a file it may say
 * anything, and what follows relies on it.
 */
bool engine_load(struct engine *engine, const struct engine_piece *piece);

/* What explains the last decisions, which no decision depends on, and which is in no piece. */
void engine_copy_explanations(struct engine *engine, const struct engine *from);
