/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A 32-byte key for each task of the core's table, with everything that a round looks for in all
 * tasks, so that a round passes over the keys and not over the tasks. With a hundred tasks this is
 * as fast as the queues and sets that it replaced; with a thousand it takes 9 us more per round.
 *
 * A key follows from its task: set it again after each change of the task. Walks are in the order
 * of the table.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/io_boost.h"

#define DUE_NEVER   UINT64_MAX
#define DUE_NOWHERE UINT16_MAX
#define DUE_NONE    UINT32_MAX

/* Properties of a task, as bits. */
enum due_trait {
	DUE_LIVE,    /* the boost is not over */
	DUE_NEW,     /* no tracing period has ended since the task came */
	DUE_ASKS,    /* the task is being measured or tried */
	DUE_UNSEEN,  /* the present tracing period has no window of the task yet */
	DUE_CHANGED, /* results may be out of date */
	DUE_TRAITS,
};

struct due_key {
	uint64_t due_ns;       /* when to sample the task, or DUE_NEVER */
	uint64_t forget_ns;    /* when to drop its entry, or DUE_NEVER */
	uint16_t domain;       /* where it asks for a boost, or DUE_NOWHERE … */
	uint16_t other_domain; /* … and where it came from, while it moves to and fro */
	uint16_t device;       /* or DUE_NOWHERE, as IO_BOOST_NO_DEVICE is here … */
	uint16_t group;	       /* … and IO_BOOST_NO_GROUP */
	uint8_t traits;
	uint8_t state; /* enum io_boost_state */
	bool ended;    /* its handle must be given back */
	bool followed; /* its handle has not been given back */
};

struct due;

/* For tables of `size` places; empty. Returns NULL without memory. */
struct due *due_new(uint32_t size);
struct due *due_free(struct due *due);

/* Sets the key of the task at the place; NULL: the task is gone. */
void due_set(struct due *due, uint32_t place, const struct due_key *key);

/*
 * Which tasks: those that due_ask() took, those that ended, or those with the given value in their
 * key.
 */
enum due_which { DUE_ASKED, DUE_ENDED, DUE_IN_DOMAIN, DUE_ON_DEVICE, DUE_IN_GROUP };

/* The first of these from the place `from` on, or DUE_NONE. */
uint32_t due_find(const struct due *due, enum due_which which, uint16_t value, uint32_t from);

/*
 * Takes the tasks that are due at now_ns. The walk visits each once, even if its key is set
 * meanwhile. Call due_end_asked() after the walk and before the next due_ask().
 */
void due_ask(struct due *due, uint64_t now_ns);
void due_end_asked(struct due *due, uint32_t place);

/* When the first other task is due. */
uint64_t due_next_ns(const struct due *due);
/* The first task whose entry is to be dropped by now_ns, or DUE_NONE. */
uint32_t due_to_forget(const struct due *due, uint64_t now_ns);

/*
 * A place whose task came, went or changed its state since the place was last returned, or
 * DUE_NONE. Clears the mark.
 */
uint32_t due_take_changed(struct due *due);

/* Whether a task has one of the traits, as bits. */
bool due_has(const struct due *due, uint32_t traits);
/* The number of followed tasks in that state. */
uint32_t due_count_in(const struct due *due, enum io_boost_state state);
