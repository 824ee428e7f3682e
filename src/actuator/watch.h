/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Sees other programs write to the controls of our domains, by inotify's IN_CLOSE_WRITE. What we
 * write to scaling_setspeed through the descriptor that we keep open does not raise it. A writer
 * that keeps its own descriptor open, or that has another instance of sysfs mounted (a network
 * namespace of its own), is not seen until verify finds the governor changed.
 */

#include "actuator/control.h"

struct actuator_domain;
struct actuator_watch;

/* control is what was written; a change of limits is a reason to read them again. */
typedef void (*actuator_watch_touched_t)(void *userdata, struct actuator_domain *domain,
					 enum control control);

/* Returns 0 or a negative errno. The caller frees, before the domains that it added. */
int actuator_watch_new(struct actuator_watch **ret);
struct actuator_watch *actuator_watch_free(struct actuator_watch *watch);

/* Watches the controls of a domain, after acquire. 0 or a negative errno (-ENOSPC: the user's
 * limit of inotify watches); then none of its controls is watched. */
int actuator_watch_add(struct actuator_watch *watch, struct actuator_domain *domain);

/* Non-blocking, for the event loop (EPOLLIN). */
int actuator_watch_fd(const struct actuator_watch *watch);

/*
 * Reads all that is waiting: sets domain->touched and calls `touched` once per event. After an
 * overflow of the queue every control counts as touched. Returns the number of calls or a negative
 * errno.
 */
int actuator_watch_read(struct actuator_watch *watch, actuator_watch_touched_t touched,
			void *userdata);
