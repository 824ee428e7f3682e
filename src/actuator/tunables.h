/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A kernel governor's tunables: the files in cpufreq/GOVERNOR/, shared by all domains that it
 * governs, or in cpufreq/policyN/GOVERNOR/ where the driver has a governor per policy. The kernel
 * frees them with the last domain that leaves the governor, and makes them anew, with its
 * defaults, for the first that comes back.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actuator/control.h"

/* With NUL; the kernel's names have up to 21 characters, its values ten digits. */
#define TUNABLE_NAME_SIZE	  32
#define TUNABLE_VALUE_SIZE	  32

#define TUNABLES_PER_GOVERNOR_MAX 32

/* Stands for the policy of a tunable that all domains share. */
#define TUNABLE_SHARED UINT32_MAX

struct tunable {
	uint32_t policy; /* the N of policyN, or TUNABLE_SHARED */
	char governor[CONTROL_VALUE_SIZE];
	char name[TUNABLE_NAME_SIZE];
	char value[TUNABLE_VALUE_SIZE]; /* value before us, one word */
	char put[TUNABLE_VALUE_SIZE];	/* see actuator/saved.h */
	bool tried; /* restoring it failed and was reported in this process; not saved to disk */
};

/*
 * Whether text is valid as a governor, a tunable's name or a value. Only valid text is written to
 * /sys.
 */
bool tunable_is_governor(const char *text);
bool tunable_is_name(const char *text);
bool tunable_is_value(const char *text);

/* The tunable's file. Returns false if it does not fit. */
bool tunable_path(const struct tunable *tunable, char *ret_path, size_t size);

/* Whether the governor has tunables now, shared or of policyN. */
bool tunables_exist(uint32_t policy, const char *governor);

/*
 * Reads the governor's tunables that can be read and written, those of policyN or else the shared
 * ones, sorted by name. Those that cannot be saved (a name or value that is too long or not one
 * word, an error, more than n_max) are left out; ret_unsaved, which may be cut, names them. Returns
 * the number, 0 for a governor without tunables, or a negative errno.
 */
int tunables_collect(uint32_t policy, const char *governor, struct tunable *ret, size_t n_max,
		     char *ret_unsaved, size_t unsaved_size);

/*
 * Reads or writes one. No symbolic link is followed below CONTROL_DIRECTORY. Return 0 or a negative
 * errno: -ENOENT when it or its governor is not there, -EINVAL for what is not a value.
 */
int tunable_read(const struct tunable *tunable, char ret_value[TUNABLE_VALUE_SIZE]);
int tunable_write(const struct tunable *tunable, const char *value);
