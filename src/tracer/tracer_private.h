/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Shared by the files of the tracer. */

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/tracer.h"
#include "wakegov/abi.h" /* the skeleton uses its types */

#include "wakegov.skel.h"

/* programs.c: the BPF programs: their tracepoints, what is lost without each, and their loading. */

enum program_map {
	MAP_CPUS,
	MAP_RECORDS,
	MAP_HOLDS, /* only kept: timers end with the last descriptor of their map */
	MAP_TASK_CLASSES,
	MAP_CHAINS,
	MAP_MATCHING,
	MAP_PROCESSES,
	MAP_IDLE_LATENCIES,
	MAP_PLACED,
	PROGRAM_MAPS,
};

/* The needed programs that are attached. The iterator always is, as it runs on request. */
enum programs_wanted {
	PROGRAMS_ALL,
	PROGRAMS_TICKS, /* none at switches, wake-ups, interrupts or requests */
	PROGRAMS_NONE,
};

/*
 * The BPF object's descriptors and memory. libbpf's own copy of 0.3 MiB is freed after loading. A
 * descriptor of 0 stands for none.
 */
struct programs {
	struct wakegov__bss *bss; /* mapped */
	size_t bss_bytes;
	int maps[PROGRAM_MAPS];
	int read_task, read_limits, watch_hold; /* programs that the daemon runs */
	int fds[WAKEGOV_PROGRAMS];
	int links[WAKEGOV_PROGRAMS];
	enum tracer_program_state states[WAKEGOV_PROGRAMS]; /* TRACER_ATTACHED: when needed */
	bool needed[WAKEGOV_PROGRAMS];
	bool clamps_last;    /* schedutil adds its margin before it clamps */
	bool accounts_bytes; /* the kernel counts what each task reads and writes */
	enum programs_wanted wanted;
	int errors[WAKEGOV_PROGRAMS];
};

/* The tracepoint of a program. Static. */
const char *program_tracepoint(enum wakegov_program program);

/*
 * Loads the programs that this kernel supports by its BTF, for n_cpus CPUs. Returns 0, or a
 * negative errno with *ret_why a static sentence that says what is missing and what to do; call
 * programs_unload() then too.
 */
int programs_load(struct programs *programs, uint32_t n_cpus, const char **ret_why);

/*
 * Attaches the loaded programs; one that fails does not stop the others. Returns -EOPNOTSUPP, with
 * *ret_why, when switches cannot be traced.
 */
int programs_attach(struct programs *programs, const char **ret_why);

/*
 * Attaches or detaches a program, unless it is in that state or not wanted now. Attaching
 * interrupts every CPU several times, and waits if an RCU grace period after a detach is not over.
 */
void programs_need(struct programs *programs, enum wakegov_program program, bool needed);

/*
 * Attaches the programs at wake-ups, timers and input events that the settings or a learning period
 * need. A program that returns at once costs more than its useful work.
 */
void programs_update_needs(struct programs *programs, bool learns);

/* The present state of a program. */
enum tracer_program_state programs_state(const struct programs *programs,
					 enum wakegov_program program);

/* Attaches the needed programs among the wanted ones, and detaches all others. */
void programs_set_wanted(struct programs *programs, enum programs_wanted wanted);

void programs_unload(struct programs *programs);

/*
 * The number of runs, of all programs, that the kernel skipped because the program was already
 * running.
 */
uint64_t programs_missed(const struct programs *programs);
/* The same for the programs that report changes of tasks only: four system calls. */
uint64_t programs_missed_changes(const struct programs *programs);

/* A device's totals, read once for all tasks of a round, and at the beginning of the period. */
struct seen_device {
	uint64_t at_ns;
	struct disk_totals totals, first;
};

/* A task's reads or writes at a device, as of the last sample after which any there ended. */
struct seen_requests {
	uint64_t sent;		    /* by the task so far */
	struct disk_requests total; /* of the device */
	uint64_t since_ns;	    /* that sample */
	uint64_t told_ns;	    /* time in flight added since then, before one ended */
	uint64_t each_ns;	    /* the mean duration of a request before it */
	uint32_t depth;		    /* the mean number in flight before it */
};

