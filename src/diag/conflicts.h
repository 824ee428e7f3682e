/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Other programs that move the same knobs: which of them are there now. Found by the name that they
 * own on the system bus, by their process, or by what they leave under /run.
 */

#include <stddef.h>

struct rival {
	const char *name;   /* power-profiles-daemon, … */
	const char *knobs;  /* what it sets of ours */
	const char *advice; /* what to do about it, as a clause: "use backend = uclamp, or …" */
};

#define RIVALS_MAX 8

/* Calls `found` for each that is there; the rival is static. What cannot be asked is taken for
 * absent. */
void rivals_find(void (*found)(void *userdata, const struct rival *rival), void *userdata);
