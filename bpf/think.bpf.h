/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Think time: a hot task sleeps with no request in flight. A faster clock does not make that
 * shorter.
 */

#include "slot.bpf.h"

static inline bool has_requests(const struct wakegov_slot *slot)
{
	return slot->started != slot->completed;
}

/*
 * A task that waits for its own requests need not be in an I/O wait: io_getevents(2) never is,
 * io_uring may be. It begins to think when the last of them completes. A task in an I/O wait with
 * nothing in flight waits for requests of others: for a flush, a page, or a request that its own
 * was merged into.
 */
static inline void begin_sleep(struct wakegov_slot *slot, bool waits, __u64 now_ns)
{
	if (!waits || !has_requests(slot))
		slot->sleep_ns = now_ns;
}

static inline void end_sleep(struct wakegov_slot *slot)
{
	__u64 from_ns = slot->sleep_ns, now_ns;

	slot->sleep_ns = 0;
	if (has_requests(slot))
		return;
	now_ns = bpf_ktime_get_ns();
	if (from_ns < slot->idle_since_ns)
		from_ns = slot->idle_since_ns;
	if (now_ns > from_ns)
		slot->think_ns += now_ns - from_ns;
}
