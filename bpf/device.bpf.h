/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Block devices: how many requests are in flight on each, and when there are none. */

#include "maps.bpf.h"

static inline struct wakegov_device *device_at(__u32 index)
{
	return &devices[index % WAKEGOV_DEVICES];
}

/*
 * The sequence number (diskseq) of the whole disk of a queue; it changes with the medium. 0: the
 * queue belongs to no disk, as a controller's.
 */
static inline __u64 seq_of(const struct request_queue *queue)
{
	return queue->disk->diskseq;
}

/*
 * With more disks than places, each request to one of the others would search all places twice. A
 * disk that found no place is remembered, until the daemon clears it at its next look at the
 * devices.
 */
static inline bool is_unplaced(__u64 seq)
{
	return unplaced[seq % WAKEGOV_UNPLACED] == seq;
}

static __noinline struct wakegov_device *find_device(__u64 seq, __u32 *ret_index)
{
	struct wakegov_device *device;

	for (int i = 0; i < WAKEGOV_DEVICES; i++) {
		*ret_index = (seq + i) % WAKEGOV_DEVICES;
		device = device_at(*ret_index);
		if (device->seq == seq)
			return device;
	}
	return NULL;
}

/*
 * Releases the place if no record can be emitted: until the daemon has classified a device, a
 * stacked one would count twice.
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

/*
 * Takes a place at the first request. Two CPUs that do so at once try places in the same order, so
 * one finds the other's.
 */
static __noinline struct wakegov_device *add_device(struct request_queue *queue, __u64 seq,
						    __u32 *ret_index)
{
	for (int i = 0; i < WAKEGOV_DEVICES; i++) {
		struct wakegov_device *device;
		__u64 was;

		*ret_index = (seq + i) % WAKEGOV_DEVICES;
		device = device_at(*ret_index);
		was = __sync_val_compare_and_swap(&device->seq, 0, seq);
		if (was == seq)
			return device;
		if (!was)
			return introduce_device(device, queue, *ret_index) ? device : NULL;
	}
	unplaced[seq % WAKEGOV_UNPLACED] = seq;
	return NULL;
}

static __noinline struct wakegov_device *look_up_device(struct request_queue *queue,
							struct wakegov_cpu *cpu)
{
	__u64 seq = seq_of(queue);
	struct wakegov_device *device = NULL;
	__u32 index;

	if (!seq)
		return NULL;
	if (!is_unplaced(seq)) {
		device = find_device(seq, &index);
		if (!device)
			device = add_device(queue, seq, &index);
	}
	if (device)
		cpu->last_device = index;
	else
		cpu->drops_devices++;
	return device;
}

/*
 * The queue's device; its index is then in the CPU's last_device, where it mostly was before. A
 * new queue may have an old one's address, and a disk may get another medium: the daemon notices
 * that while it follows tasks.
 */
static inline struct wakegov_device *device_of(struct request_queue *queue, struct wakegov_cpu *cpu,
					       bool followed)
{
	struct wakegov_device *device = device_at(cpu->last_device);

	if (device->queue == (unsigned long)queue && (followed || device->seq == seq_of(queue)))
		return device;
	return look_up_device(queue, cpu);
}

static inline void raise_depth(struct wakegov_device *device, __u64 now_ns)
{
	__u64 since_ns;

	if (wakegov_flow_depth(__sync_fetch_and_add(&device->flow, 1)) != 0)
		return;
	since_ns = device->idle_since_ns;
	device->idle_since_ns = 0; /* must not be taken for the start of the next idle time */
	if (since_ns && now_ns > since_ns)
		device->idle_ns += now_ns - since_ns;
}

/*
 * Adds change to flow, which takes one request out of flight. Returns whether the device is idle
 * now.
 */
static inline bool lower_depth(struct wakegov_device *device, __u64 change)
{
	__s32 was = wakegov_flow_depth(__sync_fetch_and_add(&device->flow, change));

	if (was > 0)
		return was == 1;
	/* The daemon corrected the depth at the same moment. */
	__sync_fetch_and_add(&device->flow, 1);
	__sync_fetch_and_add(&device->anomalies, 1);
	return false;
}
