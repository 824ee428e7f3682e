// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block requests by bytes. A program at each start of a request costs more than what it counts is
 * worth. While requests are followed, this learns how many bytes a request of each task has; after
 * that the kernel's own account of the task's bytes says how many it started. The program stays
 * attached for tasks whose requests are of different sizes, or are sent by others in their name.
 *
 * Tasks without a slot that never wait are found by their bytes as well: the kernel side says that
 * there may be one, and for a short time, the look, the program counts again.
 */
#include <bpf/bpf.h>

#include "shared/time.h"
#include "tracer/tracer_private.h"

#define INTERVAL_STARTS 64	    /* a mean of fewer requests says little */
#define APART		8	    /* means of one task may differ by so much of the smaller one */
#define LEAST_BYTES	512	    /* of a request */
#define BYTES_Q8	(4096 << 8) /* of a task whose requests were never seen */
#define LOOK_WINDOWS	5
#define LOOK_GAP_NS	NS_PER_S /* between two looks, twice as long after each that found nothing */
#define LOOK_GAP_MAX_NS (16 * NS_PER_S)

static volatile struct wakegov_settings *settings_of(struct tracer *tracer)
{
	return &tracer->programs.skel->bss->settings;
}

static bool is_live(const struct wakegov_slot *slot)
{
	return slot->pid && !slot->exited;
}

static uint64_t read_bytes(struct tracer *tracer, uint32_t index)
{
	struct wakegov_watch watch = { .slot = index };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &watch, .ctx_size_in = sizeof(watch));

	bpf_prog_test_run_opts(bpf_program__fd(tracer->programs.skel->progs.read_bytes), &opts);
	return ((volatile struct wakegov_slot *)&tracer->slots[index])->bytes;
}

/* What is known of the slot's task. At first sight its bytes are those of when it got the slot. */
static struct by_bytes *find_by_bytes(struct tracer *tracer, uint32_t index)
{
	const struct wakegov_slot *slot = &tracer->slots[index];
	struct by_bytes *task = &tracer->by_bytes[index];

	if (task->id != slot->id)
		*task = (struct by_bytes){
			.id = slot->id,
			.explained = true, /* it is followed soon */
			.starts = slot->io_starts,
			.bytes = settings_of(tracer)->by_bytes ? slot->bytes
							       : read_bytes(tracer, index),
		};
	return task;
}

static void take_interval(struct by_bytes *task, uint64_t starts, uint64_t bytes)
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

	if (settings_of(tracer)->by_bytes)
		return task->starts +
		       ((read_bytes(tracer, index) - task->bytes) << 8) / per_start_q8;
	if (!tracer_counts_only(tracer))
		take_interval(task, slot->io_starts + task->offset, read_bytes(tracer, index));
	return slot->io_starts + task->offset;
}

void tracer_begin_learning(struct tracer *tracer)
{
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

/* A task without requests and bytes, as on a network's file system, is one that its waits show. */
static void explain(struct by_bytes *task, uint64_t starts, uint64_t bytes)
{
	if (!task->most_q8)
		task->explained = starts == task->starts && bytes == task->bytes;
	else
		task->explained = task->least_q8 >= LEAST_BYTES << 8 &&
				  task->most_q8 - task->least_q8 <= task->least_q8 / APART;
	task->mean_q8 = task->explained ? (task->least_q8 + task->most_q8) / 2 : 0;
}

void tracer_end_learning(struct tracer *tracer)
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
	if (tracer->looks || !tracer->programs.accounts_bytes)
		return true;
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		if (is_live(&tracer->slots[i]) && tracer->by_bytes[i].id == tracer->slots[i].id &&
		    !tracer->by_bytes[i].explained)
			return true;
	return false;
}

/* What was told of starts goes on from where it is. */
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

void tracer_attach_starts(struct tracer *tracer, bool follow)
{
	bool starts = follow || needs_starts(tracer);

	if (!starts && !tracer->programs.paused)
		set_by_bytes(tracer, true);
	programs_need(&tracer->programs, WAKEGOV_BLOCK_START, starts);
	programs_need(&tracer->programs, WAKEGOV_BLOCK_ISSUE, starts);
	if (starts || tracer->programs.paused)
		set_by_bytes(tracer, false);
}

void tracer_look(struct tracer *tracer, bool begins)
{
	volatile struct wakegov_settings *settings = settings_of(tracer);
	uint64_t now_ns = time_now_ns();

	if (begins != settings->by_bytes || begins == tracer->looks)
		return;
	tracer->looks = begins;
	if (begins) {
		settings->look_end_ns = now_ns + LOOK_WINDOWS * settings->window_ns;
	} else {
		settings->look_next_ns = now_ns + tracer->look_gap_ns;
		tracer->look_gap_ns *= 2;
		if (tracer->look_gap_ns > LOOK_GAP_MAX_NS)
			tracer->look_gap_ns = LOOK_GAP_MAX_NS;
	}
	tracer_attach_starts(tracer, false);
}

void tracer_look_found(struct tracer *tracer)
{
	tracer->look_gap_ns = LOOK_GAP_NS;
}
