/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/core.h"

/* Adds the timer for rounds without an event. Returns 0 or a negative errno. */
int rounds_start(struct core *core);

/*
 * One round: ends holds, decides for due domains and writes, arms the kernel side, lets the modules
 * do what is due, and sets the timer for the next round without an event.
 */
void round_run(struct core *core);
