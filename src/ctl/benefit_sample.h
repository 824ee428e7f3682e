/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The kernel's counters by which wakegovctl benefit measures a block. They only grow. */

#include <stdbool.h>
#include <stdint.h>

#include "wakegov/wakeups.h"

/* A counter that is not known stays 0 throughout, so that its difference is 0. */
struct benefit_sample {
	uint64_t time_ns;
	uint64_t ios;	  /* completed requests of all disks; those of stacked disks count once */
	uint64_t io_ms;	  /* sum of the times that they took */
	double khz_s;	  /* integral of the frequency, summed over the domains … */
	double domain_s;  /* … over this sum of their times */
	uint64_t changes; /* changes of frequencies */
	double wait_us;	  /* time waiting for a CPU, summed over all tasks … */
	double waits;	  /* … in this number of turns on one */
	/* Filled by the caller: from the tracer, the model and the energy meter. */
	uint64_t wakeups[WAKEGOV_WAKEUP_BUCKETS]; /* of the chosen tasks, by latency */
	double cpu_s;				  /* sum of the busy times of all CPUs */
	double joules;
	uint32_t n_lost;
	double full_cpu_s;
};

/* Leaves wakeups and what follows at 0. */
void benefit_sample(struct benefit_sample *ret);
