/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Where each task of a table is filed: who is to be looked at, and when, whose end is to be told,
 * who asks a domain for something, who uses a device, and how many are how. So that a round costs
 * what happens in it, and not what there is.
 *
 * All of it follows from the tasks: who changes one files it again. Walks are in the order of the
 * table, as over all of it.
 */

#include "core/agenda.h"
#include "core/input.h"
#include "core/io_group.h"
#include "core/place_set.h"

/* What can be so of a task, as bits, and is counted. */
enum filed_trait {
	FILED_LIVE,    /* its boost is not over */
	FILED_NEW,     /* no survey has seen it to its end */
	FILED_ASKS,    /* something is being found out of it */
	FILED_UNSEEN,  /* the present survey has not yet seen it */
	FILED_CHANGED, /* what was found out of it may be over */
	FILED_TRAITS,
};

#define FILED_NOWHERE UINT32_MAX

struct filed {
	uint64_t due_ns;       /* to be looked at then, or AGENDA_NEVER */
	uint64_t forget_ns;    /* its entry is kept no longer, or AGENDA_NEVER */
	bool ended;	       /* its handle is to be given back */
	bool followed;	       /* its handle was not given back */
	uint32_t domain;       /* which it asks for a boost, or FILED_NOWHERE … */
	uint32_t other_domain; /* … and that it came from, while it moves to and fro */
	uint32_t device;       /* or IO_BOOST_NO_DEVICE */
	uint32_t group;	       /* or IO_BOOST_NO_GROUP */
	uint32_t traits;
	enum io_boost_state state;
};

struct filing;

/* NULL without memory. For tables of size places; empty. */
struct filing *filing_new(uint32_t size, uint32_t n_domains);
struct filing *filing_free(struct filing *filing);

/* What is so of the task at the place now, and not what was. NULL: there is none. */
void filing_put(struct filing *filing, uint32_t place, const struct filed *filed);

/*
 * Those that are due at now_ns go to a set from which they are gone through, each once, whatever
 * is put meanwhile; filing_end_asked() when that was done, before it is put again.
 */
const struct place_set *filing_ask(struct filing *filing, uint64_t now_ns);
const struct place_set *filing_asked(const struct filing *filing);
void filing_end_asked(struct filing *filing, uint32_t place);

/* The moments of all others. */
uint64_t filing_next_ns(const struct filing *filing);
/* The one to be forgotten first, when it is so at now_ns, or AGENDA_NONE. */
uint32_t filing_to_forget(const struct filing *filing, uint64_t now_ns);

/*
 * A place whose task came, went or has another state since the place was last returned, which is
 * then no news any more; or PLACE_SET_NONE.
 */
uint32_t filing_take_changed(struct filing *filing);

const struct place_set *filing_ended(const struct filing *filing);
const struct place_set *filing_in_domain(const struct filing *filing, uint32_t domain);
const struct place_set *filing_on_device(const struct filing *filing, uint32_t device);
const struct place_set *filing_in_group(const struct filing *filing, uint32_t group);

uint32_t filing_count(const struct filing *filing, enum filed_trait trait);
/* Of those that are followed. */
uint32_t filing_count_in(const struct filing *filing, enum io_boost_state state);
