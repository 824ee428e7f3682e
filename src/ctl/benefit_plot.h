/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The answer of wakegovctl benefit as a picture: a panel for each figure, with a mark for each pair
 * of blocks at what wakegov's had more or less, and the interval that the answer gives.
 */

#include <jansson.h>
#include <stdio.h>

/* What could not be written shows in ferror(out). */
void benefit_plot(FILE *out, const json_t *answer);
