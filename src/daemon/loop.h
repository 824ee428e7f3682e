/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The event loop: an event source wakes the daemon (loop.c), what the source reports becomes inputs
 * of the core (inputs.h), and a round decides, writes and publishes (round.h).
 */

#include "daemon/core.h"

struct loop {
	struct core *core;
	int hotplug_fd;
	sd_event_source *newcomer_timer; /* NULL: no CPU has come that was not there at the start */
	uint32_t newcomer;		 /* the first of them */
};

/*
 * Creates the event loop; from then on no signal ends the daemon half way. Returns 0 or a negative
 * errno.
 */
int loop_open(struct loop *loop);

/* Registers the event sources, once the tracer exists. Returns 0 or a negative errno. */
int loop_listen(struct loop *loop);

void loop_close(struct loop *loop);
