/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A 16-byte key for each task of the core's table, with everything that a round looks for in all
 * tasks. Each block of keys has a summary, and so has each block of summaries. A round skips the
 * blocks that cannot have what it looks for. With 1,000 tasks a decision took ten times as long by
 * a pass over all keys.
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
	/* When to sample the task, or, if it is not followed, to drop its entry; or DUE_NEVER. */
	uint64_t at_ns;
	uint16_t domain;       /* where it asks for a boost, or DUE_NOWHERE … */
	uint16_t other_domain; /* … and where it came from, while it moves to and fro */
	uint8_t device;	       /* or IO_BOOST_NO_DEVICE */
	uint8_t group;	       /* or IO_BOOST_NO_GROUP */
	uint8_t traits : DUE_TRAITS;
	bool ended : 1;	   /* its handle must be given back */
	bool followed : 1; /* its handle has not been given back */
	/* Set by due.c: the task came, went or changed its state; and what was popped of that. */
	bool news : 1;
	uint8_t state : 4;  /* enum io_boost_state */
	uint8_t popped : 4; /* 0: the place is free; 1: nothing; else the state, + 2 */
};

#define DUE_NOTHING                                      \
	((struct due_key){ .at_ns = DUE_NEVER,           \
			   .domain = DUE_NOWHERE,        \
			   .other_domain = DUE_NOWHERE,  \
			   .device = IO_BOOST_NO_DEVICE, \
			   .group = IO_BOOST_NO_GROUP })

_Static_assert(sizeof(struct due_key) == 16, "as the cost of a walk depends on it");

struct due;

/* For tables of `size` places; empty. Returns NULL without memory. */
struct due *due_new(uint32_t size);
struct due *due_free(struct due *due);

/* Sets the key of the task at the place; NULL: the task is gone. */
void due_set(struct due *due, uint32_t place, const struct due_key *key);

/*
 * Which tasks: those that are due, or to be forgotten, by the value in ns; those with the value in
 * their key; or those with a mark.
 */
enum due_which {
	DUE_BY,
	DUE_TO_FORGET_BY,
	DUE_IN_DOMAIN,
	DUE_ON_DEVICE,
	DUE_IN_GROUP,
	DUE_ENDED,
	DUE_NEWS,
};

/* The first of these from the place `from` on, or DUE_NONE. */
uint32_t due_find(const struct due *due, enum due_which which, uint64_t value, uint32_t from);

/* When the first task is due, or DUE_NEVER. */
uint64_t due_next_ns(const struct due *due);
/* The task whose entry is to be dropped first, if it is by now_ns, or DUE_NONE. */
uint32_t due_to_forget(const struct due *due, uint64_t now_ns);

/*
 * A place whose task came, went or changed its state since the place was last returned, or
 * DUE_NONE. Clears the mark. *ret_before is the task's state then; -1: it is new.
 */
uint32_t due_pop_news(struct due *due, int *ret_before);

/* Whether a task has one of the traits, as bits. */
bool due_has(const struct due *due, uint32_t traits);
/* The number of followed tasks in that state. */
uint32_t due_count_in(const struct due *due, enum io_boost_state state);
