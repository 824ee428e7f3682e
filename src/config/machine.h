/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What a valid policy asks of domains that this machine does not have: a [domain policyN] that is
 * not there, a frequency that is none of the domain's. It holds all the same; the next frequency is
 * used.
 */

#include "core/settings.h"
#include "core/topology.h"

/* line: "[domain policy0] max-frequency = 1500 MHz: …", once for each key of a section. */
void policy_machine_check(const struct policy *policy, const struct topology *topology,
			  void (*warn)(void *userdata, const char *line), void *userdata);
