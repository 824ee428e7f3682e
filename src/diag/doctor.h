/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Examines whether this machine has what wakegov needs, and changes nothing. Needs no daemon;
 * findings that need root say so.
 */

#include <stdbool.h>

#include "core/settings.h"

enum finding_grade {
	FINDING_GOOD,
	FINDING_NOTE, /* a part does not work */
	FINDING_BAD,  /* wakegov cannot work, or not as asked */
};

struct finding {
	enum finding_grade grade;
	const char *domain; /* "policy0", or "" of the whole machine */
	const char *what;   /* "kernel types (BTF)", "driver" */
	const char *found;  /* result of the probe */
	const char *advice; /* meaning and remedy; or "" */
};

typedef void (*finding_t)(void *userdata, const struct finding *finding);

/*
 * Reports each finding, in order. run_dir is the daemon's, policy that of its files. Returns 0 or a
 * negative errno.
 */
int doctor_examine(const char *run_dir, const struct policy *policy, finding_t tell,
		   void *userdata);

/* "good", "note", "bad" */
const char *finding_grade_name(enum finding_grade grade);
