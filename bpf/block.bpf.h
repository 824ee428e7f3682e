/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Block requests from start to end, and the tasks that send them. */

#include "flight.bpf.h"
#include "hot.bpf.h"

#define IDLE_PLACE \
	1024 /* 1024 · 2^20 ns, about a second: after that another device may take the place */

static __noinline struct wakegov_slot_io *claim_io(struct wakegov_slot *slot, __u32 index,
						   __u32 now)
{
	struct wakegov_slot_io *io, *oldest = &slot->ios[0];

	for (int i = 0; i < WAKEGOV_SLOT_IOS; i++) {
		io = &slot->ios[i];
		if (io->device == WAKEGOV_NO_DEVICE) {
			oldest = io;
			break;
		}
		if (now - io->used > now - oldest->used)
			oldest = io;
	}
	if (oldest->device != WAKEGOV_NO_DEVICE && now - oldest->used < IDLE_PLACE)
		return NULL;
	oldest->ios = 0;
	oldest->host_ns = 0;
	oldest->host_cpu_ns = 0;
	oldest->device = index;
	return oldest;
}

static inline struct wakegov_slot_io *io_of(struct wakegov_slot *slot, __u32 index, __u32 now)
{
	for (int i = 0; i < WAKEGOV_SLOT_IOS; i++)
		if (slot->ios[i].device == index)
			return &slot->ios[i];
	return claim_io(slot, index, now);
}

/*
 * The time since the task's last request completed, 0 while one is in flight. An idle_since_ns
 * before the last start does not date the end of that request: its update is still to come, or was
 * lost.
 */
static inline __u64 pop_host_time(struct wakegov_slot *slot, __u64 now_ns, __u64 *ret_think_ns)
{
	__u64 since_ns = slot->idle_since_ns;

	*ret_think_ns = 0;
	if (slot->started != slot->completed)
		return 0;
	*ret_think_ns = slot->think_ns;
	slot->think_ns = 0;
	slot->sleep_ns = 0; /* a sleep that a signal prevented may have left it */
	return since_ns > slot->last_start_ns && now_ns > since_ns ? now_ns - since_ns : 0;
}

static inline void count_request(struct wakegov_slot *slot, struct wakegov_cpu *cpu, __u32 index,
				 __u64 now_ns)
{
	__u32 now = now_ns >> 20;
	struct wakegov_slot_io *io = io_of(slot, index, now);
	__u64 think_ns, host_ns = pop_host_time(slot, now_ns, &think_ns);

	slot->last_start_ns = now_ns;
	if (!io) {
		cpu->drops_devices++;
		return;
	}
	io->used = now;
	io->ios++;
	if (!host_ns)
		return;
	io->host_ns += host_ns;
	if (host_ns > think_ns)
		io->host_cpu_ns += host_ns - think_ns;
}

/*
 * Kernel threads write back for other tasks, so requests alone do not make them hot. A kernel
 * thread that waits for its requests is hot by its waits, and then its requests are counted: tasks
 * wait for it in turn, as a commit does for the journal's thread.
 */
static inline bool sends_for_itself(struct task_struct *task)
{
	return task->pid && !(task->flags & PF_KTHREAD);
}

/*
 * The slot of the task that a request belongs to; NULL: no hot task sent it, or an interrupt of an
 * idle CPU. An owner's workers may write to its slot on several CPUs at once.
 */
static inline struct wakegov_slot *slot_of_sender(struct task_struct *task)
{
	struct wakegov_slot *owner = find_owner(task);

	return owner || !task->pid ? owner : find_slot(task->pid);
}

/* Added atomically: a lost update would never be repaired. */
static inline void count_started(struct wakegov_slot *slot, __u64 now_ns)
{
	__u32 depth = __sync_fetch_and_add(&slot->started, 1) + 1 - slot->completed;

	__sync_fetch_and_add(&slot->starts_ns, now_ns);
	if (depth > slot->max_depth)
		slot->max_depth = depth;
}

/*
 * Follows a request in flight. It is not followed if there is no place, or if another CPU takes the
 * place first.
 */
static inline void follow(struct request *request, struct wakegov_flight *flight,
			  struct wakegov_device *device, __u32 index, struct wakegov_slot *slot,
			  __u64 now_ns)
{
	if (!flight || !claim(flight, request, now_ns))
		return;
	flight->device = index;
	flight->owner = slot ? slot->id : 0;
	raise_depth(device, now_ns);
	if (slot)
		count_started(slot, now_ns);
}

/*
 * request->start_time_ns still dates the request's last use at block_io_start; at block_rq_issue it
 * is right.
 */
static inline __u64 start_time(struct request *request, enum wakegov_program program)
{
	if (program == WAKEGOV_BLOCK_ISSUE && request->start_time_ns)
		return request->start_time_ns;
	return bpf_ktime_get_ns();
}

/* A request that is in flight was requeued: that is not a new start. */
static inline bool is_again(struct request *request, enum wakegov_program program)
{
	struct wakegov_flight *flight;

	if (program != WAKEGOV_BLOCK_ISSUE)
		return false;
	flight = find_flight(request);
	return flight && flight->start_ns && flight->start_ns == request->start_time_ns;
}

