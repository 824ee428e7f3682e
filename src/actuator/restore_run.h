/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One run over the saved values, as restore.c and restore_tunables.c share it. */

#include "actuator/restore.h"
#include "actuator/saved.h"

struct restore_run {
	struct saved_values *saved;
	restore_report_t report; /* may be NULL */
	void *userdata;
	int waiting; /* controls of offline domains */
	int error;   /* the first one */
};

/* Reports and counts one result; the caller drops it from the table where nothing is left to do. */
static inline void restore_tell(struct restore_run *run, const struct restore_result *result)
{
	if (run->report)
		run->report(run->userdata, result);
	if (result->outcome == RESTORE_OFFLINE)
		run->waiting++;
	else if (result->outcome == RESTORE_FAILED)
		run->error = run->error ?: result->error;
}

/*
 * Writes back the tunables of a governor that policyN has just been given back, when nobody had it
 * before, so that the kernel made them anew. Those that fail are tried again after the rest, as one
 * can depend on another (up_threshold > down_threshold).
 */
void restore_tunables(struct restore_run *run, uint32_t policy, const char *governor);

/*
 * For the end of a run. Tunables whose governor is not awaited any more were never lost, for it was
 * alive all the time or somebody else brought it back: they are left as they are and dropped.
 * Those that failed in an earlier run are tried again, unless somebody else changed them.
 */
void restore_settle_tunables(struct restore_run *run);
