/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Requests in flight: whose they are, and what their end means for the task and the device. */

#include "device.bpf.h"
#include "slot.bpf.h"

static inline struct wakegov_flights *far_of(struct request *request)
{
	__u32 low = (unsigned long)request, set;

	/* Arithmetic is for numbers, says the verifier; a half of a pointer is one when copied. */
	__asm__ volatile("%0 = %1" : "=w"(set) : "w"(low));
	set = set * 2654435761U >> 22; /* WAKEGOV_FLIGHT_SETS are 2^10 */
	return bpf_map_lookup_elem(&flights, &set);
}

static __noinline struct wakegov_flight *find_far(struct request *request)
{
	struct wakegov_flights *set = far_of(request);

	for (int i = 0; set && i < WAKEGOV_FLIGHT_WAYS; i++)
		if (set->ways[i].request == (unsigned long)request)
			return &set->ways[i];
	return NULL;
}

/* Only where there is no near one, or the request may have been far before. */
static __noinline struct wakegov_flight *find_far_place(struct request *request,
							struct wakegov_flight *near)
{
	struct wakegov_flights *set = far_of(request);

	for (int i = 0; set && i < WAKEGOV_FLIGHT_WAYS; i++)
		if (set->ways[i].request == (unsigned long)request)
			return &set->ways[i];
	for (int i = 0; !near && set && i < WAKEGOV_FLIGHT_WAYS; i++)
		if (!set->ways[i].request)
			near = &set->ways[i];
	return near;
}

/* The CPU that sent a request, and that it is looked for with. */
static inline struct wakegov_cpu *sender_of(struct request *request)
{
	return cpu_at(request->mq_ctx->cpu);
}

static inline struct wakegov_flight *find_flight(struct request *request, struct wakegov_cpu *cpu)
{
	for (int i = 0; i < WAKEGOV_NEAR_WAYS; i++)
		if (cpu->near[i].request == (unsigned long)request)
			return &cpu->near[i];
	return find_far(request);
}

/* The one it has, left over from before, or a free one; NULL: there is none. */
static inline struct wakegov_flight *find_place(struct request *request, struct wakegov_cpu *cpu,
						const struct wakegov_device *device)
{
	struct wakegov_flight *place = NULL;

	for (int i = WAKEGOV_NEAR_WAYS - 1; i >= 0; i--) {
		struct wakegov_flight *flight = &cpu->near[i];

		if (flight->request == (unsigned long)request)
			return flight;
		if (!flight->request)
			place = flight; /* in the end the first of them */
	}
	return place && !device->n_far ? place : find_far_place(request, place);
}

/* False: another one got it first. */
static inline bool claim(struct wakegov_flight *flight, struct request *request)
{
	return !__sync_val_compare_and_swap(&flight->request, 0, (unsigned long)request);
}

/* Gives its place back, after everything was read there. */
static inline void clear_flight(struct wakegov_flight *flight, struct wakegov_device *device)
{
	if (flight->far && device)
		__sync_fetch_and_add(&device->n_far, -1);
	flight->request = 0;
}

/* One less of the task's in flight. True: it was the last. */
static inline bool complete_one(struct wakegov_slot *slot, __u64 now_ns)
{
	__sync_fetch_and_add(&slot->completions_ns, now_ns);
	return __sync_fetch_and_add(&slot->completed, 1) + 1 == slot->started;
}

/*
 * The interrupt that told of it, where one is handled on an idle CPU: to handle it is the host's
 * work, and the clock was read then. It may have begun before what is so fast was started.
 */
static inline __u64 end_time(const struct wakegov_flight *flight, const struct wakegov_cpu *here)
{
	if (here->load.interrupts && here->load.updated_ns > flight->start_ns)
		return here->load.updated_ns;
	return bpf_ktime_get_ns();
}

/*
 * Its end on the CPU here, by the change of the device's flow. The place is free for others only
 * after it was read.
 */
static inline void end_flight(struct wakegov_flight *flight, __u64 change,
			      const struct wakegov_cpu *here)
{
	struct wakegov_device *device = device_at(flight->device);
	struct wakegov_slot *slot = flight->owner ? slot_of(flight->owner) : NULL;
	__u64 now_ns = end_time(flight, here);

	if (device && lower_depth(device, change))
		device->idle_since_ns = now_ns;
	if (device && change == WAKEGOV_COMPLETED)
		device->completion_cpu = bpf_get_smp_processor_id();
	if (slot && complete_one(slot, now_ns))
		slot->idle_since_ns = now_ns;
	clear_flight(flight, device);
}

/*
 * It starts again, and nobody heard of its end. When that was is unknown, so neither of them is
 * said to be idle since.
 */
static __noinline void mend_flight(struct wakegov_flight *flight)
{
	struct wakegov_device *device = device_at(flight->device);
	struct wakegov_slot *slot = flight->owner ? slot_of(flight->owner) : NULL;

	if (device) {
		lower_depth(device, WAKEGOV_COMPLETED);
		__sync_fetch_and_add(&device->anomalies, 1);
	}
	if (slot)
		complete_one(slot, flight->start_ns);
	clear_flight(flight, device);
}
