/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Block devices: their places in the table, by the disk's sequence number. */

#include "maps.bpf.h"

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
