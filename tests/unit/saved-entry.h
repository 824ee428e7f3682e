/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* An entry of the table of saved values that a compiler can make: SAVED(0, GOVERNOR, "a", "b"). */

#include "actuator/saved.h"

#define NAME_GOVERNOR "scaling_governor"
#define NAME_SETSPEED "scaling_setspeed"
#define NAME_MIN_FREQ "scaling_min_freq"
#define NAME_MAX_FREQ "scaling_max_freq"

#define SAVED(n, kind, before, put)                                                      \
	{                                                                                \
		.path = CONTROL_DIRECTORY "/policy" #n "/" NAME_##kind, .value = before, \
		.ours = put, .control = CONTROL_##kind, .policy = n                      \
	}
