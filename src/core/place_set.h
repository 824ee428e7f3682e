/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A set of places of a table: a bit for each, and a bit for each 64 of them that are not all clear.
 * To add and to take away is O(1); a walk is in ascending order, and costs what is in the set.
 */

#include <stdbool.h>
#include <stdint.h>

#define PLACE_SET_NONE UINT32_MAX

struct place_set;

/* Empty, for places below size. NULL without memory. What is not used yet takes none. */
struct place_set *place_set_new(uint32_t size);
struct place_set *place_set_free(struct place_set *set);

void place_set_add(struct place_set *set, uint32_t place);
/* Harmless for one that is not in it. */
void place_set_remove(struct place_set *set, uint32_t place);
bool place_set_has(const struct place_set *set, uint32_t place);

/*
 * Walks the set: from 0 on, then from one after the last; PLACE_SET_NONE ends. What is added or
 * removed on the way counts from there on.
 */
uint32_t place_set_next(const struct place_set *set, uint32_t from);

#define place_set_for_each(set, place)                                           \
	for (uint32_t place = place_set_next(set, 0); (place) != PLACE_SET_NONE; \
	     place = place_set_next(set, (place) + 1))
