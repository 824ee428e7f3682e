/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Places of a table of fixed size, found by thread id. What lies in the places is their owner's: an
 * array of as many. A place is kept until it is removed. Full means full: the newcomer is refused
 * and counted, nobody is thrown out. A newcomer gets the lowest free place, so what comes next
 * follows from who is where, and from nothing else. It is one block of memory without pointers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PID_INDEX_NONE UINT32_MAX

struct pid_index;

/* size > 0; init takes zeroed memory of so many bytes. */
size_t pid_index_bytes(uint32_t size);
void pid_index_init(struct pid_index *index, uint32_t size);
/* The same on the heap; NULL without memory. What is not used yet takes none. */
struct pid_index *pid_index_new(uint32_t size);
struct pid_index *pid_index_free(struct pid_index *index);

/* The place of pid, or PID_INDEX_NONE. */
uint32_t pid_index_find(const struct pid_index *index, uint32_t pid);
/* A place for a pid that has none; PID_INDEX_NONE, and counted, when all are taken. */
uint32_t pid_index_add(struct pid_index *index, uint32_t pid);
void pid_index_remove(struct pid_index *index, uint32_t place);

/* Walks the places that are taken: from 0 on, then from one after the last; PID_INDEX_NONE ends. */
uint32_t pid_index_next(const struct pid_index *index, uint32_t from);

bool pid_index_has(const struct pid_index *index, uint32_t place);
uint32_t pid_index_count(const struct pid_index *index);
uint32_t pid_index_size(const struct pid_index *index);
uint64_t pid_index_refused(const struct pid_index *index);

/*
 * After the memory of another index of that size was copied into it: finds out anew all that
 * follows from which pid is at which place. False when a pid is at two.
 */
bool pid_index_relink(struct pid_index *index, uint32_t size);
