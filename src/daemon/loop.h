/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The event loop. An event source wakes the daemon (events.c), what the source reports becomes
 * inputs of the core (inputs.c), and a round decides, writes and publishes (round.c).
 */

#include "daemon/manager.h"

/* events.c */

/*
 * Creates the event loop; from then on no signal ends the daemon half way. Returns 0 or a negative
 * errno.
 */
int events_open(struct manager *manager);

/* Registers all event sources, once every subsystem exists. Returns 0 or a negative errno. */
int events_listen(struct manager *manager);

/* Checks for writes of other programs to our files since the last time. */
void events_take_touched(struct manager *manager);

/* inputs.c; userdata is the manager. */

/*
 * Takes one record of the tracer. Records of tasks, CPUs and devices only say that there is
 * something to read; the others go to the file that they are for.
 */
void inputs_take_event(void *userdata, const struct tracer_event *event);

/* Sample what the engine asks for in a round (struct engine_ops). */
void inputs_sample_task(void *userdata, const struct io_task *task, uint64_t now_ns);
void inputs_sample_device(void *userdata, uint32_t device, uint64_t now_ns);
void inputs_sample_domain(void *userdata, uint32_t domain, uint64_t now_ns);

/* Samples a CPU, and the clamp classes that ran there. */
void inputs_sample_cpu(struct manager *manager, uint32_t cpu, uint64_t now_ns);

/* round.c */

/*
 * One round: ends holds, decides for due domains and writes, arms the kernel side, and sets the
 * timer for the next round without an event.
 */
void manager_round(struct manager *manager);
