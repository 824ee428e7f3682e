/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The BPF programs: their tracepoints, what is lost without each, and their loading. */

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/tracer.h"
#include "wakegov/abi.h" /* the skeleton uses its types */

#include "wakegov.skel.h"

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
