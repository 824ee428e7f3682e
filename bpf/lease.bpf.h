/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Leases: a boost ends a moment after its task's last I/O. While the boost is settled that moment
 * is all that the daemon needs to hear of, and a timer here finds it, so the daemon need not look.
 */

#include "think.bpf.h"

struct lease {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAKEGOV_SLOTS); /* by the index of the slot */
	__type(key, __u32);
	__type(value, struct lease);
} leases SEC(".maps");

/* Requests that are only counted end unseen: nothing says that one is in flight. */
static inline __u64 last_io_ns(const struct wakegov_slot *slot, __u64 now_ns)
{
	const struct wakegov_cpu *cpu = this_cpu();

	if (cpu && !cpu->count_only && has_requests(slot))
		return now_ns;
	return wakegov_slot_last_ns(slot);
}

/* Told once; a full ring leaves the lease watched, and it is tried again after as long a time. */
static int on_lease(void *map, __u32 *index, struct lease *lease)
{
	struct wakegov_slot *slot = slot_at(*index);
	__u64 lease_ns, now_ns, end_ns;

	lease_ns = slot ? slot->lease_ns : 0;
	if (!lease_ns || slot->exited)
		return 0;
	now_ns = bpf_ktime_get_ns();
	end_ns = last_io_ns(slot, now_ns) + lease_ns;
	if (end_ns > now_ns)
		lease_ns = end_ns - now_ns;
	else if (tell(WAKEGOV_RECORD_TASK, slot->cpu, *index)) {
		slot->lease_ns = 0;
		return 0;
	}
	bpf_timer_start(&lease->timer, lease_ns, 0);
	return 0;
}

/* Run by the daemon, where a timer may be had: programs of wake-ups run under locks. */
SEC("syscall")
int watch_lease(struct wakegov_watch *watch)
{
	__u32 index = watch->slot;
	struct lease *lease = bpf_map_lookup_elem(&leases, &index);

	if (!lease)
		return 0;
	bpf_timer_init(&lease->timer, &leases, CLOCK_MONOTONIC); /* or it has been, before */
	bpf_timer_set_callback(&lease->timer, on_lease);
	return bpf_timer_start(&lease->timer, watch->lease_ns, 0);
}
