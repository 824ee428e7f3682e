/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Places of a table of fixed size, found by thread id. What lies in the places is their owner's: an
 * array of as many. A place is kept until it is removed. Full means full: the newcomer is refused
 * and counted, nobody is thrown out. A newcomer gets the lowest free place, so what comes next
 * follows from who is where, and from nothing else.
 */

#include <stdbool.h>
#include <stdint.h>

#define PID_INDEX_NONE UINT32_MAX

struct pid_index;

/* NULL without memory. size > 0. What is not used yet takes no memory. */
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

/* For core/engine_state.h. False where the place or the pid is none, or is taken. */
bool pid_index_restore(struct pid_index *index, uint32_t place, uint32_t pid);
void pid_index_restore_refused(struct pid_index *index, uint64_t refused);
