/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Requests in flight: their owner, and the accounting of their end to task and device. */

#include "device.bpf.h"
#include "slot.bpf.h"

static inline struct wakegov_flights *flights_of(struct request *request)
{
	__u32 low = (unsigned long)request, set;

	/*
	 * The verifier allows arithmetic on numbers only. A 32-bit copy of half a pointer is a
	 * number to it.
	 */
	__asm__ volatile("%0 = %1" : "=w"(set) : "w"(low));
	set = set * 2654435761U >> 22; /* WAKEGOV_FLIGHT_SETS are 2^10 */
	return &flights[set % WAKEGOV_FLIGHT_SETS];
}

/* The place that the request has or had; NULL: none. */
static inline struct wakegov_flight *find_flight(struct request *request)
{
	struct wakegov_flights *set = flights_of(request);

	for (int i = 0; i < WAKEGOV_FLIGHT_WAYS; i++)
		if (set->ways[i].request == (unsigned long)request)
			return &set->ways[i];
	return NULL;
}

/* Takes a place that no request in flight has; NULL: there is none. */
static __noinline struct wakegov_flight *claim_flight(struct request *request)
{
	struct wakegov_flights *set = flights_of(request);

	for (int i = 0; i < WAKEGOV_FLIGHT_WAYS; i++) {
		struct wakegov_flight *flight = &set->ways[i];

		if (__sync_val_compare_and_swap(&flight->start_ns, 0, WAKEGOV_TAKING))
			continue;
		flight->request = (unsigned long)request;
		flight->start_ns = 0;
		return flight;
	}
	return NULL;
}

/* Returns false if another CPU took the place for another request. */
static inline bool claim(struct wakegov_flight *flight, struct request *request, __u64 now_ns)
{
	if (__sync_val_compare_and_swap(&flight->start_ns, 0, now_ns))
		return false;
	flight->request = (unsigned long)request;
	return true;
}

/* Accounts the end of one request of the task. Returns whether it was the last in flight. */
static inline bool complete_one(struct wakegov_slot *slot, __u64 now_ns)
{
	__sync_fetch_and_add(&slot->completions_ns, now_ns);
	return __sync_fetch_and_add(&slot->completed, 1) + 1 == slot->started;
}

/*
 * When a request ended. On an idle CPU that is the start of the interrupt, for which the clock was
 * read: handling it is host time. A fast request may have started during the interrupt; then the
 * clock is read again.
 */
static inline __u64 end_time(const struct wakegov_flight *flight, const struct wakegov_cpu *here)
{
	if (here->load.interrupts && here->load.busy_since_ns > flight->start_ns)
		return here->load.busy_since_ns;
	return bpf_ktime_get_ns();
}

/*
 * Ends a flight on the CPU here; change is added to the device's flow. The place is released last,
 * since another request may take it at once.
 */
static inline void end_flight(struct wakegov_flight *flight, __u64 change,
			      const struct wakegov_cpu *here)
{
	struct wakegov_device *device = device_at(flight->device);
	struct wakegov_slot *slot = flight->owner ? slot_of(flight->owner) : NULL;
	__u64 now_ns = end_time(flight, here);

	if (lower_depth(device, change))
		device->idle_since_ns = now_ns;
	if (change == WAKEGOV_COMPLETED)
		device->completion_cpu = bpf_get_smp_processor_id();
	if (slot && complete_one(slot, now_ns))
		slot->idle_since_ns = now_ns;
	flight->start_ns = 0;
}

/*
 * The request starts again, so its end was missed. The time of that end is unknown, so neither task
 * nor device gets an idle time from it.
 */
static __noinline void mend_flight(struct wakegov_flight *flight)
{
	struct wakegov_device *device = device_at(flight->device);
	struct wakegov_slot *slot = flight->owner ? slot_of(flight->owner) : NULL;
	__u64 start_ns = flight->start_ns;

	if (start_ns == WAKEGOV_TAKING)
		return;
	lower_depth(device, WAKEGOV_COMPLETED);
	__sync_fetch_and_add(&device->anomalies, 1);
	if (slot)
		complete_one(slot, start_ns);
	flight->start_ns = 0;
}

/* The request's place, in which it is not in flight; NULL: it cannot be followed. */
static inline struct wakegov_flight *place_of(struct request *request)
{
	struct wakegov_flight *flight = find_flight(request);

	if (!flight)
		return claim_flight(request);
	if (flight->start_ns)
		mend_flight(flight);
	return flight;
}
