/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Warns of settings of a valid policy that do not fit this machine: a [domain policyN] without such
 * a domain, a frequency that is no OPP. They are applied, with the next OPP.
 */

#include "core/settings.h"
#include "core/topology.h"

/* line: "[domain policy0] max-frequency = 1500 MHz: …", once for each key of a section. */
void policy_machine_check(const struct policy *policy, const struct topology *topology,
			  void (*warn)(void *userdata, const char *line), void *userdata);