/*
 * The first request after its end ends a look. Without requests a look costs nothing, and sees
 * nothing: it begins with the first request, and again with the first one after a pause.
 */
static inline void end_look(const struct wakegov_cpu *cpu)
{
	__u64 now_ns = cpu->load.updated_ns, least_ns;

	if (!settings.look_end_ns)
		return;
	least_ns = WAKEGOV_LOOK_WINDOWS * settings.window_ns;
	if (now_ns > settings.look_seen_ns + least_ns)
		settings.look_end_ns = now_ns + least_ns;
	else if (now_ns > settings.look_end_ns && emit(WAKEGOV_RECORD_LOOK, 0, 0))
		settings.look_end_ns = 0;
	settings.look_seen_ns = now_ns;
}

/*
 * Only counts the start: that is enough for a hold time and a rate. Skips the clock read: the CPU's
 * last update is a tick old at most, and the daemon adds the tick. A task that came unseen has
 * none.
 */
static __noinline void count_only(struct task_struct *task, struct wakegov_slot *slot,
				  const struct wakegov_cpu *cpu)
{
	end_look(cpu);
	if (!slot) {
		if (sends_for_itself(task))
			count_cold_io(task, IO_START, bpf_ktime_get_ns());
		return;
	}
	slot->io_starts++;
	slot->last_start_ns = cpu->load.busy_since_ns ? cpu->load.updated_ns : bpf_ktime_get_ns();
}

/* The clock is read before the rest: after a call nothing is left in registers. */
static __always_inline void start_request(struct request *request, enum wakegov_program program)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wakegov_slot *slot = slot_of_sender(task);
	struct wakegov_cpu *cpu = count_event(program);
	struct wakegov_device *device = NULL;
	struct wakegov_flight *flight;
	__u64 now_ns;

	if (!cpu)
		return;
	if (cpu->count_only) {
		count_only(task, slot, cpu);
		return;
	}
	if (is_again(request, program))
		return;
	now_ns = start_time(request, program);
	if (cpu->follow_devices)
		device = device_of(request->q, cpu, slot);
	if (device && device->ignored)
		return;
	flight = device ? place_of(request) : NULL;
	if (slot)
		slot->io_starts++;
	else if (sends_for_itself(task))
		count_cold_io(task, IO_START, now_ns);
	if (!device)
		return;
	if (slot)
		count_request(slot, cpu, cpu->last_device, now_ns);
	follow(request, flight, device, cpu->last_device, slot, now_ns);
}

/* Runs once per request, in the sender's context. The kernel has it since 6.5. */
SEC("tp_btf/block_io_start")
int BPF_PROG(on_block_io_start, struct request *request)
{
	start_request(request, WAKEGOV_BLOCK_START);
	return 0;
}

/*
 * For older kernels: runs when the driver gets the request, which may be in another task's context.
 * It sees flushes as sent by the kernel.
 */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_rq_issue, struct request *request)
{
	start_request(request, WAKEGOV_BLOCK_ISSUE);
	return 0;
}

/*
 * A write with a flush before or after it ends when all steps are done. The ends of its data and of
 * the kernel's own flush request come earlier, and have this flag.
 */
static inline bool is_step_of_flush(struct request *request)
{
	return request->rq_flags & flush_flag;
}

/*
 * Counts a completion without a start as an anomaly. It is none for an empty request, which may be
 * a flush whose start is not seen before 6.5, nor for a request that started before starts were
 * followed.
 */
static __noinline void count_stray(struct request *request, unsigned int n_bytes)
{
	__u64 seq = seq_of(request->q);
	__u32 index;

	if (!n_bytes || request->start_time_ns < settings.follow_since_ns || is_unplaced(seq))
		return;
	index = find_device(seq);
	if (index != WAKEGOV_DEVICES && !device_at(index)->ignored)
		__sync_fetch_and_add(&device_at(index)->anomalies, 1);
}

static inline void complete_request(struct request *request, unsigned int n_bytes,
				    const struct wakegov_cpu *here)
{
	struct wakegov_flight *flight;

	if (n_bytes < request->__data_len || is_step_of_flush(request))
		return;
	flight = find_flight(request);
	if (flight && flight->start_ns > WAKEGOV_TAKING)
		end_flight(flight, WAKEGOV_COMPLETED, here);
	else
		count_stray(request, n_bytes);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_rq_complete, struct request *request, int error, unsigned int n_bytes)
{
	struct wakegov_cpu *cpu = count_event(WAKEGOV_BLOCK_COMPLETE);

	if (cpu)
		complete_request(request, n_bytes, cpu);
	return 0;
}

/*
 * The request was merged into another one before it was issued. It completes with that one, without
 * a block_rq_complete of its own.
 */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_block_rq_merge, struct request *request)
{
	struct wakegov_cpu *cpu = count_event(WAKEGOV_BLOCK_MERGE);
	struct wakegov_flight *flight = find_flight(request);

	if (cpu && flight && flight->start_ns > WAKEGOV_TAKING)
		end_flight(flight, -1, cpu);
	return 0;
}
