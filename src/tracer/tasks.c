// SPDX-License-Identifier: GPL-2.0-only
/* The tasks that do I/O: their totals, and the release of their slots. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "tracer/tracer_private.h"

_Static_assert((int)TASK_IOS_MAX == WAKEGOV_SLOT_IOS, "a task's devices");

static void read_ios(struct tracer *tracer, const volatile struct wakegov_slot *slot,
		     struct input_task *task)
{
	for (uint32_t i = 0; i < WAKEGOV_SLOT_IOS; i++) {
		const volatile struct wakegov_slot_io *io = &slot->ios[i];
		uint32_t device = io->device;

		if (!device_is_followed(tracer, device))
			continue;
		task->ios[task->n_ios++] = (struct input_task_io){
			.device = device,
			.ios = io->ios,
			.host_ns = io->host_ns,
			.host_cpu_ns = io->host_cpu_ns,
		};
		tracer->known_devices |= 1ULL << device;
	}
}

/* A start that is only counted is dated by the tick, so its time is up to a tick too early. */
static uint64_t late_ns(const struct tracer *tracer)
{
	return tracer_counts_only(tracer) ? tracer->tick_ns : 0;
}

/* Rounds up: a hold time should end late rather than early. */
static uint64_t last_io_ns(const struct tracer *tracer, const struct wakegov_slot *slot,
			   uint64_t now_ns)
{
	uint64_t last_ns = wakegov_slot_last_ns(slot) + late_ns(tracer);

	return last_ns < now_ns ? last_ns : now_ns;
}

struct in_flight {
	uint32_t depth;
	uint32_t max_depth; /* since the last read */
	uint64_t sums_ns;   /* Σ (end − start); requests in flight end now */
};

/*
 * The kernel side writes a count and its sum one after the other: reads again when one changed
 * meanwhile.
 */
static void read_in_flight(struct wakegov_slot *slot, uint64_t now_ns, struct in_flight *ret)
{
	const volatile struct wakegov_slot *s = slot;
	uint32_t started, completed, tries = 0;

	do {
		started = s->started;
		completed = s->completed;
		ret->depth = started - completed;
		ret->sums_ns = s->completions_ns - s->starts_ns + ret->depth * now_ns;
	} while ((started != s->started || completed != s->completed) && ++tries < 16);
	/* The kernel side starts a new maximum from 0. */
	ret->max_depth = __atomic_exchange_n(&slot->max_depth, 0, __ATOMIC_RELAXED);
	if (ret->max_depth < ret->depth)
		ret->max_depth = ret->depth;
}

/*
 * A read between the writes of a count and its sum is off by a whole timestamp. A step that exceeds
 * what can have been in flight since the last read reveals this; then the present requests count as
 * in flight since that read.
 */
static uint64_t add_in_flight(struct seen_slot *seen, const struct in_flight *now, uint32_t id,
			      uint64_t now_ns)
{
	uint32_t most = now->max_depth > seen->depth ? now->max_depth : seen->depth;
	uint64_t passed_ns = now_ns - seen->seen_ns;
	uint64_t grown_ns = now->sums_ns - seen->sums_ns;

	if (seen->id != id)
		*seen = (struct seen_slot){ .id = id };
	else if (grown_ns <= (most + 1) * passed_ns)
		seen->in_flight_ns += grown_ns;
	else
		seen->in_flight_ns += now->depth * passed_ns;
	seen->depth = now->depth;
	seen->seen_ns = now_ns;
	seen->sums_ns = now->sums_ns;
	return seen->in_flight_ns;
}

/* While requests are only counted, the number in flight is unknown and counts as 0. */
static void read_depth(struct tracer *tracer, uint32_t handle, uint64_t now_ns,
		       struct input_task *task)
{
	struct wakegov_slot *slot = &tracer->slots[handle % WAKEGOV_SLOTS];
	struct seen_slot *seen = &tracer->seen[handle % WAKEGOV_SLOTS];
	struct in_flight in_flight;

