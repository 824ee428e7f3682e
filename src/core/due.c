// SPDX-License-Identifier: GPL-2.0-only
/* A tree of summaries over the tasks' keys, so that a round looks only at tasks that are due. */
#include "core/due.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK  16 /* places of a summary, and summaries of one of the next level */
#define LEVELS 9  /* enough for 2^32 places */

/* The contents of a block of places: the earliest times, and sets of values as bits. */
struct summary {
	uint64_t due_ns;
	uint64_t forget_ns;
	uint64_t domains; /* modulo 64, as more may be there */
	uint64_t devices;
	uint64_t groups;
	uint64_t marks; /* of enum due_which */
};

struct due {
	uint32_t n_levels;
	/* Level 0 has the places, the levels from 1 on the summaries; the last has one. */
	uint32_t n[LEVELS];
	struct summary *summaries[LEVELS];
	struct due_key *keys;
	/* Only the number of these is asked for. */
	uint32_t n_with[DUE_TRAITS];
	uint32_t n_in[IO_BOOST_LAPSED + 1]; /* of the followed tasks */
};

static const struct summary empty = { .due_ns = DUE_NEVER, .forget_ns = DUE_NEVER };

struct due *due_new(uint32_t size)
{
	struct due *due = calloc(1, sizeof(*due));

	if (!due)
		return NULL;
	due->keys = calloc(size ?: 1, sizeof(due->keys[0]));
	if (!due->keys)
		return due_free(due);
	for (uint32_t i = 0; i < size; i++)
		due->keys[i] = DUE_NOTHING;
	due->n[0] = size;
	for (uint32_t level = 1; due->n[level - 1] > 1 || level == 1; level++) {
		uint32_t n = due->n[level - 1] / BLOCK + 1; /* at least one, also of no place */

		due->n[level] = n;
		due->n_levels = level;
		due->summaries[level] = calloc(n, sizeof(struct summary));
		if (!due->summaries[level])
			return due_free(due);
		for (uint32_t i = 0; i < n; i++)
			due->summaries[level][i] = empty;
	}
	return due;
}

struct due *due_free(struct due *due)
{
	if (!due)
		return NULL;
	for (uint32_t level = 1; level < LEVELS; level++)
		free(due->summaries[level]);
	free(due->keys);
	free(due);
	return NULL;
}

/* The value as a bit; none for the value that stands for nothing. */
static uint64_t bit_of(uint16_t value, uint16_t nothing)
{
	return value == nothing ? 0 : 1ULL << value % 64;
}

/* When to sample a followed task, and when to drop the entry of one that is not followed. */
static uint64_t due_ns(const struct due_key *key)
{
	return key->followed ? key->at_ns : DUE_NEVER;
}

static uint64_t forget_ns(const struct due_key *key)
{
	return key->followed ? DUE_NEVER : key->at_ns;
}

static struct summary summary_of(const struct due_key *key)
{
	return (struct summary){
		.due_ns = due_ns(key),
		.forget_ns = forget_ns(key),
		.domains = bit_of(key->domain, DUE_NOWHERE) |
			   bit_of(key->other_domain, DUE_NOWHERE),
		.devices = bit_of(key->device, IO_BOOST_NO_DEVICE),
		.groups = bit_of(key->group, IO_BOOST_NO_GROUP),
		.marks = (uint64_t)key->ended << DUE_ENDED | (uint64_t)key->news << DUE_NEWS,
	};
}

static struct summary summarise(const struct due *due, uint32_t level, uint32_t block)
{
	uint32_t from = block * BLOCK;
	uint32_t to = due->n[level] - from < BLOCK ? due->n[level] : from + BLOCK;
	struct summary sum = empty;

	for (uint32_t i = from; i < to; i++) {
		struct summary more = level ? due->summaries[level][i] : summary_of(&due->keys[i]);

		sum.due_ns = more.due_ns < sum.due_ns ? more.due_ns : sum.due_ns;
		sum.forget_ns = more.forget_ns < sum.forget_ns ? more.forget_ns : sum.forget_ns;
		sum.domains |= more.domains;
		sum.devices |= more.devices;
		sum.groups |= more.groups;
		sum.marks |= more.marks;
	}
	return sum;
}

