// SPDX-License-Identifier: GPL-2.0-only
#include "core/place_set.h"

#include <assert.h>
#include <stdlib.h>

#define BITS 64

struct place_set {
	uint32_t size;
	uint64_t *used; /* a bit for each of words: it has one that is set */
	uint64_t words[];
};

static uint32_t words_for(uint32_t n)
{
	return (n + BITS - 1) / BITS;
}

struct place_set *place_set_new(uint32_t size)
{
	struct place_set *set;

	set = calloc(1, sizeof(*set) + words_for(size) * sizeof(set->words[0]));
	if (!set)
		return NULL;
	set->size = size;
	set->used = calloc(words_for(words_for(size)), sizeof(*set->used));
	return set->used ? set : place_set_free(set);
}

struct place_set *place_set_free(struct place_set *set)
{
	if (set)
		free(set->used);
	free(set);
	return NULL;
}

void place_set_add(struct place_set *set, uint32_t place)
{
	uint32_t word = place / BITS;

	assert(place < set->size);
	set->words[word] |= 1ULL << place % BITS;
	set->used[word / BITS] |= 1ULL << word % BITS;
}

void place_set_remove(struct place_set *set, uint32_t place)
{
	uint32_t word = place / BITS;

	assert(place < set->size);
	set->words[word] &= ~(1ULL << place % BITS);
	if (!set->words[word])
		set->used[word / BITS] &= ~(1ULL << word % BITS);
}

bool place_set_has(const struct place_set *set, uint32_t place)
{
	return set->words[place / BITS] & 1ULL << place % BITS;
}

/* The first bit from one on that is set, of as many words; PLACE_SET_NONE: none is. */
static uint32_t next_bit(const uint64_t *words, uint32_t n_words, uint32_t from)
{
	uint64_t mask = UINT64_MAX << from % BITS;

	for (uint32_t i = from / BITS; i < n_words; i++, mask = UINT64_MAX)
		if (words[i] & mask)
			return i * BITS + __builtin_ctzll(words[i] & mask);
	return PLACE_SET_NONE;
}

uint32_t place_set_next(const struct place_set *set, uint32_t from)
{
	uint32_t n_words = words_for(set->size), word = from / BITS, place;

	if (from >= set->size)
		return PLACE_SET_NONE;
	place = next_bit(set->words, word + 1, from);
	if (place != PLACE_SET_NONE)
		return place;
	word = next_bit(set->used, words_for(n_words), word + 1);
	return word == PLACE_SET_NONE ? PLACE_SET_NONE
				      : next_bit(set->words, word + 1, word * BITS);
}
