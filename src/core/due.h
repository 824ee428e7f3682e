/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A key for each task of the core's table: what a round looks for in all of them, so that it passes
 * over 32 bytes each and not over the tasks. With a hundred tasks that is as quick as queues and
 * sets were that were kept up to date, with a thousand it takes 9 us more each round.
 *
 * All of a key follows from its task: who changes a task sets its key again. Walks are in the order
 * of the table.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/io_boost.h"

#define DUE_NEVER   UINT64_MAX
#define DUE_NOWHERE UINT16_MAX
#define DUE_NONE    UINT32_MAX

/* What can be so of a task, as bits. */
enum due_trait {
	DUE_LIVE,    /* its boost is not over */
	DUE_NEW,     /* no tracing period has ended since it came */
	DUE_ASKS,    /* something is being found out of it */
	DUE_UNSEEN,  /* the present tracing period has no window of it yet */
	DUE_CHANGED, /* what was found out of it may be over */
	DUE_TRAITS,
};

struct due_key {
	uint64_t due_ns;       /* to be looked at then, or DUE_NEVER */
	uint64_t forget_ns;    /* its entry is kept no longer, or DUE_NEVER */
	uint16_t domain;       /* which it asks for a boost, or DUE_NOWHERE … */
	uint16_t other_domain; /* … and that it came from, while it moves to and fro */
	uint16_t device;       /* or DUE_NOWHERE, as IO_BOOST_NO_DEVICE is here … */
	uint16_t group;	       /* … and IO_BOOST_NO_GROUP */
	uint8_t traits;
	uint8_t state; /* enum io_boost_state */
	bool ended;    /* its handle is to be given back */
	bool followed; /* its handle was not given back */
};

struct due;

/* NULL without memory. For tables of size places; empty. */
struct due *due_new(uint32_t size);
struct due *due_free(struct due *due);

/* The key of the task at the place. NULL: there is none any more. */
void due_set(struct due *due, uint32_t place, const struct due_key *key);

/* Which tasks: those that due_ask() took, that ended, or that have the value given in their key. */
enum due_which { DUE_ASKED, DUE_ENDED, DUE_IN_DOMAIN, DUE_ON_DEVICE, DUE_IN_GROUP };

/* The first of these at the place from or after it, or DUE_NONE. */
uint32_t due_find(const struct due *due, enum due_which which, uint16_t value, uint32_t from);

/*
 * Takes those that are due at now_ns: each is gone through once, whatever its key is set to
 * meanwhile; due_end_asked() when that was done, before it is set again.
 */
void due_ask(struct due *due, uint64_t now_ns);
void due_end_asked(struct due *due, uint32_t place);

/* The moment of the first of all others. */
uint64_t due_next_ns(const struct due *due);
/* The one to be forgotten first, when it is so at now_ns, or DUE_NONE. */
uint32_t due_to_forget(const struct due *due, uint64_t now_ns);

/*
 * A place whose task came, went or has another state since the place was last returned, which is
 * then no news any more; or DUE_NONE.
 */
uint32_t due_take_changed(struct due *due);

/* Whether a task has one of the traits, as bits. */
bool due_has(const struct due *due, uint32_t traits);
/* How many are followed and in that state. */
uint32_t due_count_in(const struct due *due, enum io_boost_state state);
