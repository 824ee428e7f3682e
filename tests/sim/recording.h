/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What --record does with its file. Faults are said on stderr. */

#include <stdio.h>

#include "record/record.h"

struct recording {
	const char *path; /* borrowed */
	FILE *file;
	struct recorder *recorder;
};

/* Makes path, or empties it. Returns 0, or a negative errno with nothing to be closed. */
int recording_open(struct recording *recording, const char *path);

/*
 * Ends the recording and closes its file. Returns 0, or a negative errno if it was not written
 * whole.
 */
int recording_close(struct recording *recording);
