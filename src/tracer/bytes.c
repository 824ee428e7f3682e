// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes the number of block requests from bytes, since a program at each start of a request
 * costs more than the number is worth. In a learning period that program is attached, and this file
 * learns the bytes per request of each task. Afterwards it divides the bytes that the kernel
 * accounts to the task. The program stays attached while there are tasks with requests of different
 * sizes, or with requests that others send for them.
 *
 * Bytes also reveal tasks without a slot that never wait. The kernel side reports a suspicion, and
 * the program is attached for a short time: the look.
 */
#include <bpf/bpf.h>

#include "shared/time.h"
#include "tracer/tracer_private.h"

#define INTERVAL_STARTS 64	    /* least requests for a mean */
#define APART		8	    /* means of one task may differ by an eighth of the smallest */
#define LEAST_BYTES	512	    /* least bytes of a request */
#define BYTES_Q8	(4096 << 8) /* bytes of a request of a task that is not learnt yet */
/*
 * Least time between two looks, doubled after each look that finds no task. A look lasts 250 ms
 * while there are requests. Twice the time: after looks in vain a task is found that much later.
 */
#define LOOK_GAP_NS	(100 * NS_PER_MS)
#define LOOK_GAP_MAX_NS NS_PER_S

static volatile struct wakegov_settings *settings_of(struct tracer *tracer)
{
	return &tracer->programs.bss->settings;
}

static bool is_live(const struct wakegov_slot *slot)
{
	return slot->pid && slot->live;
}

/* Reads the task's bytes, and its times, into the slot. */
static uint64_t read_bytes(struct tracer *tracer, uint32_t index)
{
	struct wakegov_watch watch = { .slot = index };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &watch, .ctx_size_in = sizeof(watch));

	bpf_prog_test_run_opts(tracer->programs.read_task, &opts);
	return ((volatile struct wakegov_slot *)&tracer->slots[index])->bytes;
}

/* The record of the slot's task. A new task starts with its bytes when it got the slot. */
static struct by_bytes *find_by_bytes(struct tracer *tracer, uint32_t index)
{
	const struct wakegov_slot *slot = &tracer->slots[index];
	struct by_bytes *task = &tracer->by_bytes[index];

	if (task->id != slot->id)
		*task = (struct by_bytes){
			.id = slot->id,
			.explained = true, /* the next learning period decides */
			.starts = slot->io_starts,
			.bytes = settings_of(tracer)->by_bytes ? slot->bytes
							       : read_bytes(tracer, index),
		};
	return task;
}

static void learn_interval(struct by_bytes *task, uint64_t starts, uint64_t bytes)
{
	uint64_t mean_q8;

	if (starts - task->starts < INTERVAL_STARTS)
		return;
	mean_q8 = ((bytes - task->bytes) << 8) / (starts - task->starts);
	if (!task->most_q8 || mean_q8 < task->least_q8)
		task->least_q8 = mean_q8;
	if (mean_q8 > task->most_q8)
		task->most_q8 = mean_q8;
	task->starts = starts;
	task->bytes = bytes;
}

uint64_t tracer_read_starts(struct tracer *tracer, uint32_t index)
{
	const volatile struct wakegov_slot *slot = &tracer->slots[index];
	struct by_bytes *task = find_by_bytes(tracer, index);
	uint64_t per_start_q8 = task->mean_q8 ? task->mean_q8 : BYTES_Q8;
	uint64_t bytes = read_bytes(tracer, index);

	if (settings_of(tracer)->by_bytes)
		return task->starts + ((bytes - task->bytes) << 8) / per_start_q8;
	if (tracer->learns)
		learn_interval(task, slot->io_starts + task->offset, bytes);
	return slot->io_starts + task->offset;
}

static void begin_learning(struct tracer *tracer)
{
	/* A pending or present look becomes part of this period, and must not delay the next. */
	settings_of(tracer)->look_next_ns = 0;
	settings_of(tracer)->look_end_ns = 0;
	tracer->looks = false;
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++) {
		struct by_bytes *task;

		if (!is_live(&tracer->slots[i]))
			continue;
		task = find_by_bytes(tracer, i);
		task->starts = tracer->slots[i].io_starts + task->offset;
		task->bytes = read_bytes(tracer, i);
		task->least_q8 = task->mean_q8;
		task->most_q8 = task->mean_q8;
	}
}

