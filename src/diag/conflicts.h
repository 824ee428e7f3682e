/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Finds running programs that change the same controls, by their name on the system bus, by their
 * process, or by their files under /run.
 */

#include <stddef.h>

struct rival {
	const char *name;   /* power-profiles-daemon, … */
	const char *knobs;  /* the controls that it sets */
	const char *advice; /* the remedy, as a clause: "use backend = uclamp, or …" */
};

#define RIVALS_MAX 8

/*
 * Calls `found` for each running one; the rival is static. One that cannot be queried counts as
 * absent.
 */
void rivals_find(void (*found)(void *userdata, const struct rival *rival), void *userdata);
