/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Energy by a model, where none can be measured: the busy time of each domain's CPUs, times what a
 * CPU takes at the frequencies that the domain had meanwhile. Idle CPUs take nothing, so a high
 * frequency of an idle domain costs nothing. The unit is the energy of one CPU that is busy for a
 * second at its highest frequency, of the machine's hungriest kind.
 */

#include <stdbool.h>
#include <stdint.h>

#define MODEL_OPPS_MAX 64
#define MODEL_CPUS_MAX 1024

struct model_opp {
	double khz;
	double power;  /* of one busy CPU */
	double time_s; /* in this state, at the last reading */
};

struct model_domain {
	uint32_t policy;
	uint32_t n_opps;
	struct model_opp opps[MODEL_OPPS_MAX];
};

/*
 * The busy time of a CPU is what it was not idle, which the kernel shows in whole ticks, or what
 * its tasks ran, which is exact but lacks the turn that has not ended: whichever is more by now.
 * User and system time of /proc/stat are only sampled: tasks that run between two ticks are missed.
 */
struct model_cpu {
	struct model_domain *domain; /* NULL: none's */
	uint64_t since_ns;	     /* 0: it was not seen yet */
	double idle_s, ran_s;	     /* then */
	double busy_s;		     /* from then to the last reading */
};

struct model {
	const char *sys, *proc;
	bool is_of_kernel; /* by the kernel's energy model; else an estimate by frequency alone */
	struct model_domain *domains;
	uint32_t n_domains; /* 0: the driver keeps no time_in_state */
	struct model_cpu cpus[MODEL_CPUS_MAX];
	double busy_s;	   /* of all CPUs, since it was found */
	double full_cpu_s; /* since it was found */
};

/* sys and proc are /sys and /proc, and must live as long. */
void model_find(const char *sys, const char *proc, uint64_t now_ns, struct model *ret);
void model_deinit(struct model *model);

/*
 * Adds what was used since the last reading. Between two readings a domain's busy time is taken to
 * be spread evenly over its frequencies: the more often it is read the better.
 */
void model_read(struct model *model, uint64_t now_ns);
