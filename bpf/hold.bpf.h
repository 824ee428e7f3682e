/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A boost ends a hold time after its task's last I/O. A timer for each slot waits for that moment
 * and emits a record, so the daemon need not wake up to check.
 */

#include "bytes.bpf.h"

struct hold {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAKEGOV_SLOTS); /* by the index of the slot */
	__type(key, __u32);
	__type(value, struct hold);
} holds SEC(".maps");

/* Emits one record. If the ring buffer is full, tries again after another hold time. */
static int on_hold_end(void *map, __u32 *index, struct hold *hold)
{
	struct wakegov_slot *slot = slot_at(*index);
	__u64 hold_ns = slot->hold_ns, now_ns, end_ns;

	if (!hold_ns || !slot->live)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (settings.by_bytes && is_live(slot))
		read_bytes(slot, now_ns);
	end_ns = wakegov_slot_last_ns(slot) + hold_ns;
	if (end_ns > now_ns)
		hold_ns = end_ns - now_ns;
	else if (emit(WAKEGOV_RECORD_TASK, slot->cpu, *index)) {
		slot->hold_ns = 0;
		return 0;
	}
	bpf_timer_start(&hold->timer, hold_ns, 0);
	return 0;
}

/* The daemon runs this: the programs at wake-ups run under locks, and cannot set up a timer. */
SEC("syscall")
int watch_hold(struct wakegov_watch *watch)
{
	__u32 index = watch->slot;
	struct hold *hold = bpf_map_lookup_elem(&holds, &index);

	if (!hold)
		return 0;
	bpf_timer_init(&hold->timer, &holds, CLOCK_MONOTONIC); /* fails if it was done before */
	bpf_timer_set_callback(&hold->timer, on_hold_end);
	return bpf_timer_start(&hold->timer, watch->hold_ns, 0);
}
