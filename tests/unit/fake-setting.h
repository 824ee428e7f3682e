/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A domain of the made-up tree, for tests of one backend: the tree, the files to save in, policy0.
 */

#include "fake-cpufreq.h"

#include "actuator/backend.h"
#include "actuator/saved.h"

struct setting {
	struct saved_values *saved;
	struct actuator_domain domain;
	const char *run_dir;
};

/* The tree with policy0 (0-1); what a test changes of it comes next. 0, or -1. */
int setting_begin(void **state);

/* What the code under test finds there. 0, or a negative number. */
int setting_open(struct setting *setting, const struct topology_domain *info);

int setting_tear_down(void **state);

/* A test that gets its setting, s. */
#define SETTING_TEST(name, set_up)                 \
	static void name##_of(struct setting *s);  \
	TEST_WITH(name, set_up, setting_tear_down) \
	{                                          \
		name##_of(*state);                 \
	}                                          \
	static void name##_of(struct setting *s)
