/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The real frequency of CPUs with counters, so that work under turbo or throttling is accounted
 * correctly. Without counters, or if they prove wrong, the caller uses the kernel's frequency.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/settings.h"
#include "core/topology.h"

/*
 * counters.c: pairs of per-CPU counters that show the real frequency: one counts with the CPU's
 * clock, one at a fixed rate, both only while the CPU works. There are three ways to read them;
 * tests add one with recorded values.
 */

struct counts {
	uint64_t actual;
	uint64_t reference;
};

struct counter_reader {
	const char *name;
	/*
	 * Tries the reader on the caller's CPU, the only one that is certainly awake. base_khz is
	 * the CPUs' base frequency; 0: unknown. Returns 0 with *ret, or a negative errno with
	 * *ret_why, a static phrase.
	 */
	int (*open)(uint32_t n_cpus, uint32_t base_khz, void **ret, const char **ret_why);
	/*
	 * Wakes an idle CPU: call it only for a working one. *ret_khz is the rate of the reference;
	 * 0: not known yet. Returns 0 or a negative errno.
	 */
	int (*read)(void *state, uint32_t cpu, struct counts *ret, uint32_t *ret_khz);
	/* Called after the CPU was offline or suspended. NULL: nothing to do. */
	void (*forget)(void *state, uint32_t cpu);
	void (*close)(void *state);
	uint64_t capabilities; /* 1 << CAP_…: needed to reopen a CPU's counters */
};

/* aperf and mperf of perf's `msr` PMU: CAP_PERFMON, CAP_SYS_ADMIN. */
extern const struct counter_reader counter_reader_perf;
/* acpi_cppc/feedback_ctrs, on arm64 the activity monitors. */
extern const struct counter_reader counter_reader_cppc;

/* The better first, and NULL. */
extern const struct counter_reader *const counter_readers[];

/*
 * The rate at which MPERF counts: base_khz if known, else that of the time stamp counter since
 * clock_start(); 0 until that can be computed, and on other machines.
 */
struct counter_clock {
	uint32_t base_khz;
	uint64_t start_tsc;
	uint64_t start_ns;
};

void counter_clock_start(struct counter_clock *clock, uint32_t base_khz);
uint32_t counter_clock_khz(struct counter_clock *clock);

/* Reads scaling_cur_freq of a CPU; 0: it cannot be read. */
typedef uint32_t (*frequency_ask_t)(void *userdata, uint32_t cpu);

/* The start of a measurement of a CPU. */
struct frequency_base {
	uint64_t ns; /* 0: none */
	uint32_t reported_khz;
	struct counts counts;
};

struct frequency {
	uint32_t n_cpus;
	uint32_t base_khz;
	const struct counter_reader *const *reader; /* *reader is NULL: the kernel's frequency */
	void *state;				    /* the reader's */
	frequency_ask_t ask;
	void *userdata;
	uint32_t doubts;
	uint64_t measured_ns; /* of the last CPU; 0: none yet, or by the kernel's frequency */
	char why[512];	      /* the readers before it are not used: "perf: …; cppc: …" */
	struct frequency_base bases[];
};

/*
 * readers is borrowed: the best first, ended by NULL; the first that can be opened is used. ask is
 * called when a measurement differs more than twofold from the reported frequency, as turbo is not
 * always reported. Returns NULL without memory.
 */
struct frequency *frequency_new(uint32_t n_cpus, uint32_t base_khz,
				const struct counter_reader *const *readers, frequency_ask_t ask,
				void *userdata);
struct frequency *frequency_free(struct frequency *frequency);

enum frequency_outcome {
	FREQUENCY_NOTHING,  /* no measurement yet, or no counters */
	FREQUENCY_MEASURED, /* *ret_khz is the mean since the last call, idle time excluded */
	FREQUENCY_DROPPED,  /* the reader proved wrong (see why); the next one is used */
};

