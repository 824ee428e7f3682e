// SPDX-License-Identifier: GPL-2.0-only
#include "sim/event_queue.h"

#include <errno.h>
#include <stdlib.h>

void sim_events_deinit(struct sim_events *events)
{
	free(events->heap);
	*events = (struct sim_events){};
}

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	return a->order < b->order;
}

static int grow(struct sim_events *events)
{
	size_t size = events->size ? 2 * events->size : 64;
	struct sim_event *heap = reallocarray(events->heap, size, sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	events->heap = heap;
	events->size = size;
	return 0;
}

int sim_events_add(struct sim_events *events, struct sim_event event)
{
	struct sim_event *heap;
	size_t i;

	if (events->n == events->size && grow(events) < 0)
		return -ENOMEM;
	heap = events->heap;
	event.order = events->added++;
	for (i = events->n++; i > 0; i = (i - 1) / 2) {
		if (!is_before(&event, &heap[(i - 1) / 2]))
			break;
		heap[i] = heap[(i - 1) / 2];
	}
	heap[i] = event;
	return 0;
}

bool sim_events_take(struct sim_events *events, struct sim_event *ret)
{
	struct sim_event *heap = events->heap;
	struct sim_event last;
	size_t i = 0, child;

	if (!events->n)
		return false;
	*ret = heap[0];
	last = heap[--events->n];
	while ((child = 2 * i + 1) < events->n) {
		if (child + 1 < events->n && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return true;
}
