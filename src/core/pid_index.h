/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Finds the places of a table of fixed size by thread id. The caller has an array of as many
 * elements for its data. A place is kept until it is removed. When all are taken, a new task is
 * refused and counted; no other is replaced. A new task gets the lowest free place, so its place
 * follows from the taken ones alone. The index is one block of memory without pointers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PID_INDEX_NONE UINT32_MAX

struct pid_index;

/* size > 0. pid_index_init() takes this much zeroed memory. */
size_t pid_index_bytes(uint32_t size);
void pid_index_init(struct pid_index *index, uint32_t size);
/* Allocates an index; NULL without memory. Untouched pages take no memory. */
struct pid_index *pid_index_new(uint32_t size);
struct pid_index *pid_index_free(struct pid_index *index);

/* The place of pid, or PID_INDEX_NONE. */
uint32_t pid_index_find(const struct pid_index *index, uint32_t pid);
/* Adds a pid that has no place; PID_INDEX_NONE, and counted, when all are taken. */
uint32_t pid_index_add(struct pid_index *index, uint32_t pid);
void pid_index_remove(struct pid_index *index, uint32_t place);

/* The first taken place from `from` on, or PID_INDEX_NONE. */
uint32_t pid_index_next(const struct pid_index *index, uint32_t from);

bool pid_index_has(const struct pid_index *index, uint32_t place);
uint32_t pid_index_count(const struct pid_index *index);
uint32_t pid_index_size(const struct pid_index *index);
uint64_t pid_index_refused(const struct pid_index *index);

/*
 * Call this after the memory of another index of that size was copied into this one: computes
 * everything that follows from the pids of the places. Returns false when a pid has two places.
 */
bool pid_index_relink(struct pid_index *index, uint32_t size);