struct seen_io {
	uint32_t device;
	uint32_t period; /* the learning period in which it was last sampled */
	struct seen_requests of[DISK_DIRECTIONS];
};

/* A slot's values at the last read. */
struct seen_slot {
	uint32_t id;
	uint64_t in_flight_ns;		    /* the reported sum so far */
	uint64_t at_ns, starts, sync_waits; /* as of the last sample */
	struct seen_io ios[WAKEGOV_SLOT_IOS];
};

/* What bytes.c knows of a slot's task: the sizes of its requests. */
struct by_bytes {
	uint32_t id;	/* of the slot */
	bool explained; /* its number of requests follows from its bytes */
	uint64_t starts;
	uint64_t bytes;
	uint64_t offset;	    /* reported starts minus the slot's */
	uint64_t mean_q8;	    /* bytes of a request, times 256; 0: not known */
	uint64_t least_q8, most_q8; /* range of the means in this period; 0: none yet */
};

/* A CPU's work by ticks; see tracer_count_ticks(). */
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
	struct wakegov_slot *slots;	/* WAKEGOV_SLOTS */
	struct wakegov_device *devices; /* WAKEGOV_DEVICES */
	struct wakegov_cache *caches;	/* WAKEGOV_CACHES */
	tracer_handler_t handler;	/* while records are read */
	size_t taken_bytes;		/* bytes of the ring read in that call */
	void *userdata;

	struct seen_slot seen[WAKEGOV_SLOTS];
	struct seen_device seen_devices[WAKEGOV_DEVICES];
	struct by_bytes by_bytes[WAKEGOV_SLOTS];
	bool learns;	    /* a learning period is under way … */
	uint32_t period;    /* … or was; its number … */
	uint64_t period_ns; /* … and its beginning */
	bool looks;	    /* a look for tasks that never wait is under way */
	uint64_t look_gap_ns;
	uint64_t (*seen_runs)[WAKEGOV_CLAMP_CLASSES]; /* ran_ns at the last read, for n_cpus CPUs */
	uint64_t known_devices;	   /* bits by index: devices that were reported */
	uint64_t missed_changes;   /* programs_missed_changes() … */
	uint64_t missed_read_ns;   /* … as of then */
	uint64_t tick_ns;	   /* tick of the scheduler */
	struct ticked *ticked;	   /* of each CPU */
	uint64_t ticked_ns;	   /* of the last tracer_count_ticks() */
	uint32_t chain_generation; /* the last settings.chains other than 0 */
};

/* What the kernel side has of a thread; false: nothing. */
bool tracer_chain(const struct tracer *tracer, uint32_t pid, struct chain_task *ret);

/* The chains' clock stands still until the kernel side follows them again. */
void tracer_stop_chains(struct tracer *tracer, uint64_t now_ns);

static inline void tracer_attach_needed(struct tracer *tracer)
{
	programs_update_needs(&tracer->programs, tracer->learns);
}

/*
 * bytes.c: the number of requests that the slot's task has started, counted or computed from its
 * bytes. Makes the kernel side read the task's times into the slot.
 */
uint64_t tracer_read_starts(struct tracer *tracer, uint32_t index);
/* Attaches the programs at the start of requests if they are needed; else detaches them. */
void tracer_attach_starts(struct tracer *tracer);
/* On a record of the kernel side: begins a look, or ends it. */
void tracer_set_look(struct tracer *tracer, bool begins);
/* A task got a slot: resets the gap between looks. */
void tracer_look_found(struct tracer *tracer);

/* records.c: receives one record of the ring; a ring_buffer_sample_fn. */
int tracer_on_record(void *context, void *data, size_t size);

/* Stops following execs and exits of processes, and frees the memory. */
void tracer_forget_processes(struct tracer *tracer);

/* Whether the index is that of a device at the bottom of its stack. */
bool device_is_followed(const struct tracer *tracer, uint32_t index);
/*
 * Its totals, read once for one now_ns, and those of the beginning of this learning period, or of
 * when it was first seen in it. Returns 0 or a negative errno: disk_read_totals().
 */
int device_read(struct tracer *tracer, uint32_t index, uint64_t now_ns,
		const struct seen_device **ret);
void devices_begin_period(struct tracer *tracer);
