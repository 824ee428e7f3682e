// SPDX-License-Identifier: GPL-2.0-only
#include "core/engine_state.h"

#include <stddef.h>
#include <string.h>

#include "core/engine_private.h"
#include "core/io_model.h"

struct saving {
	const struct engine *engine;
	void (*take)(void *userdata, const struct engine_piece *piece);
	void *userdata;
};

static void save_cpus_and_domains(const struct saving *saving)
{
	const struct engine *engine = saving->engine;
	struct engine_piece piece = { .type = ENGINE_PIECE_CPU };

	for (piece.index = 0; piece.index < engine->topology->n_cpus; piece.index++) {
		piece.cpu = (struct engine_cpu){
			.util_q = engine->cpus[piece.index].util_q,
			.running = engine->cpus[piece.index].running,
			.idle_since_ns = engine->cpus[piece.index].idle_since_ns,
			.est_q = engine->cpus[piece.index].est_q,
			.burst_ns = engine->cpus[piece.index].burst_ns,
		};
		saving->take(saving->userdata, &piece);
	}
	piece.type = ENGINE_PIECE_DOMAIN;
	for (piece.index = 0; piece.index < engine->topology->n_domains; piece.index++) {
		piece.domain = engine->domains[piece.index];
		saving->take(saving->userdata, &piece);
	}
}

static void save_devices(const struct saving *saving)
{
	struct engine_piece piece = { .type = ENGINE_PIECE_DEVICE };
	struct io_device unknown;

	io_device_init(&unknown);
	for (piece.index = 0; piece.index < INPUT_DEVICES_MAX; piece.index++) {
		piece.device = saving->engine->devices[piece.index];
		/* What differs in the padding only is saved in vain. */
		/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		if (memcmp(&piece.device, &unknown, sizeof(unknown)) != 0)
			saving->take(saving->userdata, &piece);
	}
}

static void save_groups(const struct saving *saving)
{
	struct engine_piece piece = { .type = ENGINE_PIECE_GROUP };

	for (piece.index = 0; piece.index < IO_GROUPS_MAX; piece.index++) {
		piece.group = saving->engine->groups[piece.index];
		if (piece.group.used)
			saving->take(saving->userdata, &piece);
	}
}

static void save_overrides(const struct saving *saving)
{
	const struct override_table *overrides = &saving->engine->overrides;
	struct engine_piece piece = { .type = ENGINE_PIECE_OVERRIDE };

	for (piece.index = 0; piece.index < overrides->n; piece.index++) {
		piece.override = overrides->entries[piece.index];
		saving->take(saving->userdata, &piece);
	}
}

static void save_tasks(const struct saving *saving)
{
	const struct task_table *tasks = saving->engine->tasks;
	struct engine_piece piece = { .type = ENGINE_PIECE_TASK };
	const struct task *task = NULL;

	while ((task = task_table_next(tasks, task))) {
		piece.index = task_table_place(tasks, task);
		piece.task = *task;
		saving->take(saving->userdata, &piece);
	}
}

static void save_ruled_tasks(const struct saving *saving)
{
	const struct ruled_tasks *tasks = saving->engine->ruled;
	struct engine_piece piece = { .type = ENGINE_PIECE_RULED_TASK };
	const struct ruled_task *task = NULL;

	while ((task = ruled_tasks_next(tasks, task))) {
		piece.index = ruled_tasks_place(tasks, task);
		piece.ruled_task = *task;
		saving->take(saving->userdata, &piece);
	}
}

static bool has_run(const struct class_run *run)
{
	return run->ran_ns || run->long_running_ns || run->ran_pid || run->long_running_pid;
}

static void save_set_runs(const struct saving *saving, uint32_t cpu)
{
	const struct engine *engine = saving->engine;
	struct engine_piece piece = { .type = ENGINE_PIECE_CLASS_RUN, .index = cpu };

	for (uint32_t class = 0; class < engine->clamp_classes.n; class ++) {
		piece.class_run.class = class;
		piece.class_run.run = engine->cpus[cpu].runs[class];
		if (has_run(&piece.class_run.run))
			saving->take(saving->userdata, &piece);
	}
}

/* Set 0 is there always. */
static void save_classes(const struct saving *saving)
{
	const struct engine *engine = saving->engine;
	struct engine_piece piece = { .type = ENGINE_PIECE_CLAMP_CLASS };

	for (piece.index = 1; piece.index < engine->clamp_classes.n; piece.index++) {
		piece.class.matched = engine->clamp_classes.matched[piece.index];
		piece.class.own = engine->clamp_classes.own[piece.index];
		piece.class.burst_ns = engine->clamp_classes.burst_ns[piece.index];
		saving->take(saving->userdata, &piece);
	}
	for (uint32_t cpu = 0; cpu < engine->topology->n_cpus; cpu++)
		save_set_runs(saving, cpu);
}

static void save_clamped(const struct saving *saving)
{
	const struct clamped_tasks *tasks = saving->engine->clamped;
	struct engine_piece piece = { .type = ENGINE_PIECE_CLAMPED };
	const struct clamped_task *task = NULL;

	while ((task = clamped_tasks_next(tasks, task))) {
		piece.index = clamped_tasks_place(tasks, task);
		piece.clamped = *task;
		saving->take(saving->userdata, &piece);
	}
}

static void save_rest(const struct saving *saving)
{
	const struct engine *engine = saving->engine;
	const struct engine_piece piece = {
		.type = ENGINE_PIECE_REST,
		.rest = {
			.refused_tasks = task_table_refused(engine->tasks),
			.refused_ruled_tasks = ruled_tasks_refused(engine->ruled),
			.refused_clamped = clamped_tasks_refused(engine->clamped),
			.refused_classes = engine->clamp_classes.refused,
			.classes_epoch = engine->clamp_classes.epoch,
			.classes_version = engine->clamp_classes.version,
			.devices_next_ns = engine->devices_next_ns,
			.tracing = engine->tracing,
			.groups_next_ns = engine->groups_next_ns,
			.group_turn = engine->group_turn,
			.n_groups_begun = engine->n_groups_begun,
		},
	};

	saving->take(saving->userdata, &piece);
}

void engine_save(const struct engine *engine,
		 void (*take)(void *userdata, const struct engine_piece *piece), void *userdata)
{
	const struct saving saving = { engine, take, userdata };

	save_cpus_and_domains(&saving);
	save_devices(&saving);
	save_groups(&saving);
	save_overrides(&saving);
	save_tasks(&saving);
	save_ruled_tasks(&saving);
	save_classes(&saving);
	save_clamped(&saving);
	save_rest(&saving);
}

/*
 * All that an engine is. What is added here does not compile: it needs a piece, or the reason why
 * an engine that takes over can do without.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
static const struct engine all_of_engine __attribute__((unused)) = {
	NULL,
	{ .max_tasks = 0 },
	NULL,
	NULL, /* follows from the tasks */
	NULL,
	NULL,
	NULL,
	NULL, /* follows from the topology, as cpu.next does */
	{ .n = 0 },
	NULL,
	0,
	0,
	{ { .present = false } },
	0,
	{ { .used = false } },
	0,
	0,
	0,
	{ .n = 0 },
	{ .on = false },
	NULL, /* who takes over says who hears of it */
	NULL,
};
static const struct cpu all_of_cpu __attribute__((unused)) = { 0, 0, 0, 0, 0, 0, { { 0 } } };
#pragma GCC diagnostic pop
