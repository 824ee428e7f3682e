/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Restores saved values, control by control, for a clean release and, after a crash, for `wakegovd
 * --restore`. Order within a domain: limits, governor, its tunables, energy preference, speed. The
 * speed is restored only if the governor was `userspace` before us.
 *
 * Tunables are written only if no domain had the governor just before it was restored: the kernel
 * had freed them with our switch, and created them again with its defaults. Otherwise a domain that
 * we do not drive has kept the governor, or another program has restored it, and the tunables stay.
 * The first restored domain decides for all that share them.
 */

#include <stddef.h>
#include <stdint.h>

#include "actuator/control.h"

struct saved_values;

enum restore_outcome {
	RESTORE_DONE,	    /* written */
	RESTORE_UNCHANGED,  /* it has its saved value already */
	RESTORE_TAKEN_OVER, /* it has neither our value nor the saved one, and is left alone */
	RESTORE_GONE,	    /* the domain or the tunable no longer exists */
	RESTORE_OFFLINE,    /* every CPU is offline; the value stays in the file */
	RESTORE_HIDDEN,	    /* a preference under the performance governor; stays likewise */
	RESTORE_FAILED,	    /* the value stays in the file */
};

struct restore_result {
	uint32_t policy;  /* the N of policyN, or CONTROL_SHARED, also for a CPU's */
	const char *name; /* of the control, or of a tunable with its governor; valid in the call */
	enum restore_outcome outcome;
	const char *value;   /* the saved value; valid during the call */
	const char *current; /* for RESTORE_TAKEN_OVER: the present value */
	int error;	     /* for RESTORE_FAILED: a negative errno */
};

/* Called for each control in order; for a tunable only if it was, or could have been, written. */
typedef void (*restore_report_t)(void *userdata, const struct restore_result *result);

/*
 * Restores the values in DIRECTORY/originals. Lines stay if they failed or their domain is offline;
 * without lines the file is removed. Idempotent, also without file or directory. Returns 0, the
 * number of controls that must wait, or the first negative errno (if statefile_refusal() has a
 * reason, the file was refused and nothing was written).
 */
int restore_saved(const char *directory, restore_report_t report, void *userdata);

/*
 * Call it before restoring several domains of a table in a row: schedutil then sees all limits
 * within one wait.
 */
void restore_visit(struct saved_values *saved);

/*
 * The same for one domain of a table in memory; saves the table. Shared tunables stay in it until
 * every domain of their governor is restored. report may be NULL.
 */
int restore_domain(struct saved_values *saved, uint32_t policy, restore_report_t report,
		   void *userdata);

/*
 * The same except for a control that another program took over from `ours`: its line stays, with
 * `ours` as our value. With a speed the governor `userspace` stays too.
 */
int restore_others(struct saved_values *saved, uint32_t policy, enum control control,
		   const char *ours);

/*
 * Writes a value to a control that holds `now`. A former value of ours there is restored first, and
 * then the new one is saved, so that a kill at any point leaves a value that the file knows.
 * Returns 0, or a negative errno with the control restored and its line dropped, unless that failed
 * as well (-EBUSY: offline); -ESTALE when another program has just written it.
 */
int restore_and_set(struct saved_values *saved, enum control control, uint32_t number,
		    const char *now, const char *value);

/*
 * One sentence for the journal, such as "restored policy0 scaling_governor to schedutil" or
 * "restored schedutil/rate_limit_us to 7777", always ended by a NUL, and cut to size.
 */
void restore_describe(const struct restore_result *result, char *ret_text, size_t size);
