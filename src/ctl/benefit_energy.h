/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The energy that the machine itself measures, from the CPU packages' counters (powercap), else a
 * discharging battery, else a power sensor of the machine or its CPUs (hwmon). The first that can
 * be read is used throughout, so that blocks are comparable.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shared/sysfs.h"

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
