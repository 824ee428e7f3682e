/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the kernel does to tunables, on top of fake-cpufreq.h: they are freed with the last domain
 * that leaves their governor, and made with the defaults for the first that comes back. It acts
 * when the code under test writes scaling_governor; a test that writes it calls fake_govern().
 *
 *	schedutil	rate_limit_us 15
 *	conservative	up_threshold 80, down_threshold 20; up must stay above down
 */

#include <stdbool.h>

#include "fake-cpufreq.h"

/* policy0 (0-1) and policy2 (2-3) under `governor`; with its tunables in each policy if asked. */
void fake_governors(const char *governor, bool per_policy);

/* As another program would: scaling_governor of the policy, and what follows from it. */
void fake_govern(uint32_t policy, const char *governor);

/* In the place of an error: the process is killed there. */
#define FAKE_KILLED 1

/* Writes to this tunable fail with the error; NULL: none does. */
void fake_fail_tunable(const char *name, int error);
