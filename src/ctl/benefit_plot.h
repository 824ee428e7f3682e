/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The answer of wakegovctl benefit as a picture: a panel for each figure, with a mark for each pair
 * of blocks at the difference that wakegov made, and the answer's interval.
 */

#include <jansson.h>
#include <stdio.h>

/* A failed write shows in ferror(out). */
void benefit_plot(FILE *out, const json_t *answer);
