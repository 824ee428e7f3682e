// SPDX-License-Identifier: GPL-2.0-only
#include "core/agenda.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

struct entry {
	uint64_t at_ns;
	uint32_t place;
};

struct agenda {
	uint32_t size;
	uint32_t n;
	uint32_t *slots; /* of each place: its entry's index + 1; 0: it has none */
	struct entry entries[];
};

struct agenda *agenda_new(uint32_t size)
{
	struct agenda *agenda = calloc(1, sizeof(*agenda) + size * sizeof(agenda->entries[0]));

	if (!agenda)
		return NULL;
	agenda->size = size;
	agenda->slots = calloc(size, sizeof(*agenda->slots));
	return agenda->slots ? agenda : agenda_free(agenda);
}

struct agenda *agenda_free(struct agenda *agenda)
{
	if (agenda)
		free(agenda->slots);
	free(agenda);
	return NULL;
}

static bool comes_before(const struct entry *a, const struct entry *b)
{
	return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->place < b->place);
}

static void put(struct agenda *agenda, uint32_t i, const struct entry *entry)
{
	agenda->entries[i] = *entry;
	agenda->slots[entry->place] = i + 1;
}

/* The entry belongs at i, which is free, or above. Returns where it may lie. */
static uint32_t sift_up(struct agenda *agenda, uint32_t i, const struct entry *entry)
{
	while (i > 0 && comes_before(entry, &agenda->entries[(i - 1) / 2])) {
		put(agenda, i, &agenda->entries[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	return i;
}

/* … or below. */
static uint32_t sift_down(struct agenda *agenda, uint32_t i, const struct entry *entry)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < agenda->n &&
		    comes_before(&agenda->entries[child + 1], &agenda->entries[child]))
			child++;
		if (child >= agenda->n || comes_before(entry, &agenda->entries[child]))
			return i;
		put(agenda, i, &agenda->entries[child]);
		i = child;
	}
}

static void settle(struct agenda *agenda, uint32_t i, struct entry entry)
{
	put(agenda, sift_down(agenda, sift_up(agenda, i, &entry), &entry), &entry);
}

/* The last entry takes its place. */
static void remove_at(struct agenda *agenda, uint32_t i)
{
	agenda->slots[agenda->entries[i].place] = 0;
	if (i != --agenda->n)
		settle(agenda, i, agenda->entries[agenda->n]);
}

void agenda_set(struct agenda *agenda, uint32_t place, uint64_t at_ns)
{
	uint32_t slot;

	assert(place < agenda->size);
	slot = agenda->slots[place];
	if (at_ns != AGENDA_NEVER)
		settle(agenda, slot ? slot - 1 : agenda->n++,
		       (struct entry){ .at_ns = at_ns, .place = place });
	else if (slot)
		remove_at(agenda, slot - 1);
}

uint32_t agenda_first(const struct agenda *agenda)
{
	return agenda->n ? agenda->entries[0].place : AGENDA_NONE;
}

uint64_t agenda_first_ns(const struct agenda *agenda)
{
	return agenda->n ? agenda->entries[0].at_ns : AGENDA_NEVER;
}