	if (tracer_counts_only(tracer)) {
		task->in_flight_ns = seen->id == slot->id ? seen->in_flight_ns : 0;
		return;
	}
	read_in_flight(slot, now_ns, &in_flight);
	task->depth = in_flight.depth;
	task->max_depth = in_flight.max_depth;
	task->in_flight_ns = add_in_flight(seen, &in_flight, slot->id, now_ns);
}

/* The busy share of the CPU over the time that the accounting remembers, with its weights. */
static uint32_t busy_ppm(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns)
{
	struct account_cpu load = *(volatile struct account_cpu *)&tracer->cpus[cpu].load;

	account_cpu(&load, now_ns);
	return account_busy_ppm(&load);
}

int tracer_read_task(struct tracer *tracer, uint32_t handle, uint64_t now_ns, struct input *ret)
{
	struct wakegov_slot *slot = &tracer->slots[handle % WAKEGOV_SLOTS];
	uint32_t cpu = slot->cpu;
	bool is_traced = cpu < tracer->topology->n_cpus; /* of more than there is room for */

	if (!slot->pid)
		return -ENOENT;
	*ret = (struct input){ .now_ns = now_ns };
	if (!slot->live) {
		ret->type = INPUT_TASK_END;
		ret->ended_pid = slot->pid;
		return 0;
	}
	ret->type = INPUT_TASK;
	ret->task = (struct input_task){
		.pid = slot->pid,
		.tgid = slot->tgid,
		.handle = handle,
		.cpu = cpu,
		.io_waits = slot->io_waits,
		.last_io_ns = last_io_ns(tracer, slot, now_ns),
		.watched = slot->hold_ns,
		.level_q = is_traced ? tracer_level_q(tracer, cpu) : 0,
		.busy_ppm = is_traced ? busy_ppm(tracer, cpu, now_ns) : 0,
	};
	read_depth(tracer, handle, now_ns, &ret->task);
	read_ios(tracer, slot, &ret->task);
	/* Last, as it is a system call and the other values are as of now_ns. */
	ret->task.io_starts = tracer_read_starts(tracer, handle % WAKEGOV_SLOTS);
	memcpy(ret->task.comm, slot->comm, sizeof(ret->task.comm) - 1);
	return 0;
}

/*
 * hold_ns shows whether the kernel side watches the task. Where it cannot, the daemon keeps
 * checking the end of the hold time: the sample does not say that the task is watched.
 */
void tracer_watch_hold(struct tracer *tracer, uint32_t handle, uint64_t hold_ns)
{
	volatile struct wakegov_slot *slot = &tracer->slots[handle % WAKEGOV_SLOTS];
	struct wakegov_watch watch = {
		.slot = handle % WAKEGOV_SLOTS,
		.hold_ns = hold_ns ? hold_ns + late_ns(tracer) : 0,
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &watch, .ctx_size_in = sizeof(watch));
	bool watched = slot->hold_ns;

	slot->hold_ns = watch.hold_ns;
	if (!watch.hold_ns || watched)
		return;
	if (bpf_prog_test_run_opts(tracer->programs.watch_hold, &opts) < 0 || opts.retval)
		slot->hold_ns = 0;
}

void tracer_release_task(struct tracer *tracer, uint32_t handle)
{
	struct wakegov_slot *slot = &tracer->slots[handle % WAKEGOV_SLOTS];
	uint32_t pid;

	slot->hold_ns = 0;
	slot->live = 0;
	pid = __atomic_exchange_n(&slot->pid, 0, __ATOMIC_ACQ_REL);
	if (pid)
		__atomic_fetch_sub(&tracer->programs.bss->hot_tasks[pid % WAKEGOV_HOT], 1,
				   __ATOMIC_RELAXED);
	if (pid && tracer_counts_only(tracer))
		tracer_attach_starts(tracer, false);
}
