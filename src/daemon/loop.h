/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The event loop: the ring of records or the timer causes a round, which decides, writes and
 * publishes (round.c); what the records report becomes inputs of the engine (inputs.c). The other
 * sources are changes of the machine (loop.c).
 */

#include "daemon/core.h"

struct loop {
	struct core *core;
	int hotplug_fd;
	sd_event_source *change_timer; /* NULL: CPUs are what they were at the start */
	char change[64];	       /* the first that was seen */
};

/*
 * Creates the event loop; from then on no signal ends the daemon half way. Returns 0 or a negative
 * errno.
 */
int loop_open(struct loop *loop);

/* Registers the event sources, once the tracer exists. Returns 0 or a negative errno. */
int loop_listen(struct loop *loop);

void loop_close(struct loop *loop);

/* inputs.c; userdata is the daemon's core. */

/*
 * Handles one record of the tracer. Records of tasks, CPUs and devices only say that there is
 * something to read; the others go to the file or the module that they are for.
 */
void inputs_on_event(void *userdata, const struct wakegov_record *record);

/* Sample what the engine asks for in a round (struct engine_ops). */
void inputs_sample_task(void *userdata, const struct io_task *task, uint64_t now_ns);
void inputs_sample_device(void *userdata, uint32_t device, uint64_t now_ns);
void inputs_sample_domain(void *userdata, uint32_t domain, uint64_t now_ns);

/* round.c */

/* Listens for records, and adds the timer for rounds without one. Returns 0 or a negative errno. */
int rounds_start(struct core *core);

/*
 * One round: ends holds, decides for due domains and writes, arms the kernel side, lets the modules
 * do what is due, and sets the timer for the next round without an event.
 */
void round_run(struct core *core);

/* Ends a pause of the tracer. What was measured before it is forgotten. */
void rounds_resume(struct core *core);

/*
 * Plans a round of the timer, after the present event. core is a struct core. A channel that a
 * client holds calls this when the client goes (channel.h); the module's expire() then finds it
 * without a subscriber.
 */
void round_soon(void *core);
