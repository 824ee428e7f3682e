/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording as one picture: for each domain its frequency over time, on the colour of the reason;
 * below, the most boosted tasks, with the states of their boosts.
 */

#include <stdio.h>

#include "record/columns.h"

/* title is UTF-8 without control characters. Write errors show in ferror(out). */
void picture_write(FILE *out, const char *title, const struct topology *topology,
		   struct columns *columns);
