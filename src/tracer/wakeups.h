/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * How long chosen tasks wait from a wake-up to their first run, whichever governor there is. Needs
 * no daemon, but root's right to load BPF programs. While it lasts two of them run at each wake-up
 * and each switch; nothing is left of it at the end of the process that follows.
 */

#include <stdint.h>

#include "wakegov/wakeups.h"

/* One of the three; and all that these tasks start from then on. */
struct wakeups_of {
	uint32_t pid;	     /* of a process; 0: none */
	const char *program; /* the name of processes, of which 15 bytes count; NULL: none */
	uint32_t parent;     /* of the processes that this one starts; 0: none */
};

struct wakeups; /* the skeleton of bpf/wakeups.bpf.c */

/*
 * Begins to count. Returns 0 with how many of the tasks there are already, or a negative errno with
 * a static sentence why.
 */
int wakeups_follow(const struct wakeups_of *of, struct wakeups **ret, uint32_t *ret_n_tasks,
		   const char **ret_why);

/* What was counted since. */
void wakeups_read(const struct wakeups *wakeups, uint64_t ret[WAKEGOV_WAKEUP_BUCKETS]);

/* Ends it. NULL is allowed; returns NULL. */
struct wakeups *wakeups_free(struct wakeups *wakeups);
