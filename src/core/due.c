// SPDX-License-Identifier: GPL-2.0-only
#include "core/due.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct due {
	uint32_t size;
	uint32_t n;	  /* no place from there on is used or changed */
	uint8_t *used;	  /* for each place, 0 or 1 … */
	uint8_t *asked;	  /* … so that memchr() can search … */
	uint8_t *changed; /* … are these */
	/* Their number, so that no pass searches for none. */
	uint32_t n_ended;
	uint32_t n_to_forget;
	uint32_t n_with[DUE_TRAITS];
	uint32_t n_in[IO_BOOST_LAPSED + 1]; /* of the followed tasks */
	struct due_key keys[];
};

static const struct due_key nothing = {
	.due_ns = DUE_NEVER,
	.forget_ns = DUE_NEVER,
	.domain = DUE_NOWHERE,
	.other_domain = DUE_NOWHERE,
	.device = DUE_NOWHERE,
	.group = DUE_NOWHERE,
};

struct due *due_new(uint32_t size)
{
	struct due *due = calloc(1, sizeof(*due) + size * sizeof(due->keys[0]));

	if (!due)
		return NULL;
	due->size = size;
	due->used = calloc(3, size);
	if (!due->used)
		return due_free(due);
	due->asked = due->used + size;
	due->changed = due->asked + size;
	return due;
}

struct due *due_free(struct due *due)
{
	if (due)
		free(due->used);
	free(due);
	return NULL;
}

/*
 * Ends the walked part behind the last used place. It stays short, as a new task gets the lowest
 * free place.
 */
static void shorten(struct due *due)
{
	while (due->n && !due->used[due->n - 1] && !due->changed[due->n - 1])
		due->n--;
}

static void count(struct due *due, const struct due_key *key, uint32_t by)
{
	for (uint32_t trait = 0; trait < DUE_TRAITS; trait++)
		due->n_with[trait] += by * (key->traits >> trait & 1);
	due->n_ended += by * key->ended;
	due->n_to_forget += by * (key->forget_ns != DUE_NEVER);
	due->n_in[key->state] += by * key->followed;
}

void due_set(struct due *due, uint32_t place, const struct due_key *key)
{
	assert(place < due->size);
	for (; due->n <= place; due->n++)
		due->keys[due->n] = nothing;
	if (due->used[place] != !!key || (key && due->keys[place].state != key->state))
		due->changed[place] = true;
	count(due, &due->keys[place], -1);
	due->keys[place] = key ? *key : nothing;
	count(due, &due->keys[place], 1);
	due->used[place] = !!key;
	due->asked[place] &= !!key;
	if (due->asked[place])
		due->keys[place].due_ns = DUE_NEVER;
	shorten(due);
}

static bool is_one(const struct due *due, uint32_t place, enum due_which which, uint16_t value)
{
	const struct due_key *key = &due->keys[place];

	switch (which) {
	case DUE_ENDED:
		return key->ended;
	case DUE_IN_DOMAIN:
		return key->domain == value || key->other_domain == value;
	case DUE_ON_DEVICE:
		return key->device == value;
	case DUE_IN_GROUP:
		return key->group == value;
	case DUE_ASKED:
		break; /* in no key */
	}
	return false;
}

/* The first place from `from` on where the flag is set. */
static uint32_t find_flag(const struct due *due, const uint8_t *flags, uint32_t from)
{
	const uint8_t *found = from < due->n ? memchr(flags + from, 1, due->n - from) : NULL;

	return found ? found - flags : DUE_NONE;
}

uint32_t due_find(const struct due *due, enum due_which which, uint16_t value, uint32_t from)
{
	if (which == DUE_ASKED)
		return find_flag(due, due->asked, from);
	if (which == DUE_ENDED && !due->n_ended)
		return DUE_NONE;
	for (uint32_t i = from; i < due->n; i++)
		if (is_one(due, i, which, value))
			return i;
	return DUE_NONE;
}

void due_ask(struct due *due, uint64_t now_ns)
{
	for (uint32_t i = 0; i < due->n; i++) {
		if (due->keys[i].due_ns > now_ns)
			continue;
		due->asked[i] = true;
		due->keys[i].due_ns = DUE_NEVER;
	}
}

void due_end_asked(struct due *due, uint32_t place)
{
	due->asked[place] = false;
}

uint64_t due_next_ns(const struct due *due)
{
	uint64_t next_ns = DUE_NEVER;

	for (uint32_t i = 0; i < due->n; i++)
		if (due->keys[i].due_ns < next_ns)
			next_ns = due->keys[i].due_ns;
	return next_ns;
}

uint32_t due_to_forget(const struct due *due, uint64_t now_ns)
{
	uint64_t first_ns = DUE_NEVER;
	uint32_t first = DUE_NONE;

	for (uint32_t i = 0; due->n_to_forget && i < due->n; i++)
		if (due->keys[i].forget_ns < first_ns) {
			first_ns = due->keys[i].forget_ns;
			first = i;
		}
	return first_ns <= now_ns ? first : DUE_NONE;
}

uint32_t due_take_changed(struct due *due)
{
	uint32_t place = find_flag(due, due->changed, 0);

	if (place == DUE_NONE)
		return DUE_NONE;
	due->changed[place] = false;
	shorten(due);
	return place;
}

bool due_has(const struct due *due, uint32_t traits)
{
	for (uint32_t trait = 0; trait < DUE_TRAITS; trait++)
		if (traits >> trait & 1 && due->n_with[trait])
			return true;
	return false;
}

uint32_t due_count_in(const struct due *due, enum io_boost_state state)
{
	return due->n_in[state];
}
