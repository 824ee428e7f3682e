/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The state of one restoration, which restore.c and restore_tunables.c share. */

#include "actuator/restore.h"
#include "actuator/saved.h"

struct restore_run {
	struct saved_values *saved;
	restore_report_t report; /* may be NULL */
	void *userdata;
	int waiting; /* controls of offline domains */
	int error;   /* the first one */
};

/* Reports and counts one result. The caller drops the control from the table when it is done. */
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
 * Restores the tunables of a governor that policyN has just got back, if no domain had it before:
 * the kernel then made them with its defaults. Those that fail are tried again after the rest, as
 * one can depend on another (up_threshold > down_threshold).
 */
void restore_tunables(struct restore_run *run, uint32_t policy, const char *governor);

/*
 * Ends a run. Tunables whose governor needs no restoration any more were never freed, or another
 * program restored it: they are dropped unwritten. Those that failed in an earlier run are tried
 * again, unless another program changed them.
 */
void restore_settle_tunables(struct restore_run *run);
