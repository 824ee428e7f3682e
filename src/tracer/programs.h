/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The BPF programs: which tracepoint each needs, what is lost without it, and their loading. */

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/tracer.h"
#include "wakegov/abi.h" /* the skeleton names its types */

#include "wakegov.skel.h"

struct programs {
	struct wakegov *skel;
	struct bpf_link *links[WAKEGOV_PROGRAMS];
	enum tracer_program_state states[WAKEGOV_PROGRAMS]; /* attached: whenever it is needed */
	bool needed[WAKEGOV_PROGRAMS];
	bool accounts_bytes; /* the kernel counts what each task reads and writes */
	bool paused;	     /* none is attached but the one that the daemon asks */
	int errors[WAKEGOV_PROGRAMS];
};

/* The tracepoint of a program, and what is not seen without it. Static strings. */
const char *program_tracepoint(enum wakegov_program program);
const char *program_purpose(enum wakegov_program program);

/*
 * Loads what this kernel has, by its BTF, for n_cpus CPUs. Returns 0, or a negative errno with
 * *ret_why a static sentence that says what is missing and what to do; programs_unload() then too.
 */
int programs_load(struct programs *programs, uint32_t n_cpus, const char **ret_why);

/*
 * Attaches what was loaded; one that fails leaves the others working. Returns -EOPNOTSUPP, with
 * *ret_why, when switches cannot be traced.
 */
int programs_attach(struct programs *programs, const char **ret_why);

/*
 * Attaches a program, or detaches it, unless that is so already, or all are paused. It interrupts
 * every CPU several times, and one that is attached within a grace period of RCU after a detaching
 * waits for its end.
 */
void programs_need(struct programs *programs, enum wakegov_program program, bool needed);

/* What is so now. */
enum tracer_program_state programs_state(const struct programs *programs,
					 enum wakegov_program program);

/* Detaches all programs that run at events, or attaches those that are needed. */
void programs_pause(struct programs *programs, bool paused);

void programs_unload(struct programs *programs);

/* The runs that the kernel skipped because the program was running already, of all programs. */
uint64_t programs_missed(const struct programs *programs);
