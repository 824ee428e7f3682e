/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * External events of the domains: other programs write to their controls, and CPUs go offline and
 * come online.
 *
 * inotify's IN_CLOSE_WRITE shows other programs' writes to the controls of our domains. Our own
 * writes to scaling_setspeed through the open descriptor do not raise it. A writer that keeps its
 * descriptor open, or uses another instance of sysfs (in a network namespace of its own), stays
 * unseen until verify finds another governor.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actuator/control.h"

struct actuator_domain;
struct actuator_watch;

/* Returns 0 or a negative errno. Free the watch before the domains that it watches. */
int actuator_watch_new(struct actuator_watch **ret);
struct actuator_watch *actuator_watch_free(struct actuator_watch *watch);

/*
 * Watches the controls of a domain that was acquired. Returns 0, or a negative errno (-ENOSPC: the
 * user's limit of inotify watches) with none of its controls watched.
 */
int actuator_watch_add(struct actuator_watch *watch, struct actuator_domain *domain);

/* Non-blocking, for the event loop (EPOLLIN). */
int actuator_watch_fd(const struct actuator_watch *watch);

/*
 * Reads all waiting events: sets domain->touched of the controls that another program wrote. After
 * a queue overflow every control counts as touched.
 */
void actuator_watch_read(struct actuator_watch *watch);

/*
 * Opens a non-blocking socket for the event loop (EPOLLIN) with the kernel's uevents on CPUs. Its
 * filter passes only online and offline events, so that other devices' events do not wake the
 * daemon. Returns the descriptor or a negative errno.
 */
int hotplug_open(void);

/*
 * Reads one event. Returns 1 with *ret_cpu and *ret_online filled, 0 when none is waiting, or a
 * negative errno. -ENOBUFS: events were lost, verify every domain. Call it until it returns 0.
 */
int hotplug_read(int fd, uint32_t *ret_cpu, bool *ret_online);

/*
 * Reads a uevent's text: NUL-separated, size bytes. Returns whether it is a CPU that went online or
 * offline, and fills the outputs then.
 */
bool hotplug_parse(const char *text, size_t size, uint32_t *ret_cpu, bool *ret_online);
