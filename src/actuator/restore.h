/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Puts saved values back, control by control. Used by a clean release and, after a crash, by
 * `wakegovd --restore`. Order within a domain: limits, governor, its tunables, energy preference,
 * speed; the speed only where the governor was `userspace` before us, as going back to another
 * governor undoes it.
 *
 * Tunables are written only when the governor had none just before we put it back: then the kernel
 * has freed them, and made them anew with its defaults, because we had taken the governor away.
 * Where they are there, a domain that we don't drive has kept the governor alive, or somebody else
 * has brought it back: what they hold is theirs. The first domain that comes back decides for all
 * that share them.
 */

#include <stddef.h>
#include <stdint.h>

#include "actuator/control.h"

struct saved_values;

enum restore_outcome {
	RESTORE_DONE,	    /* written */
	RESTORE_UNCHANGED,  /* it held its saved value already */
	RESTORE_TAKEN_OVER, /* it holds neither our value nor the saved one: theirs, left alone */
	RESTORE_GONE,	    /* the domain, or the tunable, does not exist any more */
	RESTORE_OFFLINE,    /* every CPU offline; stays in the file */
	RESTORE_FAILED,	    /* stays in the file */
};

struct restore_result {
	uint32_t policy;  /* the N of policyN, or TUNABLE_SHARED */
	const char *name; /* of the control, or of a tunable with its governor; valid in the call */
	enum restore_outcome outcome;
	const char *value;   /* the saved value; valid during the call */
	const char *current; /* for RESTORE_TAKEN_OVER: what it holds */
	int error;	     /* for RESTORE_FAILED: a negative errno */
};

/* Told of each control, in order; of a tunable only when it was, or could have been, written. */
typedef void (*restore_report_t)(void *userdata, const struct restore_result *result);

/*
 * Restores what DIRECTORY/originals holds and removes the file when nothing is left to do; lines
 * that failed or whose domain is offline stay. Idempotent, and harmless without file or directory.
 * Returns 0, the number of controls that wait for an offline domain, or the first negative errno
 * (where statefile_refusal() has a reason, the file was refused and nothing was written).
 */
int restore_saved(const char *directory, restore_report_t report, void *userdata);

/*
 * The same for one domain of a table in memory; saves the table. Shared tunables stay in it while
 * another domain's governor is awaited. report may be NULL.
 */
int restore_domain(struct saved_values *saved, uint32_t policy, restore_report_t report,
		   void *userdata);

/* Only its limits, and without saving the table: for a domain that is somebody else's but for them.
 */
void restore_limits(struct saved_values *saved, uint32_t policy);

/*
 * One sentence for the journal, such as "restored policy0 scaling_governor to schedutil" or
 * "restored schedutil/rate_limit_us to 7777". Always ends it with a NUL; a longer one is cut.
 */
void restore_describe(const struct restore_result *result, char *ret_text, size_t size);
