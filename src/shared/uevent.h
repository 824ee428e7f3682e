/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The kernel's uevents: "action@path", then KEY=value, each with a NUL behind it. */

#include <stdint.h>
#include <sys/types.h>

#define UEVENT_SIZE (8 * 1024)

/* By the first four letters. */
#define UEVENT_ONLINE	   0x6f6e6c69
#define UEVENT_OFFLINE	   0x6f66666c
#define UEVENT_CHANGE	   0x6368616e
#define UEVENT_ADD	   0x61646440 /* "add@" */
#define UEVENT_REMOVE	   0x72656d6f

#define UEVENT_ACTIONS_MAX 4

/*
 * Opens a non-blocking socket for the event loop (EPOLLIN), to which no events of other
 * actions come than these, up to UEVENT_ACTIONS_MAX. Returns the descriptor or a negative errno.
 */
int uevent_open(const uint32_t *actions, uint8_t n);

/*
 * Reads one event. Returns its length, 0 when none is waiting, or a negative errno; -ENOBUFS: some
 * were lost. Messages from other senders than the kernel are passed over.
 */
ssize_t uevent_read(int fd, char ret_text[static UEVENT_SIZE]);
