/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a block of wakegovctl benefit is measured by: the kernel's own counters, all of them
 * growing. */

#include <stdbool.h>
#include <stdint.h>

/* Not known is 0 throughout the experiment: its difference is 0. */
struct benefit_sample {
	uint64_t time_ns;
	uint64_t ios;	  /* completed, of all disks; each once where disks are stacked */
	uint64_t io_ms;	  /* that they took, added up */
	double khz_s;	  /* the integral of the frequency, added over the domains … */
	double domain_s;  /* … over so much of their time */
	uint64_t changes; /* of frequencies */
	double wait_us;	  /* for a CPU, added up over the tasks … */
	double waits;	  /* … in so many turns on one */
	/* Of those who keep them. */
	double cpu_s; /* that all CPUs were busy */
	double joules;
	uint32_t n_lost;
	double full_cpu_s;
};

/* pid is the process whose waits count, NULL for all. Leaves cpu_s and what follows at 0. */
void benefit_sample(const char *pid, struct benefit_sample *ret);
