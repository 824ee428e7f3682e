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

/* What the kernel side says of a task, for the rules. */
void facts_convert(const struct wakegov_facts *from, struct task_facts *ret);

/* Their execs and ends are not followed any more, and their memory is given back. */
void tracer_forget_processes(struct tracer *tracer);

/* Whether there is a device of this index, at the bottom of its stack. */
bool device_is_followed(const struct tracer *tracer, uint32_t index);
