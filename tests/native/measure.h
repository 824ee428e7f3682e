/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a task and a disk do in a second. */

#include <sys/types.h>

#include "disk_under_test.h"

/* Of what a machine that has other work disturbs, one quiet try shows the rest. */
#define QUIET_TRIES 5

struct measure {
	uint64_t ns, completions; /* of all who use the disk */
	bool told;		  /* of the task, without which the rest is 0 */
	uint64_t waits, starts, ios, worked_ns, waited_ns, in_flight_ns;
};

/*
 * Waits until the task is told about, which was begun after native_watch(), and measures; it goes
 * on. With native->watched_tgid any thread of it but the first is meant.
 */
struct measure measure(struct native *native, const struct disk_under_test *disk, pid_t pid);

/* What holds however the I/O comes. */
void measure_check(const struct measure *change);
