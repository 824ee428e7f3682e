/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Block requests: which task sends them, and to which device. */

#include "chain_wake.bpf.h"
#include "hot.bpf.h"

static inline struct wakegov_device *device_at(__u32 index)
{
	return &devices[index % WAKEGOV_DEVICES];
}

/*
 * The sequence number (diskseq) of a queue's whole disk, which changes with the medium. 0: the
 * queue has no disk, as a controller's.
 */
static inline __u64 seq_of(const struct request_queue *queue)
{
	return queue->disk->diskseq;
}

/*
 * With more disks than places, each request to a disk without one would search all places twice.
 * Such a disk is remembered until the daemon clears it at its next check of the devices.
 */
static inline bool is_unplaced(__u64 seq)
{
	return unplaced[seq % WAKEGOV_UNPLACED] == seq;
}

/* The index of the disk's place; WAKEGOV_DEVICES if it has none. */
VERIFIED_ONCE __u32 find_device(__u64 seq)
{
	for (int i = 0; i < WAKEGOV_DEVICES; i++) {
		__u32 index = (seq + i) % WAKEGOV_DEVICES;

		if (device_at(index)->seq == seq)
			return index;
	}
	return WAKEGOV_DEVICES;
}

/* A flag in the index of a place that the disk has just claimed. */
#define NEWLY_TAKEN (1U << 31)

/*
 * Claims a place at the first request; WAKEGOV_DEVICES if none is free. Two CPUs that do so at once
 * try places in the same order, so one finds the other's.
 */
VERIFIED_ONCE __u32 claim_device(__u64 seq)
{
	for (int i = 0; i < WAKEGOV_DEVICES; i++) {
		__u32 index = (seq + i) % WAKEGOV_DEVICES;
		__u64 was = __sync_val_compare_and_swap(&device_at(index)->seq, 0, seq);

		if (!was)
			return index | NEWLY_TAKEN;
		if (was == seq)
			return index;
	}
	unplaced[seq % WAKEGOV_UNPLACED] = seq;
	return WAKEGOV_DEVICES;
}

/*
 * Releases the place if no record can be emitted: a stacked device would count twice until the
 * daemon classifies it.
 */
static inline bool introduce_device(struct wakegov_device *device, struct request_queue *queue,
				    __u32 index)
{
	struct gendisk *disk = queue->disk;

	device->queue = (unsigned long)queue;
	BPF_CORE_READ_STR_INTO(&device->name, disk, disk_name);
	if (emit(WAKEGOV_RECORD_DEVICE, bpf_get_smp_processor_id(), index))
		return true;
	device->seq = 0;
	return false;
}

static __noinline struct wakegov_device *look_up_device(struct request_queue *queue,
							struct wakegov_cpu *cpu)
{
	__u64 seq = seq_of(queue);
	__u32 place = WAKEGOV_DEVICES, index;

	if (!seq)
		return NULL;
	if (!is_unplaced(seq)) {
		place = find_device(seq);
		if (place == WAKEGOV_DEVICES)
			place = claim_device(seq);
	}
	index = place % WAKEGOV_DEVICES;
	if (place == WAKEGOV_DEVICES ||
	    (place & NEWLY_TAKEN && !introduce_device(device_at(index), queue, index))) {
		cpu->drops_devices++;
		return NULL;
	}
	cpu->last_device = index;
	return device_at(index);
}

/*
 * The queue's device; the CPU's last_device then has its index, and mostly had it before. A new
 * queue may reuse an address, and a disk may get another medium: the daemon notices both while it
 * follows tasks.
 */
static inline struct wakegov_device *device_of(struct request_queue *queue, struct wakegov_cpu *cpu,
					       bool followed)
{
	struct wakegov_device *device = device_at(cpu->last_device);

	if (device->queue == (unsigned long)queue && (followed || device->seq == seq_of(queue)))
		return device;
	return look_up_device(queue, cpu);
}

#define IDLE_PLACE \
	1024 /* 1024 · 2^20 ns, about a second: a device unused for longer loses its place */

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
	oldest->writes = 0;
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
 * The slot of the task that a request belongs to. NULL: the sender is not hot, or is an interrupt
 * on an idle CPU. An owner's workers may write to its slot on several CPUs at once.
 */
static inline struct wakegov_slot *slot_of_sender(struct task_struct *task)
{
	struct wakegov_slot *owner = find_owner(task);

	return owner || !task->pid ? owner : find_slot(task->pid);
}

/*
 * The first request after the end of a look ends it, so a look without requests costs and sees
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
 * The CPU's last update dates the request without a clock read: it is a tick old at most, and the
 * daemon adds the tick. A task that came unseen has no update.
 */
static inline void count_request(struct wakegov_slot *slot, struct wakegov_cpu *cpu,
				 const struct wakegov_device *device, bool writes)
{
	struct wakegov_slot_io *io;
	__u64 now_ns;

	now_ns = cpu->load.busy_since_ns ? cpu->load.updated_ns : bpf_ktime_get_ns();
	slot->io_starts++;
	slot->last_start_ns = now_ns;
	if (!device)
		return; /* the device has no place: the rate counts */
	slot->device = cpu->last_device;
	io = io_of(slot, cpu->last_device, now_ns >> 20);
	if (!io) {
		cpu->drops_devices++;
		return;
	}
	io->used = now_ns >> 20;
	io->ios++;
	io->writes += writes;
}

/*
 * Kernel threads write back for other tasks, so requests alone do not make them hot. A kernel
 * thread that waits for its requests is hot by its waits. Then its requests count too, since tasks
 * wait for it in turn, as they do for the journal's thread at a commit.
 */
static __always_inline void start_request(struct request *request, enum wakegov_program program)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wakegov_slot *slot = slot_of_sender(task);
	struct wakegov_cpu *cpu = count_event(program);
	struct wakegov_device *device;

	if (!cpu)
		return;
	end_look(cpu);
	device = device_of(request->q, cpu, slot);
	if (device && device->ignored)
		return;
	if (slot)
		count_request(slot, cpu, device, request->cmd_flags & REQ_OP_WRITE);
	else if (task->flags & PF_KTHREAD)
		send_for_waker(cpu, task->pid);
	else if (task->pid)
		count_cold_io(task, IO_START, bpf_ktime_get_ns());
}

/* Runs once per request, in the sender's context. Needs Linux 6.5. */
SEC("tp_btf/block_io_start")
int BPF_PROG(on_block_io_start, struct request *request)
{
	start_request(request, WAKEGOV_BLOCK_START);
	return 0;
}

/*
 * For older kernels: runs when the driver gets the request, which may be in another task's context.
 * Flushes appear to come from the kernel. A kernel thread mostly resends the requests that a driver
 * gave back; those are not counted.
 */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_rq_issue, struct request *request)
{
	start_request(request, WAKEGOV_BLOCK_ISSUE);
	return 0;
}
