/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the tracer reports becomes inputs of the core. userdata is the daemon's core. */

#include "daemon/core.h"

/*
 * Takes one record of the tracer. Records of tasks, CPUs and devices only say that there is
 * something to read; the others go to the file or the module that they are for.
 */
void inputs_take_event(void *userdata, const struct tracer_event *event);

/* Sample what the engine asks for in a round (struct engine_ops). */
void inputs_sample_task(void *userdata, const struct io_task *task, uint64_t now_ns);
void inputs_sample_device(void *userdata, uint32_t device, uint64_t now_ns);
void inputs_sample_domain(void *userdata, uint32_t domain, uint64_t now_ns);

/* Samples a CPU, and the clamp classes that ran there. */
void inputs_sample_cpu(struct core *core, uint32_t cpu, uint64_t now_ns);
