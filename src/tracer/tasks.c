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

/*
 * A task's requests in flight, computed from the kernel's totals of each disk: the task's part of
 * the duration of all requests that ended there. No single request is followed.
 */

/*
 * The time in flight since the last sample; the kernel counts it at the end of a request. Until one
 * ends, this assumes the former number in flight, and the requests that the task has sent since.
 */
static uint64_t add_requests(struct seen_requests *seen, uint64_t sent,
			     const struct disk_requests *now, uint64_t now_ns)
{
	uint64_t n = sent - seen->sent, ended = now->done - seen->total.done;
	uint64_t passed_ns = now_ns - seen->since_ns, ended_ns = now->time_ns - seen->total.time_ns;
	uint64_t own_ns = (seen->depth + n) * passed_ns, grown_ns;

	/* Its part, at most all of it: more may have started than ended. */
	if (ended)
		own_ns = n < ended ? ended_ns * n / ended : ended_ns;
	grown_ns = own_ns > seen->told_ns ? own_ns - seen->told_ns : 0;
	if (ended)
		*seen = (struct seen_requests){
			.sent = sent,
			.total = *now,
			.depth = passed_ns ? (own_ns + passed_ns / 2) / passed_ns : 0,
			.each_ns = n ? own_ns / n : seen->each_ns,
			.since_ns = now_ns,
		};
	else
		seen->told_ns += grown_ns;
	return grown_ns;
}

/* The same for all its requests to one device, which learning periods tell apart. */
static uint64_t add_io(struct tracer *tracer, struct seen_io *seen,
		       const struct wakegov_slot_io *io, uint64_t now_ns)
{
	const uint64_t sent[DISK_DIRECTIONS] = { io->ios - io->writes, io->writes };
	const struct seen_device *device;
	bool known = tracer->learns && device_read(tracer, io->device, now_ns, &device) == 0;
	uint64_t grown_ns = 0;

	if (seen->device != io->device) /* it has sent all of them since */
		*seen = (struct seen_io){ .device = io->device };
	for (int i = 0; i < DISK_DIRECTIONS; i++) {
		if (!known) {
			seen->of[i].sent = sent[i];
			continue;
		}
		/* A learning period begins with the device's totals at that time. */
		if (seen->period != tracer->period) {
			seen->of[i].total = device->first.of[i];
			seen->of[i].told_ns = 0;
			seen->of[i].since_ns = tracer->period_ns;
		}
		grown_ns += add_requests(&seen->of[i], sent[i], &device->totals.of[i], now_ns);
	}
	if (known)
		seen->period = tracer->period;
	return grown_ns;
}

/*
 * An uninterruptible wait is for a request that the task has just sent: between two such waits the
 * task has no more in flight than it sends there. (Others' requests may take much longer than its
 * own, whatever their size.)
 */
static uint64_t most_ns(const struct seen_slot *seen, const struct wakegov_slot *slot,
			uint64_t starts, uint64_t now_ns)
{
	uint64_t waits = slot->sync_waits - seen->sync_waits, sent = starts - seen->starts;

	if (!seen->at_ns || !waits)
		return UINT64_MAX;
	return (now_ns - seen->at_ns) * (sent > waits ? sent : waits) / waits;
}

/* The duration of its slowest requests, in learning periods; 0 outside them. */
static uint64_t longest_ns(const struct tracer *tracer, const struct seen_slot *seen)
{
	uint64_t ret = 0;

	for (uint32_t i = 0; tracer->learns && i < WAKEGOV_SLOT_IOS; i++)
		for (int j = 0; j < DISK_DIRECTIONS; j++)
			if (seen->ios[i].device != WAKEGOV_NO_DEVICE &&
			    seen->ios[i].of[j].each_ns > ret)
				ret = seen->ios[i].of[j].each_ns;
	return ret;
}

/*
 * Adds the time in flight of the slot's requests since its last sample to seen->in_flight_ns, and
 * writes the expected duration of future ones into the slot. starts: the number of requests that
 * it has sent.
 */
static void add_in_flight(struct tracer *tracer, struct seen_slot *seen, struct wakegov_slot *slot,
			  uint64_t starts, uint64_t now_ns)
{
	uint64_t most = most_ns(seen, slot, starts, now_ns), grown_ns = 0;

	for (uint32_t i = 0; i < WAKEGOV_SLOT_IOS; i++) {
		struct wakegov_slot_io io = *(const volatile struct wakegov_slot_io *)&slot->ios[i];

		if (device_is_followed(tracer, io.device))
			grown_ns += add_io(tracer, &seen->ios[i], &io, now_ns);
	}
	seen->in_flight_ns += grown_ns < most ? grown_ns : most;
	seen->at_ns = now_ns;
	seen->starts = starts;
	seen->sync_waits = slot->sync_waits;
	slot->request_ns = longest_ns(tracer, seen);
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
	add_in_flight(tracer, seen, slot, ret->task.io_starts, now_ns);
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
