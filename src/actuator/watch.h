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
#include <sys/types.h>

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

/* The kernel's uevents: "action@path", then KEY=value, each with a NUL behind it. */

#define UEVENT_SIZE (8 * 1024)

/* The first four letters of the text. */
#define UEVENT_ONLINE	 0x6f6e6c69
#define UEVENT_OFFLINE	 0x6f66666c
#define UEVENT_CHANGE	 0x6368616e
#define UEVENT_ADD	 0x61646440 /* "add@" */
#define UEVENT_REMOVE	 0x72656d6f

#define UEVENT_KERNEL	 0x2f6b6572 /* "/ker", with which a path begins */
#define UEVENT_KINDS_MAX 4

/* Texts with these first four letters and, unless `at` is 0, the four letters `then` there. */
struct uevent_kind {
	uint32_t action, at, then;
};

/*
 * Opens a non-blocking socket for the event loop (EPOLLIN) that receives only events of these
 * kinds, at most UEVENT_KINDS_MAX. Returns the descriptor or a negative errno.
 */
int uevent_open(const struct uevent_kind *kinds, uint8_t n);

/*
 * Reads one event. Returns its length, 0 when none is waiting, or a negative errno; -ENOBUFS: some
 * were lost. Skips messages from senders other than the kernel.
 */
ssize_t uevent_read(int fd, char ret_text[static UEVENT_SIZE]);

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
