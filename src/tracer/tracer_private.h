/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of the tracer share. */

#include "tracer/batch.h"
#include "tracer/programs.h"
#include "tracer/tracer.h"
#include "wakegov/abi.h"

/* A slot as it was last read. */
struct seen_slot {
	uint32_t id;
	uint32_t depth;
	uint64_t seen_ns;
	uint64_t sums_ns; /* as the kernel side keeps them */
	uint64_t in_flight_ns;
};

/* A slot's task as bytes.c knows it: starts were that many when its bytes were those. */
struct by_bytes {
	uint32_t id;	/* of the slot */
	bool explained; /* its bytes say how many requests it starts */
	uint64_t starts;
	uint64_t bytes;
	uint64_t offset;	    /* of the starts that are told, over those of the slot */
	uint64_t mean_q8;	    /* bytes of a request, times 256; 0: not known */
	uint64_t least_q8, most_q8; /* of the means of the present tracing period; 0: none yet */
};

struct tracer {
	const struct topology *topology;
	struct programs programs;
	struct ring_buffer *ring;
	struct wakegov_cpu *cpus;	     /* mapped; n_cpus */
	struct wakegov_slot *slots;	     /* mapped; WAKEGOV_SLOTS */
	struct wakegov_device *devices;	     /* mapped; WAKEGOV_DEVICES */
	struct wakegov_flights *flights;     /* mapped; WAKEGOV_FLIGHT_SETS */
	struct wakegov_cache *caches;	     /* mapped; WAKEGOV_CACHES */
	struct wakegov_placed_group *groups; /* mapped; WAKEGOV_PLACED_GROUPS */
	tracer_handler_t handler;	     /* while tracer_consume() runs */
	size_t taken_bytes;		     /* of the ring, by that */
	void *userdata;

	struct batch marks;   /* of tasks that match rules */
	struct batch classes; /* of tasks */
	struct seen_slot seen[WAKEGOV_SLOTS];
	struct by_bytes by_bytes[WAKEGOV_SLOTS];
	bool looks; /* for tasks that never wait */
	uint64_t look_gap_ns;
	uint64_t (*seen_runs)[WAKEGOV_CLAMP_CLASSES]; /* n_cpus; ran_ns as it was last read */
	uint64_t known_devices;	 /* bits by index: those that were handed out */
	uint64_t past_anomalies; /* of devices that are gone */
	uint64_t tick_ns;	 /* of the scheduler */
};

/* Requests are not followed now: what is in flight, and idle times, stand still. */
static inline bool tracer_counts_only(const struct tracer *tracer)
{
	return tracer->cpus[0].count_only;
}

/* requests.c: attaches what is needed now, and nothing else. follow: requests are to be followed.
 */
void tracer_attach_needed(struct tracer *tracer, bool follow);

/* bytes.c: the requests that the slot's task started so far, counted or by its bytes. */
uint64_t tracer_read_starts(struct tracer *tracer, uint32_t index);
/* At the start and at the end of a tracing period; all starts are counted meanwhile. */
void tracer_begin_learning(struct tracer *tracer);
void tracer_end_learning(struct tracer *tracer);
/* The programs that see starts, attached if they are needed. */
void tracer_attach_starts(struct tracer *tracer, bool follow);
/* What the kernel side says: a look is to begin, or may end. */
void tracer_look(struct tracer *tracer, bool begins);
/* A task has a slot: looks are worth it. */
void tracer_look_found(struct tracer *tracer);

/* What the kernel side says of a task, for the rules. */
void facts_convert(const struct wakegov_facts *from, struct task_facts *ret);

/* Their execs and ends are not followed any more, and their memory is given back. */
void tracer_forget_processes(struct tracer *tracer);

/* Whether there is a device of this index, at the bottom of its stack. */
bool device_is_followed(const struct tracer *tracer, uint32_t index);
