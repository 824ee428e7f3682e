// SPDX-License-Identifier: GPL-2.0-only
#include "core/pid_index.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

struct place {
	uint32_t pid;  /* 0: free */
	uint32_t next; /* in the bucket or the free list; place + 1, 0 ends */
};

struct pid_index {
	uint32_t size;
	uint32_t count;
	uint32_t used; /* places ever taken: a walk ends there */
	uint32_t free;
	uint64_t refused;
	uint32_t *buckets; /* size of them */
	struct place places[];
};

struct pid_index *pid_index_new(uint32_t size)
{
	struct pid_index *index = calloc(1, sizeof(*index) + size * sizeof(index->places[0]));

	assert(size > 0);
	if (!index)
		return NULL;
	index->size = size;
	index->buckets = calloc(size, sizeof(*index->buckets));
	return index->buckets ? index : pid_index_free(index);
}

struct pid_index *pid_index_free(struct pid_index *index)
{
	if (index)
		free(index->buckets);
	free(index);
	return NULL;
}

static uint32_t *bucket_of(const struct pid_index *index, uint32_t pid)
{
	return &index->buckets[pid % index->size];
}

uint32_t pid_index_find(const struct pid_index *index, uint32_t pid)
{
	for (uint32_t i = *bucket_of(index, pid); i; i = index->places[i - 1].next)
		if (index->places[i - 1].pid == pid)
			return i - 1;
	return PID_INDEX_NONE;
}

static uint32_t take_place(struct pid_index *index)
{
	uint32_t place;

	if (index->free) {
		place = index->free - 1;
		index->free = index->places[place].next;
		return place;
	}
	return index->used < index->size ? index->used++ : PID_INDEX_NONE;
}

uint32_t pid_index_add(struct pid_index *index, uint32_t pid)
{
	uint32_t *bucket = bucket_of(index, pid);
	uint32_t place = take_place(index);

	assert(pid && pid_index_find(index, pid) == PID_INDEX_NONE);
	if (place == PID_INDEX_NONE) {
		index->refused++;
		return place;
	}
	index->places[place] = (struct place){ .pid = pid, .next = *bucket };
	*bucket = place + 1;
	index->count++;
	return place;
}

void pid_index_remove(struct pid_index *index, uint32_t place)
{
	uint32_t *link = bucket_of(index, index->places[place].pid);

	while (*link != place + 1)
		link = &index->places[*link - 1].next;
	*link = index->places[place].next;
	index->places[place] = (struct place){ .next = index->free };
	index->free = place + 1;
	index->count--;
}

uint32_t pid_index_next(const struct pid_index *index, uint32_t from)
{
	for (uint32_t place = from; place < index->used; place++)
		if (index->places[place].pid)
			return place;
	return PID_INDEX_NONE;
}

uint32_t pid_index_count(const struct pid_index *index)
{
	return index->count;
}

uint32_t pid_index_size(const struct pid_index *index)
{
	return index->size;
}

uint64_t pid_index_refused(const struct pid_index *index)
{
	return index->refused;
}
