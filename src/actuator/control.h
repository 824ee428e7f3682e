/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The controls of a domain, files in /sys/devices/system/cpu/cpufreq/policyN. libcpupower is not
 * used for them: it opens a file again for each access, and turns every error into -ENODEV.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_CPUS	  "/sys/devices/system/cpu"
#define CONTROL_DIRECTORY "/sys/devices/system/cpu/cpufreq"

/* The longest value is "balance_performance", or a governor's name; with NUL. */
#define CONTROL_VALUE_SIZE    24
#define CONTROL_GOVERNOR_SIZE 16

enum control {
	CONTROL_GOVERNOR,   /* scaling_governor */
	CONTROL_SETSPEED,   /* scaling_setspeed, kHz */
	CONTROL_MIN_FREQ,   /* scaling_min_freq, kHz */
	CONTROL_MAX_FREQ,   /* scaling_max_freq, kHz */
	CONTROL_PREFERENCE, /* energy_performance_preference; many drivers have none */
	CONTROL_N,
	/* boost of policyN, on newer kernels, or of the machine: only watched */
	CONTROL_BOOST = CONTROL_N,
	CONTROL_TUNABLE, /* a file in cpufreq/GOVERNOR/ or cpufreq/policyN/GOVERNOR/ */
};

/* The name of its file. */
extern const char *const control_names[];

#define CONTROL_PATH_SIZE 128

/* What the performance governor shows as energy preference. */
#define PREFERENCE_PERFORMANCE "performance"

/* The requests that the kernel begins with: FREQ_QOS_MIN_DEFAULT_VALUE and _MAX_. */
#define LIMIT_NO_MIN "0"
#define LIMIT_NO_MAX "2147483647"

/* The policy number of tunables that all domains share. */
#define CONTROL_SHARED UINT32_MAX

/*
 * The directory of a governor's tunables, with "/": policyN's, or shared ones. The kernel frees the
 * tunables with the last domain that leaves the governor, and creates them with its defaults for
 * the next domain.
 */
void control_tunables_path(uint32_t policy, const char *governor,
			   char ret[static CONTROL_PATH_SIZE]);

/* Where the file of a control of policyN is. */
void control_path(enum control control, uint32_t policy, char ret[static CONTROL_PATH_SIZE]);

/*
 * Whether the performance governor hides the energy preference, read as `now`, from user space. Its
 * driver then accepts no other word.
 */
bool control_preference_is_hidden(uint32_t policy, const char *now);

/*
 * Opens a path with open(2)'s flags and O_CLOEXEC. Refuses a symbolic link in any part of it
 * (-ELOOP). Returns the descriptor or a negative errno.
 */
int control_open_path(const char *path, int flags);

/* Open it, read or write as control_read() and control_write() do, and close it. */
int control_read_path(const char *path, char *ret_value, size_t size);
int control_write_path(const char *path, const char *value);
int control_load(enum control control, uint32_t number, char *ret_value, size_t size);

/* The same for a file of policyN; `file` is one name. */
int control_open(uint32_t policy, const char *file, int flags);

/*
 * Reads the first line from offset 0, without its newline. Returns its length or a negative errno:
 * -EBUSY when all CPUs of the domain are offline, -EOVERFLOW when it does not fit.
 */
int control_read(int fd, char *ret_value, size_t size);

/* The same for a decimal number; -EINVAL for other text, such as `<unsupported>`. */
int control_read_u32(int fd, uint32_t *ret);

/* The same for a file of policyN that is not a control. */
int control_read_file(uint32_t policy, const char *file, char *ret_value, size_t size);

/* Whether a file of policyN, a list of words, contains this one. Otherwise a negative errno. */
int control_lists(uint32_t policy, const char *file, const char *word);

/* The longest is a tunable's value, with newline and NUL. */
#define CONTROL_LINE_SIZE 33

/* Writes value and a newline in one write at offset 0. Returns 0 or a negative errno. */
int control_write(int fd, const char *value);
int control_write_u32(int fd, uint32_t value);
