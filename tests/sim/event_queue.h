/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What is still to happen, soonest first: a binary heap. Events of the same time come out in the
 * order in which they were put in, so that a run does not depend on the heap's inner order.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_event {
	uint64_t at_ns;
	uint64_t order; /* set by sim_events_add() */
	uint32_t type;
	uint32_t index;	     /* of the CPU, thread, domain, … that it is about */
	uint64_t generation; /* for the owner to tell an event that no longer holds */
};

struct sim_events {
	struct sim_event *heap;
	size_t n, size;
	uint64_t added;
};

void sim_events_deinit(struct sim_events *events);

/* Returns -ENOMEM, or 0. */
int sim_events_add(struct sim_events *events, struct sim_event event);

/* False when nothing is left. */
bool sim_events_take(struct sim_events *events, struct sim_event *ret);
