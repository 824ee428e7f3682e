/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Energy by a model, for machines that measure none: the busy time of each domain's CPUs, times the
 * power of one CPU at the domain's frequencies in that time. Idle CPUs take nothing, so a high
 * frequency of an idle domain costs nothing. The unit is the energy of one CPU that is busy for a
 * second at its highest frequency, of the kind that takes most.
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
 * A CPU's busy time is either its time not idle, which the kernel shows in whole ticks, or the run
 * time of its tasks, which is exact but lacks the present turn: whichever has grown more. User and
 * system time of /proc/stat are only sampled, which misses tasks that run between two ticks.
 */
struct model_cpu {
	struct model_domain *domain; /* NULL: of none */
	uint64_t since_ns;	     /* 0: not seen yet */
	double idle_s, ran_s;	     /* at that time */
	double busy_s;		     /* from that time to the last reading */
};

struct model {
	const char *sys, *proc;
	bool is_of_kernel; /* from the kernel's energy model; else estimated from the frequency
			      alone */
	struct model_domain *domains;
	uint32_t n_domains; /* 0: the driver keeps no time_in_state */
	struct model_cpu cpus[MODEL_CPUS_MAX];
	double busy_s;	   /* of all CPUs, since it was found */
	double full_cpu_s; /* since it was found */
};

/* sys and proc are the paths of /sys and /proc, and are borrowed. */
void model_find(const char *sys, const char *proc, uint64_t now_ns, struct model *ret);
void model_deinit(struct model *model);

/*
 * Adds the energy since the last reading. A domain's busy time is assumed to be spread evenly over
 * the frequencies between two readings, so more readings are more accurate.
 */
void model_read(struct model *model, uint64_t now_ns);
