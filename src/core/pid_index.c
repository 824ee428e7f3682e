// SPDX-License-Identifier: GPL-2.0-only
/* A hash table of fixed size from thread ids to places, which never moves an entry. */
#include "core/pid_index.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct place {
	uint32_t pid;  /* 0: free */
	uint32_t next; /* in the bucket; place + 1, 0 ends */
};

struct pid_index {
	uint32_t size;
	uint32_t count;
	uint32_t used;	      /* end of the places ever used, and of walks */
	uint32_t lowest_free; /* no place below is free */
	uint64_t refused;
	struct place places[]; /* then the buckets, as many */
};

size_t pid_index_bytes(uint32_t size)
{
	return (sizeof(struct pid_index) + size * (sizeof(struct place) + sizeof(uint32_t)) + 7) &
	       ~(size_t)7;
}

void pid_index_init(struct pid_index *index, uint32_t size)
{
	assert(size > 0);
	index->size = size;
}

struct pid_index *pid_index_new(uint32_t size)
{
	struct pid_index *index = calloc(1, pid_index_bytes(size));

	if (index)
		pid_index_init(index, size);
	return index;
}

struct pid_index *pid_index_free(struct pid_index *index)
{
	free(index);
	return NULL;
}

static uint32_t *bucket_of(const struct pid_index *index, uint32_t pid)
{
	return (uint32_t *)&index->places[index->size] + pid % index->size;
}

uint32_t pid_index_find(const struct pid_index *index, uint32_t pid)
{
	for (uint32_t i = *bucket_of(index, pid); i; i = index->places[i - 1].next)
		if (index->places[i - 1].pid == pid)
			return i - 1;
	return PID_INDEX_NONE;
}

static uint32_t find_free(struct pid_index *index)
{
	uint32_t place = index->lowest_free;

	while (place < index->used && index->places[place].pid)
		place++;
	index->lowest_free = place;
	return place < index->size ? place : PID_INDEX_NONE;
}

static void fill_place(struct pid_index *index, uint32_t place, uint32_t pid)
{
	uint32_t *bucket = bucket_of(index, pid);

	index->places[place] = (struct place){ .pid = pid, .next = *bucket };
	*bucket = place + 1;
	if (index->used <= place)
		index->used = place + 1;
	index->count++;
}

uint32_t pid_index_add(struct pid_index *index, uint32_t pid)
{
	uint32_t place = find_free(index);

	assert(pid && pid_index_find(index, pid) == PID_INDEX_NONE);
	if (place == PID_INDEX_NONE)
		index->refused++;
	else
		fill_place(index, place, pid);
	return place;
}

bool pid_index_relink(struct pid_index *index, uint32_t size)
{
	*index = (struct pid_index){ .size = size, .refused = index->refused };
	memset(bucket_of(index, 0), 0, size * sizeof(uint32_t));
	for (uint32_t place = 0; place < size; place++) {
		uint32_t pid = index->places[place].pid;

		if (!pid)
			continue;
		if (pid_index_find(index, pid) != PID_INDEX_NONE)
			return false;
		fill_place(index, place, pid);
	}
	return true;
}

void pid_index_remove(struct pid_index *index, uint32_t place)
{
	uint32_t *link = bucket_of(index, index->places[place].pid);

	while (*link != place + 1)
		link = &index->places[*link - 1].next;
	*link = index->places[place].next;
	index->places[place] = (struct place){ 0 };
	if (place < index->lowest_free)
		index->lowest_free = place;
	index->count--;
}

uint32_t pid_index_next(const struct pid_index *index, uint32_t from)
{
	for (uint32_t place = from; place < index->used; place++)
		if (index->places[place].pid)
			return place;
	return PID_INDEX_NONE;
}

bool pid_index_has(const struct pid_index *index, uint32_t place)
{
	return place < index->size && index->places[place].pid;
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