/*
 * Measures a CPU, which must be working, as reading wakes an idle one. reported_khz is the
 * frequency set by the kernel (0: unknown), and reported_ns the time of that. Intervals with a
 * change of it, or shorter than FREQUENCY_LEAST_NS, are not measured.
 */
#define FREQUENCY_LEAST_NS 3000000ULL /* a boost's experiment looks each 4 ms */

enum frequency_outcome frequency_measure(struct frequency *frequency, uint32_t cpu, uint64_t now_ns,
					 uint32_t reported_khz, uint64_t reported_ns,
					 uint32_t *ret_khz);

/* Call it after hotplug and suspend: counters may have restarted. */
void frequency_forget(struct frequency *frequency, uint32_t cpu);

/* The reader in use, or "kernel". */
const char *frequency_source(const struct frequency *frequency);

/*
 * Chooses the frequency at which a CPU has its full capacity. If that is the highest OPP, there is
 * no choice. If it depends on the number of working cores, above the OPPs, the policy decides.
 *
 * The highest frequencies of an Intel CPU are decoded from its model-specific registers, by the
 * rules of arch/x86/kernel/cpu/aperfmperf.c, so that utilisation means the same as in the
 * scheduler. An AMD CPU's are named by the firmware, and the kernel takes the midpoint of the
 * nominal and the highest one: arch/x86/kernel/acpi/cppc.c.
 */

struct turbo {
	uint32_t base_khz;
	uint32_t one_khz;  /* with one working core; 0: not known */
	uint32_t four_khz; /* with four if they differ, else with one; on AMD the midpoint */
};

/*
 * The policy's choice, with decoded turbo (NULL: unknown). Returns the frequency, or 0: the
 * domain's highest OPP. *ret_why is NULL, or a phrase on why the choice differs from the policy.
 */
uint32_t reference_choose(uint32_t policy, const struct turbo *turbo, const char **ret_why);

/* The files that switch turbo, or amd-pstate's mode, ended by NULL. */
extern const char *const reference_switches[];
bool reference_turbo_is_off(void);
/* The frequency without turbo, from the driver of policyN; 0: unknown. */
uint32_t reference_base_khz(uint32_t policy);

/*
 * Reads the registers of the first online CPU if it is an Intel one, or the firmware's values for
 * an AMD one. Returns 0, or a negative errno and a phrase. A turbo that is switched off in /sys
 * counts as none on Intel; on AMD the kernel ignores that switch.
 */
int reference_read_turbo(struct turbo *ret, const char **ret_why);

/* Reads the register into *ret. Returns 0, or a negative errno if there is no such register. */
typedef int (*turbo_read_t)(void *userdata, uint32_t reg, uint64_t *ret);

/*
 * Reads and decodes the registers of an Intel CPU of family 6. Returns 0; -ENODATA with *ret_why a
 * static phrase if they have no value or an impossible one; or another negative errno if they are
 * not readable. With turbo switched off by firmware the result is the base frequency.
 */
int turbo_decode(uint32_t model, turbo_read_t read, void *userdata, struct turbo *ret,
		 const char **ret_why);

/*
 * The frequencies of an AMD CPU: amd_set_max_freq_ratio(). Returns 0, or -ENODATA and a phrase if
 * the two are not known or impossible.
 */
int turbo_of_amd(uint32_t nominal_khz, uint32_t highest_khz, struct turbo *ret,
		 const char **ret_why);

/* The power of a busy CPU at each OPP of a domain. */

enum power_source {
	POWER_UNKNOWN,
	POWER_POLICY, /* opp-power, in uW */
	POWER_KERNEL, /* the kernel's energy model, in uW or a scale of its own */
};

/*
 * Fills opp_power from the first source that has every OPP of the domain, or else with zeros. Only
 * root can read the kernel's, in debugfs.
 */
enum power_source power_find(const struct policy *policy, struct topology_domain *domain);

/* "the policy's opp-power", "the kernel's energy model"; NULL for an unknown source. */
const char *power_source_name(enum power_source source);
