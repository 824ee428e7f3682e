// SPDX-License-Identifier: GPL-2.0-only
/* The tasks that do I/O: their totals, and the end of following one. */
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

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The clock is not read for each: a task that waits for its requests is seen by these. */
static uint64_t last_io_ns(const struct wakegov_slot *slot)
{
	return max_of(max_of(slot->last_start_ns, slot->idle_since_ns), slot->last_wait_ns);
}

/* Most in flight since the last time; the kernel side sees 0 and begins anew. */
static uint32_t take_max_depth(struct wakegov_slot *slot)
{
	return __atomic_exchange_n(&slot->max_depth, 0, __ATOMIC_RELAXED);
}

/*
 * What its requests took so far, those in flight up to now. The parts are written one after the
 * other: when a request starts or ends meanwhile they are read again.
 */
static uint64_t in_flight_ns(const volatile struct wakegov_slot *slot, uint64_t now_ns)
{
	uint64_t ended_ns, starts_ns;
	uint32_t n, tries = 0;

	do {
		n = slot->timed;
		starts_ns = slot->timed_starts_ns;
		ended_ns = slot->in_flight_ns;
	} while ((n != slot->timed || starts_ns != slot->timed_starts_ns) && ++tries < 16);
	return ended_ns + WAKEGOV_TIMED * (n * now_ns - starts_ns);
}

int tracer_read_task(struct tracer *tracer, uint32_t handle, uint64_t now_ns, struct input *ret)
{
	struct wakegov_slot *slot = &tracer->slots[handle % WAKEGOV_SLOTS];

	if (!slot->pid)
		return -ENOENT;
	*ret = (struct input){ .now_ns = now_ns };
	if (slot->exited) {
		ret->type = INPUT_TASK_END;
		ret->ended_pid = slot->pid;
		return 0;
	}
	ret->type = INPUT_TASK;
	ret->task = (struct input_task){
		.pid = slot->pid,
		.tgid = slot->tgid,
		.handle = handle,
		.cpu = slot->cpu,
		.io_waits = slot->io_waits,
		.io_starts = slot->io_starts,
		.last_io_ns = last_io_ns(slot),
		.level_q = tracer->cpus[slot->cpu % tracer->topology->n_cpus].level_q,
		.in_flight_ns = in_flight_ns(slot, now_ns),
		.depth = slot->started - slot->completed,
		.max_depth = take_max_depth(slot),
	};
	read_ios(tracer, slot, &ret->task);
	memcpy(ret->task.comm, slot->comm, sizeof(ret->task.comm) - 1);
	return 0;
}

void tracer_release_task(struct tracer *tracer, uint32_t handle)
{
	struct wakegov_slot *slot = &tracer->slots[handle % WAKEGOV_SLOTS];
	uint32_t pid = __atomic_exchange_n(&slot->pid, 0, __ATOMIC_ACQ_REL);

	if (pid)
		__atomic_fetch_sub(&tracer->programs.skel->bss->hot_tasks[pid % WAKEGOV_HOT], 1,
				   __ATOMIC_RELAXED);
}
