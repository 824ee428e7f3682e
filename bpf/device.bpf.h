/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Block devices: how many requests are in flight on each, and when there are none. */

#include "maps.bpf.h"

static inline struct wakegov_device *device_at(__u32 index)
{
	return bpf_map_lookup_elem(&devices, &index);
}

/*
 * The number of the whole disk that a request is for, a new one when another medium is in it; 0:
 * it is for none, as in a controller's queue.
 */
static inline __u64 seq_of(struct request *request)
{
	return request->q->disk->diskseq;
}

/*
 * With more disks than places a request to one of the rest would search them all, twice. One that
 * found none is remembered until the daemon's next look at the devices, when it may try again.
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
		if (device && device->seq == seq)
			return device;
	}
	return NULL;
}

/* The place is given back when it cannot be told: unclassified, a stacked device would count twice.
 */
static inline bool introduce_device(struct wakegov_device *device, struct request *request,
				    __u32 index)
{
	struct gendisk *disk = request->q->disk;

	device->queue = (unsigned long)request->q;
	BPF_CORE_READ_STR_INTO(&device->name, disk, disk_name);
	if (tell(WAKEGOV_RECORD_DEVICE, bpf_get_smp_processor_id(), index))
		return true;
	device->seq = 0;
	return false;
}

/* At first sight. Two CPUs that try at once try in the same order, so one finds the other's. */
static __noinline struct wakegov_device *add_device(struct request *request, __u64 seq,
						    __u32 *ret_index)
{
	for (int i = 0; i < WAKEGOV_DEVICES; i++) {
		struct wakegov_device *device;
		__u64 was;

		*ret_index = (seq + i) % WAKEGOV_DEVICES;
		device = device_at(*ret_index);
		if (!device)
			return NULL;
		was = __sync_val_compare_and_swap(&device->seq, 0, seq);
		if (was == seq)
			return device;
		if (!was)
			return introduce_device(device, request, *ret_index) ? device : NULL;
	}
	unplaced[seq % WAKEGOV_UNPLACED] = seq;
	return NULL;
}

static __noinline struct wakegov_device *look_up_device(struct request *request,
							struct wakegov_cpu *cpu)
{
	__u64 seq = seq_of(request);
	struct wakegov_device *device = NULL;
	__u32 index;

	if (!seq)
		return NULL;
	if (!is_unplaced(seq)) {
		device = find_device(seq, &index);
		if (!device)
			device = add_device(request, seq, &index);
	}
	if (device)
		cpu->last_device = index;
	else
		cpu->drops_devices++;
	return device;
}

/*
 * Its index is then the CPU's last_device, and mostly was. A queue's address may come to be that of
 * another, and another medium be in the same disk: the daemon notices while it follows tasks.
 */
static inline struct wakegov_device *device_of(struct request *request, struct wakegov_cpu *cpu,
					       bool followed)
{
	struct wakegov_device *device = device_at(cpu->last_device);

	if (device && device->queue == (unsigned long)request->q &&
	    (followed || device->seq == seq_of(request)))
		return device;
	return look_up_device(request, cpu);
}

/* One more in flight. */
static inline void raise_depth(struct wakegov_device *device, __u64 now_ns)
{
	__u64 since_ns;

	if (wakegov_flow_depth(__sync_fetch_and_add(&device->flow, 1)) != 0)
		return;
	since_ns = device->idle_since_ns;
	device->idle_since_ns = 0; /* not to be taken for the start of the next idle time */
	if (since_ns && now_ns > since_ns)
		device->idle_ns += now_ns - since_ns;
}

/* One less in flight, with the change of flow that says so. True: the device is idle now. */
static inline bool lower_depth(struct wakegov_device *device, __u64 change)
{
	__s32 was = wakegov_flow_depth(__sync_fetch_and_add(&device->flow, change));

	if (was > 0)
		return was == 1;
	/* The daemon set it right at the same moment. */
	__sync_fetch_and_add(&device->flow, 1);
	__sync_fetch_and_add(&device->anomalies, 1);
	return false;
}
