/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/module.h"

/*
 * While the work of its CPUs keeps every domain at its highest OPP, no decision can change, and
 * only the scheduler's ticks are traced. They are counted five times a second. When a domain has
 * less to do, everything is traced again. A domain without work has no ticks, which is reported at
 * once. In the meantime neither the load of single tasks nor their I/O is seen.
 */

struct saturation {
	struct core *core;
	uint64_t next_ns;  /* next look; 0: no domain, or not every one, is kept full */
	uint64_t again_ns; /* after an end: when it may begin again */
	uint64_t round_ns; /* when a round is due for it */
};

extern const struct module saturation_module;