/*
 * Decides whether the task's number of requests follows from its bytes. It does for a task with
 * neither, as on a network file system: its waits are counted.
 */
static void explain(struct by_bytes *task, uint64_t starts, uint64_t bytes)
{
	if (!task->most_q8)
		task->explained = starts == task->starts && bytes == task->bytes;
	else
		task->explained = task->least_q8 >= LEAST_BYTES << 8 &&
				  task->most_q8 - task->least_q8 <= task->least_q8 / APART;
	task->mean_q8 = task->explained ? (task->least_q8 + task->most_q8) / 2 : 0;
}

static void end_learning(struct tracer *tracer)
{
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++) {
		uint64_t starts;

		if (!is_live(&tracer->slots[i]))
			continue;
		starts = tracer_read_starts(tracer, i);
		explain(find_by_bytes(tracer, i), starts, tracer->slots[i].bytes);
	}
}

static bool needs_starts(const struct tracer *tracer)
{
	if (tracer->learns || tracer->looks || !tracer->programs.accounts_bytes)
		return true;
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		if (is_live(&tracer->slots[i]) && tracer->by_bytes[i].id == tracer->slots[i].id &&
		    !tracer->by_bytes[i].explained)
			return true;
	return false;
}

/*
 * Switches between counting and bytes. The reported number of starts continues from its present
 * value.
 */
static void set_by_bytes(struct tracer *tracer, bool by_bytes)
{
	volatile struct wakegov_settings *settings = settings_of(tracer);

	if (settings->by_bytes == by_bytes)
		return;
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++) {
		const volatile struct wakegov_slot *slot = &tracer->slots[i];
		struct by_bytes *task;

		if (!is_live(&tracer->slots[i]))
			continue;
		task = find_by_bytes(tracer, i);
		if (by_bytes) {
			task->starts = slot->io_starts + task->offset;
			task->bytes = read_bytes(tracer, i);
		} else {
			task->offset = tracer_read_starts(tracer, i) - slot->io_starts;
		}
	}
	settings->by_bytes = by_bytes;
}

void tracer_attach_starts(struct tracer *tracer)
{
	bool starts = needs_starts(tracer);
	bool paused = tracer->programs.wanted == PROGRAMS_NONE;

	if (!starts && !paused)
		set_by_bytes(tracer, true);
	programs_need(&tracer->programs, WAKEGOV_BLOCK_START, starts);
	programs_need(&tracer->programs, WAKEGOV_BLOCK_ISSUE, starts);
	if (starts || paused)
		set_by_bytes(tracer, false);
}

void tracer_set_look(struct tracer *tracer, bool begins)
{
	volatile struct wakegov_settings *settings = settings_of(tracer);
	uint64_t now_ns = time_now_ns();

	if (begins != settings->by_bytes || begins == tracer->looks)
		return;
	tracer->looks = begins;
	if (begins) {
		settings->look_seen_ns = 0;
		settings->look_end_ns = now_ns + WAKEGOV_LOOK_WINDOWS * settings->window_ns;
	} else {
		settings->look_next_ns = now_ns + tracer->look_gap_ns;
		tracer->look_gap_ns *= 2;
		if (tracer->look_gap_ns > LOOK_GAP_MAX_NS)
			tracer->look_gap_ns = LOOK_GAP_MAX_NS;
	}
	tracer_attach_starts(tracer);
}

void tracer_learn(struct tracer *tracer, bool learn)
{
	if (learn == tracer->learns)
		return;
	if (!learn)
		end_learning(tracer);
	tracer->learns = learn;
	settings_of(tracer)->learns = learn;
	tracer_attach_needed(tracer);
	tracer_attach_starts(tracer);
	if (!learn)
		return;
	devices_begin_period(tracer);
	begin_learning(tracer);
}

void tracer_look_found(struct tracer *tracer)
{
	tracer->look_gap_ns = LOOK_GAP_NS;
}
