/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/module.h"

/*
 * Where no decision is open, next to no program runs: while every domain is kept at its highest OPP
 * by the work of its CPUs, only the scheduler's ticks are traced. They are counted five times a
 * second, and as soon as a domain has less to do all is traced again; where it has nothing to do,
 * its ticks end, which is news at once. What was not seen meanwhile: how busy single tasks were,
 * and their I/O.
 */

struct saturation {
	struct core *core;
	uint64_t next_ns;  /* next look; 0: no domain, or not every one, is kept full */
	uint64_t again_ns; /* after an end: when it may begin again */
	uint64_t round_ns; /* when a round is due for it */
};

extern const struct module saturation_module;
