// SPDX-License-Identifier: GPL-2.0-only
/* The tasks that do I/O: their totals, and the release of their slots. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "tracer/tracer_private.h"

_Static_assert((int)TASK_IOS_MAX == WAKEGOV_SLOT_IOS, "a task's devices");

/*
 * Rounds up, as a hold time should rather end late than early. A start is dated by the last event
 * of its CPU, so its time is up to a tick too early.
 */
static uint64_t last_io_ns(const struct tracer *tracer, const struct wakegov_slot *slot,
			   uint64_t now_ns)
{
	uint64_t last_ns = wakegov_slot_last_ns(slot) + tracer->tick_ns;

	return last_ns < now_ns ? last_ns : now_ns;
}

static void read_ios(struct tracer *tracer, const struct wakegov_slot *slot,
		     struct input_task *task)
{
	for (uint32_t i = 0; i < WAKEGOV_SLOT_IOS; i++) {
		struct wakegov_slot_io io = *(const volatile struct wakegov_slot_io *)&slot->ios[i];

		if (!device_is_followed(tracer, io.device))
			continue;
		task->ios[task->n_ios++] = (struct input_task_io){ .device = io.device,
								   .ios = io.ios };
		tracer->known_devices |= 1ULL << io.device;
	}
}

static struct seen_slot *find_seen(struct tracer *tracer, uint32_t index)
{
	struct seen_slot *seen = &tracer->seen[index];

	if (seen->id == tracer->slots[index].id)
		return seen;
	*seen = (struct seen_slot){ .id = tracer->slots[index].id };
	for (uint32_t i = 0; i < WAKEGOV_SLOT_IOS; i++)
		seen->ios[i].device = WAKEGOV_NO_DEVICE;
	return seen;
}

int tracer_read_task(struct tracer *tracer, uint32_t handle, uint64_t now_ns, struct input *ret)
{
	uint32_t index = handle % WAKEGOV_SLOTS;
	struct wakegov_slot *slot = &tracer->slots[index];
	struct seen_slot *seen = find_seen(tracer, index);
	uint32_t cpu = slot->cpu;
	bool is_traced = cpu < tracer->topology->n_cpus; /* false: a CPU beyond the table */

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
		.watched = slot->hold_ns,
		.level_q = is_traced ? tracer_level_q(tracer, cpu) : 0,
	};
	ret->task.io_starts = tracer_read_starts(tracer, index);
	ret->task.last_io_ns = last_io_ns(tracer, slot, now_ns);
	ret->task.worked_ns = slot->ran_ns + slot->interrupts_ns;
	ret->task.waited_ns = slot->delay_ns;
	read_ios(tracer, slot, &ret->task);
	in_flight_add(tracer, seen, slot, ret->task.io_starts, now_ns);
	ret->task.in_flight_ns = seen->in_flight_ns;
	memcpy(ret->task.comm, slot->comm, sizeof(ret->task.comm) - 1);
	return 0;
}

/*
 * hold_ns shows whether the kernel side watches the task. If it cannot, the sample says so, and the
 * daemon keeps checking for the end of the hold time.
 */
void tracer_watch_hold(struct tracer *tracer, uint32_t handle, uint64_t hold_ns)
{
	volatile struct wakegov_slot *slot = &tracer->slots[handle % WAKEGOV_SLOTS];
	struct wakegov_watch watch = {
		.slot = handle % WAKEGOV_SLOTS,
		.hold_ns = hold_ns ? hold_ns + tracer->tick_ns : 0,
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
	if (pid)
		tracer_attach_starts(tracer);
}
