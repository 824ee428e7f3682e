/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The table of BPF programs: which tracepoint each needs, and what is lost without it. */

#include <stdbool.h>
#include <stdint.h>

#include "tracer/tracer.h"
#include "wakegov/abi.h" /* the skeleton names its types */

#include "wakegov.skel.h"

struct program_info {
	const char *tracepoint;
	const char *purpose;
	bool needed; /* one of those without which nothing useful is left */
};

const struct program_info *program_info(enum wakegov_program program);

struct bpf_program *program_of(const struct wakegov *skel, enum wakegov_program program);

/*
 * Marks for loading what this kernel has, by its BTF: TRACER_ATTACHED for what is to be loaded,
 * TRACER_UNUSED and TRACER_MISSING for the rest. Returns 0, or a negative errno when the kernel's
 * BTF cannot be read.
 */
int programs_probe(struct wakegov *skel, enum tracer_program_state ret[WAKEGOV_PROGRAMS]);
