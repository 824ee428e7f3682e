/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Energy, as the machine measures it, or by a model where it measures none. */

#include <stdbool.h>
#include <stdint.h>

#include "shared/sysfs.h"

/*
 * The energy that the machine itself measures, from the CPU packages' counters (powercap), else a
 * discharging battery, else a power sensor of the machine or its CPUs (hwmon). The first that can
 * be read is used throughout, so that blocks are comparable.
 */

#define ENERGY_INPUTS_MAX 16

struct energy_input {
	/*
	 * energy is in microjoules; power is in microwatts, or the product of two files if the
	 * second is set; if discharging is set, power counts only while that file has its word
	 */
	char energy[SYSFS_PATH_SIZE], power[SYSFS_PATH_SIZE], times[SYSFS_PATH_SIZE];
	char discharging[SYSFS_PATH_SIZE];
	double range_uj; /* where the counter wraps; 0: it does not */
	double last;	 /* microjoules, or microwatts */
};

struct energy_meter {
	const char *source; /* "powercap", "battery" or "hwmon"; NULL: there is none */
	struct energy_input inputs[ENERGY_INPUTS_MAX];
	uint32_t n_inputs;
	uint64_t read_ns;
	double joules;	 /* since the input was found */
	uint32_t n_lost; /* failed readings: the time between them is missing from joules */
};

/* sys is the path of /sys. */
void energy_find(const char *sys, uint64_t now_ns, struct energy_meter *ret);

/*
 * Adds the energy since the last reading. Assumes that power changes linearly between two readings,
 * and that a counter wraps at most once: call it every second.
 */
void energy_read(struct energy_meter *meter, uint64_t now_ns);

/*
 * Energy by a model, for machines that measure none: the busy time of each domain's CPUs, times the
 * power of one CPU at the domain's frequencies in that time. Idle CPUs take nothing, so a high
 * frequency of an idle domain costs nothing. The unit is the energy of one CPU that is busy for a
 * second at its highest frequency, of the kind that takes most.
 */
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
