/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamps of tasks where the kernel's governor drives. Its row also sends the clamp classes to the
 * kernel side, before the tasks that have them.
 */

#include "actuator/uclamps.h"
#include "daemon/module.h"

struct clamps {
	struct core *core;
	struct uclamps *tasks;
	uint64_t n_escapes;	  /* of tasks that set their clamps above their cap */
	uint64_t escaped_ns;	  /* when a task last did so */
	uint32_t classes_version; /* of the clamp classes that the tracer has */
	uint64_t refused_rules;	  /* those of which a kernel thread's refusal was logged */
	bool goes_on;		  /* more tasks' clamps have changed than one round applies */
};

extern const struct module clamps_module;
