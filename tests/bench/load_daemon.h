/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * For query-load: the daemon's core, query server and event loop with a made-up machine of any
 * size. A feeder process says every so often, at random, that a CPU's utilisation changed; the
 * decision that follows is "written" to a file in memory, read back and published, as the
 * manager's rounds do.
 */

#include <stdint.h>
#include <systemd/sd-event.h>

struct load_daemon;

struct load_options {
	uint32_t domains;
	uint32_t tasks;
	uint32_t events_per_s;
	const char *socket;
};

/* NULL, with a line on standard error, when it cannot be made. */
struct load_daemon *load_daemon_new(const struct load_options *options);
struct load_daemon *load_daemon_free(struct load_daemon *daemon);

/* Takes decisions and serves clients for so long; keeps the latencies if keep is set. */
void load_daemon_run(struct load_daemon *daemon, uint64_t duration_ns, int keep);

/* Decisions that were published since the start. */
uint64_t load_daemon_published(const struct load_daemon *daemon);

/* The kept latencies, from the event to the decision read back: forgets them. Returns how many. */
uint32_t load_daemon_take_latencies(struct load_daemon *daemon, uint32_t **ret_ns);
