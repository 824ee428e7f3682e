/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Energy that the machine itself measures: the CPU packages' counters (powercap), else a battery
 * that discharges, else a power sensor of the machine or its CPUs (hwmon). The first that can be
 * read is used throughout, so that blocks are alike.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shared/sysfs.h"

#define ENERGY_INPUTS_MAX 16

struct energy_input {
	/* energy counts microjoules; power is in microwatts, and the product of two where the
	 * second is set; discharging is a word that holds while power counts */
	char energy[SYSFS_PATH_SIZE], power[SYSFS_PATH_SIZE], times[SYSFS_PATH_SIZE];
	char discharging[SYSFS_PATH_SIZE];
	double range_uj; /* where the counter begins again; 0: nowhere */
	double last;	 /* microjoules, or microwatts */
};

struct energy_meter {
	const char *source; /* "powercap", "battery" or "hwmon"; NULL: there is none */
	struct energy_input inputs[ENERGY_INPUTS_MAX];
	uint32_t n_inputs;
	uint64_t read_ns;
	double joules;	 /* since it was found */
	uint32_t n_lost; /* readings that failed: what lies between them is not in joules */
};

/* sys is /sys. */
void energy_find(const char *sys, uint64_t now_ns, struct energy_meter *ret);

/*
 * Adds what was used since the last reading. Power is taken to change evenly between two readings,
 * and a counter to begin again once at most: read it each second.
 */
void energy_read(struct energy_meter *meter, uint64_t now_ns);
