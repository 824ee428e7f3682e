/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of the tracer share. */

#include "tracer/batch.h"
#include "tracer/programs.h"
#include "tracer/tracer.h"
#include "wakegov/abi.h"

/* A slot's values at the last read. */
struct seen_slot {
	uint32_t id;
	uint32_t depth;
	uint64_t seen_ns;
	uint64_t sums_ns; /* as in the kernel side's slot */
	uint64_t in_flight_ns;
};

/* What bytes.c knows of a slot's task: `starts` requests had `bytes` bytes. */
struct by_bytes {
	uint32_t id;	/* of the slot */
	bool explained; /* its number of requests follows from its bytes */
	uint64_t starts;
	uint64_t bytes;
	uint64_t offset;	    /* reported starts minus the slot's */
	uint64_t mean_q8;	    /* bytes of a request, times 256; 0: not known */
	uint64_t least_q8, most_q8; /* range of the means in this tracing period; 0: none yet */
};

/* What ticks say of a CPU; see tracer_count_ticks(). */
struct ticked {
	uint64_t ticks;
	uint32_t share; /* of 1024 */
};

struct tracer {
	const struct topology *topology;
	struct programs programs;
	struct ring_buffer *ring;
	struct wakegov_cpu *cpus; /* mapped; n_cpus */
	/* in programs.bss */
	struct wakegov_slot *slots;	     /* WAKEGOV_SLOTS */
	struct wakegov_device *devices;	     /* WAKEGOV_DEVICES */
	struct wakegov_flights *flights;     /* WAKEGOV_FLIGHT_SETS */
	struct wakegov_cache *caches;	     /* WAKEGOV_CACHES */
	struct wakegov_placed_group *groups; /* WAKEGOV_PLACED_GROUPS */
	tracer_handler_t handler;	     /* while records are taken */
	size_t taken_bytes;		     /* bytes of the ring taken in that call */
	void *userdata;

	struct batch marks;   /* marks of tasks that match rules */
	struct batch classes; /* classes of tasks */
	struct seen_slot seen[WAKEGOV_SLOTS];
	struct by_bytes by_bytes[WAKEGOV_SLOTS];
	bool looks; /* a look for tasks that never wait is under way */
	uint64_t look_gap_ns;
	uint64_t (*seen_runs)[WAKEGOV_CLAMP_CLASSES]; /* ran_ns at the last read, for n_cpus CPUs */
	uint64_t known_devices;	   /* bits by index: devices that were reported */
	uint64_t past_anomalies;   /* anomalies of devices that are gone */
	uint64_t missed_changes;   /* programs_missed_changes() … */
	uint64_t missed_read_ns;   /* … then */
	uint64_t tick_ns;	   /* tick of the scheduler */
	struct ticked *ticked;	   /* of each CPU */
	uint64_t ticked_ns;	   /* of the last tracer_count_ticks() */
	uint32_t chain_generation; /* of settings.chains, the last that was not 0 */
};

/* Requests are not followed now: what is in flight, and idle times, stand still. */
static inline bool tracer_counts_only(const struct tracer *tracer)
{
	return tracer->cpus[0].count_only;
}

/*
 * ticks.c: marks every CPU as idle now: the next switch or tick shows who runs there. The
 * utilisation stays, as no time was accounted meanwhile.
 */
void tracer_rest_cpus(struct tracer *tracer, uint64_t now_ns);

/*
 * More than ticks will be traced. Each CPU's utilisation is what the last tracer_count_ticks()
 * says.
 */
void tracer_end_ticks(struct tracer *tracer);

/* The chains' clock stands still until the kernel side follows them again. */
void tracer_stop_chains(struct tracer *tracer, uint64_t now_ns);

/* requests.c: attaches exactly the programs that are needed. follow: requests are followed. */
void tracer_attach_needed(struct tracer *tracer, bool follow);

/* bytes.c: the number of requests that the slot's task has started, counted or by its bytes. */
uint64_t tracer_read_starts(struct tracer *tracer, uint32_t index);
/* For the start and the end of a tracing period, in which all starts are counted. */
void tracer_begin_learning(struct tracer *tracer);
void tracer_end_learning(struct tracer *tracer);
/* Attaches or detaches the programs at the start of requests. */
void tracer_attach_starts(struct tracer *tracer, bool follow);
/* On a record of the kernel side: begins a look, or ends it. */
void tracer_look(struct tracer *tracer, bool begins);
/* A task got a slot: resets the gap between looks. */
void tracer_look_found(struct tracer *tracer);

/* records.c: takes one record of the ring; a ring_buffer_sample_fn. */
int tracer_on_record(void *context, void *data, size_t size);

/* Stops following execs and exits of processes, and frees the memory. */
void tracer_forget_processes(struct tracer *tracer);

/* Whether the index is that of a device at the bottom of its stack. */
bool device_is_followed(const struct tracer *tracer, uint32_t index);
