/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The kernel's uevents: "action@path", then KEY=value, each with a NUL behind it. */

#include <stdint.h>
#include <sys/types.h>

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
