/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which places of a table are due, and when the next one is: a binary heap of moments, in which
 * each place knows where it lies. Of those with the same moment the lowest place comes first, so
 * what comes next follows from what is in it, and from nothing else.
 */

#include <stdint.h>

#define AGENDA_NEVER UINT64_MAX
#define AGENDA_NONE  UINT32_MAX

struct agenda;

/* For places below size, none of which is in it. NULL without memory. */
struct agenda *agenda_new(uint32_t size);
struct agenda *agenda_free(struct agenda *agenda);

/* The place is due then, and not when it was before; AGENDA_NEVER takes it out. O(log n). */
void agenda_set(struct agenda *agenda, uint32_t place, uint64_t at_ns);

/* The place that is due first, or AGENDA_NONE. */
uint32_t agenda_first(const struct agenda *agenda);
/* When that is, or AGENDA_NEVER. */
uint64_t agenda_first_ns(const struct agenda *agenda);
