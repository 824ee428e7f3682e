/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Looks what this machine has of what wakegov needs, and changes nothing. Needs no daemon; what
 * only root can find out is said to be so.
 */

#include <stdbool.h>

#include "core/settings.h"

enum finding_grade {
	FINDING_GOOD,
	FINDING_NOTE, /* something less works */
	FINDING_BAD,  /* wakegov cannot work, or not as asked */
};

struct finding {
	enum finding_grade grade;
	const char *what;   /* "kernel types (BTF)", "policy0: driver" */
	const char *found;  /* what was probed gave */
	const char *advice; /* what it means and what to do; "" */
};

typedef void (*finding_t)(void *userdata, const struct finding *finding);

/*
 * Tells each finding, in order. run_dir is the daemon's, policy what its files say. Returns 0 or a
 * negative errno.
 */
int doctor_examine(const char *run_dir, const struct policy *policy, finding_t tell,
		   void *userdata);

/* "good", "note", "bad" */
const char *finding_grade_name(enum finding_grade grade);
