// SPDX-License-Identifier: GPL-2.0-only
/* The last decisions in memory. A new one takes the place of the oldest. */
#include "daemon/history/past.h"

#include <stdlib.h>
#include <string.h>

struct decision_ring *decision_ring_new(uint32_t size)
{
	struct decision_ring *ring = calloc(1, sizeof(*ring) + size * sizeof(ring->entries[0]));

	if (ring)
		ring->size = size;
	return ring;
}

void decision_ring_add(struct decision_ring *ring, const struct change *change)
{
	ring->entries[ring->total % ring->size] = (struct decision_entry){ ring->total, *change };
	ring->total++;
}

const struct decision_entry *decision_ring_at(const struct decision_ring *ring, uint32_t i)
{
	uint64_t first = ring->total > ring->size ? ring->total - ring->size : 0;

	return first + i < ring->total ? &ring->entries[(first + i) % ring->size] : NULL;
}

const struct change *decision_ring_find(const struct decision_ring *ring, uint32_t domain,
					uint64_t at_ns)
{
	const struct decision_entry *entry;
	const struct change *found = NULL;

	for (uint32_t i = 0; (entry = decision_ring_at(ring, i)); i++)
		if (entry->change.decision.domain == domain &&
		    entry->change.decision.now_ns <= at_ns)
			found = &entry->change;
	return found;
}