/* Brings the summaries of a place up to date, as far as they change. */
static void update(struct due *due, uint32_t place)
{
	for (uint32_t level = 1, i = place / BLOCK; level <= due->n_levels; level++, i /= BLOCK) {
		struct summary sum = summarise(due, level - 1, i);

		if (!memcmp(&due->summaries[level][i], &sum, sizeof(sum)))
			return;
		due->summaries[level][i] = sum;
	}
}

static void count(struct due *due, const struct due_key *key, uint32_t by)
{
	for (uint32_t trait = 0; trait < DUE_TRAITS; trait++)
		due->n_with[trait] += by * (key->traits >> trait & 1);
	due->n_in[key->state] += by * key->followed;
}

void due_set(struct due *due, uint32_t place, const struct due_key *key)
{
	struct due_key *there = &due->keys[place];
	struct summary before, after;
	uint8_t popped = key ? (there->popped ?: 1) : 0;
	bool news;

	assert(place < due->n[0]);
	before = summary_of(there);
	news = there->news || !there->popped != !key || (key && there->state != key->state);
	count(due, there, -1);
	*there = key ? *key : DUE_NOTHING;
	count(due, there, 1);
	there->news = news;
	there->popped = popped;
	after = summary_of(there);
	if (memcmp(&before, &after, sizeof(before)) != 0)
		update(due, place);
}

static bool is_one(const struct due_key *key, enum due_which which, uint64_t value)
{
	switch (which) {
	case DUE_BY:
		return due_ns(key) <= value;
	case DUE_TO_FORGET_BY:
		return forget_ns(key) <= value;
	case DUE_IN_DOMAIN:
		return key->domain == value || key->other_domain == value;
	case DUE_ON_DEVICE:
		return key->device == value;
	case DUE_IN_GROUP:
		return key->group == value;
	case DUE_ENDED:
		return key->ended;
	case DUE_NEWS:
		return key->news;
	}
	return false;
}

static bool may_have(const struct summary *sum, enum due_which which, uint64_t value)
{
	switch (which) {
	case DUE_BY:
		return sum->due_ns <= value;
	case DUE_TO_FORGET_BY:
		return sum->forget_ns <= value;
	case DUE_IN_DOMAIN:
		return sum->domains & bit_of(value, DUE_NOWHERE);
	case DUE_ON_DEVICE:
		return sum->devices & bit_of(value, IO_BOOST_NO_DEVICE);
	case DUE_IN_GROUP:
		return sum->groups & bit_of(value, IO_BOOST_NO_GROUP);
	case DUE_ENDED:
	case DUE_NEWS:
		return sum->marks & 1ULL << which;
	}
	return false;
}

/* From the start of a block goes up to its summary, which says whether to search the block. */
static void skip_blocks(const struct due *due, uint32_t *level, uint32_t *i)
{
	for (; *i % BLOCK == 0 && *level < due->n_levels; *i /= BLOCK)
		(*level)++;
}

uint32_t due_find(const struct due *due, enum due_which which, uint64_t value, uint32_t from)
{
	uint32_t level = 0, i = from;

	skip_blocks(due, &level, &i);
	while (i < due->n[level]) {
		if (level ? may_have(&due->summaries[level][i], which, value)
			  : is_one(&due->keys[i], which, value)) {
			if (!level)
				return i;
			level--;
			i *= BLOCK;
		} else {
			i++;
			skip_blocks(due, &level, &i);
		}
	}
	return DUE_NONE;
}

uint64_t due_next_ns(const struct due *due)
{
	return due->summaries[due->n_levels]->due_ns;
}

uint32_t due_to_forget(const struct due *due, uint64_t now_ns)
{
	uint64_t first_ns = due->summaries[due->n_levels]->forget_ns;

	if (first_ns == DUE_NEVER || first_ns > now_ns)
		return DUE_NONE;
	return due_find(due, DUE_TO_FORGET_BY, first_ns, 0);
}

uint32_t due_pop_news(struct due *due, int *ret_before)
{
	uint32_t place = due_find(due, DUE_NEWS, 0, 0);
	struct due_key *key;

	if (place == DUE_NONE)
		return DUE_NONE;
	key = &due->keys[place];
	*ret_before = key->popped < 2 ? -1 : key->popped - 2;
	if (key->popped)
		key->popped = key->state + 2;
	key->news = false;
	update(due, place);
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
