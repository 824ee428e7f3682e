/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A key and a mouse that nobody touches: the keyboard's controller (i8042), as QEMU has it, is told
 * what came from them. So each event is a real interrupt. Needs root, and the modules evdev and
 * psmouse.
 */

enum input {
	INPUT_NONE,
	INPUT_KEY,  /* a key goes down, and up again after 80 ms */
	INPUT_MOVE, /* the mouse moves */
};

/* Opens its device. Returns a descriptor, which is never closed; exits where there is none. */
int input_open(enum input input);

/* Has one event come; input_done() does what follows it. */
void input_send(enum input input);
void input_done(enum input input);

/* Waits for one that input_send() sent. */
void input_await(int fd, enum input input);
