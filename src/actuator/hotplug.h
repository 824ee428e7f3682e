/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* CPUs that go offline and come online, from the kernel's uevents. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens a non-blocking socket for the event loop (EPOLLIN). Its filter passes only online and
 * offline events, so that other devices' events do not wake the daemon. Returns the descriptor or a
 * negative errno.
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
