/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/module.h"

/*
 * Where no decision is open, next to no program runs: while every domain is kept at its highest OPP
 * by the work of its CPUs, only the scheduler's ticks are traced. They are counted five times a
 * second, and as soon as a domain has less to do, all is traced again. What was not seen meanwhile:
 * how busy single tasks were, and their I/O.
 */

struct saturation {
	struct core *core;
	uint64_t next_ns;  /* next look; 0: ticks are not counted */
	uint64_t round_ns; /* when a round is due for it */
};

extern const struct module saturation_module;
