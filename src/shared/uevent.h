/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The kernel's uevents: "action@path", then KEY=value, each with a NUL behind it. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UEVENT_SIZE (8 * 1024)

/* By the first four letters. */
#define UEVENT_ONLINE  0x6f6e6c69
#define UEVENT_OFFLINE 0x6f66666c
#define UEVENT_CHANGE  0x6368616e
#define UEVENT_ADD     0x61646440 /* "add@" */

/*
 * Opens a non-blocking socket for the event loop (EPOLLIN), to which no other events come than
 * these of one of two actions. Returns the descriptor or a negative errno.
 */
int uevent_open(uint32_t action, uint32_t other_action);

/*
 * Reads one event. Returns its length, 0 when none is waiting, or a negative errno; -ENOBUFS: some
 * were lost. Messages from other senders than the kernel are passed over.
 */
ssize_t uevent_read(int fd, char ret_text[static UEVENT_SIZE]);
