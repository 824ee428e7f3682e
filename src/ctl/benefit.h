/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * wakegovctl benefit: a switchback experiment. Blocks come in adjacent pairs, one with wakegov and
 * one without, so that anything that drifts slower than a pair cancels in d = ln(with / without).
 * benefit.c conducts it, benefit_block.c measures one block, by benefit_energy.c the energy, and
 * benefit_answer.c has the statistics and states the result.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl/command.h"
#include "shared/sysfs.h"
#include "wakegov/wakeups.h"

#define BENEFIT_PAIRS_LEAST 3
#define BENEFIT_PAIRS_MAX   4096

/* In the order of the answer. A block's value is above 0, or 0 if it is not known. */
enum benefit_figure {
	FIGURE_OWN, /* the number that the command printed */
	FIGURE_RUN,
	FIGURE_IOS,
	FIGURE_IO_TIME,
	FIGURE_WAKEUP,
	FIGURE_WAIT,
	FIGURE_CPU,
	FIGURE_ENERGY,
	FIGURE_ESTIMATE,
	FIGURE_FREQUENCY,
	FIGURE_CHANGES,
	FIGURES,
};

/* benefit_answer.c */

/*
 * Decides, by seed, in which pairs the block with wakegov comes first: in half of them (for an odd
 * number, one more or less).
 */
void benefit_order(uint64_t seed, uint32_t n_pairs, bool *ret_with_first);

/* Sums over n pairs. All zero: none yet. */
struct benefit_sums {
	uint32_t n;
	double sum;
	double squares;
};

/* Both are above 0. */
void benefit_add(struct benefit_sums *sums, double with, double without);

/*
 * with / without, and its interval of 99 %. An answer has about eight figures; of a hundred answers
 * where nothing differs, few may claim a difference in any.
 */
struct benefit_ratio {
	double ratio;
	double low;
	double high;
};

/* False: there are too few pairs. */
bool benefit_ratio(const struct benefit_sums *sums, struct benefit_ratio *ret);

/*
 * The 99.5 % quantile of Student's t (Biometrika 6, 1908) with this number of degrees of freedom,
 * for an interval of 99 %. By G. W. Hill's algorithm 396, CACM 13 (10), 1970.
 */
double benefit_student(uint32_t freedom);

/* With fewer a hundredth of them is less than one. */
#define BENEFIT_WAKEUPS_LEAST 100

/* Their 99th percentile in us, from the counts of wakeups.h. 0: there are too few for one. */
double benefit_wakeup_p99_us(const uint64_t counts[WAKEGOV_WAKEUP_BUCKETS]);

/* Zero it and set its words before the first pair. */
struct benefit_findings {
	const char *against;	   /* NULL: the governor that was set before wakegov */
	const char *own;	   /* name of the command's figure; NULL: it has none */
	const char *wakeups_of;	   /* whose wake-ups are timed; NULL: none are */
	bool wakeups_asked;	   /* --wakeups: the verdict is about them, unless own is set */
	const char *energy_source; /* NULL: none */
	const char *estimate;	   /* how the energy is estimated */
	uint64_t seed;
	double block_s;
	uint32_t n_pairs;
	uint32_t n_void;
	struct benefit_sums sums[FIGURES];
	float ratios[BENEFIT_PAIRS_MAX][FIGURES]; /* in each pair; 0: not known */
	double with[FIGURES];			  /* sums over the pairs that have the figure */
	double without[FIGURES];
};

void benefit_add_pair(struct benefit_findings *findings, const double with[FIGURES],
		      const double without[FIGURES]);

/* The answer as wakegovctl(1) documents it; its verdict is a sentence for people. */
json_t *benefit_answer(const struct benefit_findings *findings);

void benefit_show_answer(const json_t *answer);

/*
 * The answer as a picture: a panel for each figure, with a mark for each pair of blocks at the
 * difference that wakegov made, and the answer's interval. A failed write shows in ferror(out).
 */
void benefit_plot(FILE *out, const json_t *answer);

/* benefit_energy.c */

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

/* benefit_block.c */

/* What blocks are measured by. */
struct benefit_meters {
	const struct ctl *ctl;	 /* its arguments are the command to time, if there are any */
	const char *own;	 /* name of the command's figure; NULL: it has none */
	int signals;		 /* of SIGINT and SIGTERM */
	bool interrupted;	 /* one of them came */
	struct wakeups *wakeups; /* of the chosen tasks; NULL: none are timed */
	struct energy_meter energy;
	struct model model;
};

/* Waits, and reads the sensors meanwhile; an interruption ends it. */
void benefit_wait(struct benefit_meters *meters, uint64_t until_ns);

/*
 * Measures from now on: the command, run again and again until then, or without a command the
 * machine until then. False: the command failed, which was printed.
 */
bool benefit_measure(struct benefit_meters *meters, uint64_t until_ns, double ret[FIGURES]);
