/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a run came to, without its warm-up. */

#include "sim/governor.h"

#define RESULT_THREADS_MAX 16 /* that are told one by one */

struct result_thread {
	double iops;
	double rounds_per_s;
	double host_percent;	/* of the time: the device was idle until this thread sent */
	double running_percent; /* of that, with the thread on a CPU */
};

struct result_device {
	double completions_per_s;
	double idle_percent;
	double mean_depth;
	double mean_latency_us; /* from Little's law */
};

struct result {
	const struct workload *workload;
	const char *governor;
	double iops;
	double rounds_per_s; /* of busy threads and chains */
	double mean_mhz;     /* over CPUs and time */
	double mhz[PLATFORM_DOMAINS_MAX];
	double lowest_opp_percent; /* of the time, mean over CPUs */
	double changes_per_s;
	double energy_j;
	double busy_percent;	  /* of the CPUs' time */
	double off_queue_percent; /* of it: interrupts and leaving idleness */
	double host_percent;	  /* of the time: devices idle for a thread, all threads together */
	double running_percent;	  /* of that, with the thread on a CPU */
	struct result_device devices[PLATFORM_DEVICES_MAX];
	struct result_thread threads[RESULT_THREADS_MAX];
	uint32_t n_threads;
	uint64_t ios; /* simulated in all, with the warm-up */
};

struct run_options {
	uint64_t seed;
	uint64_t warm_up_ns;
	uint64_t duration_ns;	     /* after it */
	struct recorder *recorder;   /* of wakegov's engine, as in sim_new(); NULL for none */
	const struct policy *policy; /* likewise */
};

/* Runs one workload under one governor. Returns 0, or a negative errno. */
int result_run(const struct platform *platform, const struct workload *workload,
	       const struct sim_governor *governor, const uint32_t *fixed_khz,
	       const struct run_options *options, struct result *ret);

/*
 * The oracle: tries the fixed OPPs, of all domains that are alike together, and runs with those of
 * the least mean frequency that give SLACK of the most I/Os and rounds. Returns 0, or a negative
 * errno.
 */
int oracle_run(const struct platform *platform, const struct workload *workload,
	       const struct run_options *options, struct result *ret);
