/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the controls held before us, and how they get it back.
 *
 * Before the first write to a control, its value goes to DIRECTORY/originals (saved_add()), with
 * the value that we are about to write; only then the control is written. A clean end restores each
 * control, drops its line, and removes the file with the last one (actuator/restore.h). After any
 * other end of the daemon, ExecStopPost= of its unit runs `wakegovd --restore`, which does the same
 * from the file alone. A daemon that starts while a file is there keeps the values in it: the first
 * one saved is the one from before us. A control that holds what we wrote is ours, and gets its
 * saved value; one that holds any other value was set by another program, and keeps it. A kill
 * between save and write leaves a line for a control that still has its saved value, and restoring
 * it changes nothing. A control that goes from one value of ours to another has the saved one in
 * between (restore_and_set()), so that no kill leaves a value that the file does not know. Speeds
 * and limits change too often for that: their line says `*`, everything found there counts as ours,
 * and the daemon drops the line when it sees another writer. A line stays while its restoring fails
 * or its domain is offline; a file of an earlier boot is ignored.
 *
 *	/sys/devices/system/cpu/cpufreq/policy0/scaling_governor schedutil userspace
 *	/sys/devices/system/cpu/cpufreq/policy0/scaling_setspeed 1400000 *
 *	/sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us 7777 *
 *	/sys/devices/system/cpu/cpu3/power/pm_qos_resume_latency_us 0 50
 *
 * A line has a control's path, its value before us, and what we put there. For a tunable of the
 * governor that we replaced, the third word is `*` until the governor is back, and then the
 * kernel's default, with which it came back and which stands there if our write failed. For a
 * governor it is `*` from the moment at which its restoring begins. Where another program sets a
 * control in the place of ours, the line stays with our last value: the program may put back what
 * it found, and then that is ours to restore.
 *
 * While the performance governor of intel_pstate and amd-pstate is in charge, the preference reads
 * as `performance`, whatever was set, and takes nothing else; after it intel_pstate has the one
 *from before again, and amd-pstate keeps `performance`. The line then says `power*`: both are ours.
 *
 * A file with a line that we would not have written is refused as a whole: a line can name nothing
 * but five files of a policyN, one of a cpuN, and files directly in cpufreq/GOVERNOR/ or
 * cpufreq/policyN/GOVERNOR/. The form of the file is shared/statefile.h's.
 */

#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>

#include "actuator/control.h"
#include "core/topology.h"

#define SAVED_FILE	   "originals"
#define SAVED_ANY	   "*"
#define SAVED_CONTROLS_MAX ((size_t)TOPOLOGY_DOMAINS_MAX * CONTROL_N + TOPOLOGY_CPUS_MAX)
#define SAVED_TUNABLES_MAX ((size_t)4096)

/*
 * tunables.c: a kernel governor's tunables: the files in cpufreq/GOVERNOR/, shared by all domains
 * that it governs, or in cpufreq/policyN/GOVERNOR/ where the driver has a governor per policy. The
 * kernel frees them with the last domain that leaves the governor, and makes them anew, with its
 * defaults, for the first that comes back.
 */

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

struct saved_value {
	uint32_t policy; /* the N of policyN, or of cpuN for a CPU's control */
	enum control control;
	char value[CONTROL_VALUE_SIZE]; /* before us */
	char put[CONTROL_VALUE_SIZE];	/* what we put there, or SAVED_ANY */
	bool hidden;  /* of a preference: the performance governor shows its own in its place */
	bool visited; /* of a maximum that is about to be restored: actuator/limits.h */
};

/* The table in memory, and where its file lies. */
struct saved_values {
	char *directory;
	size_t n;
	struct saved_value *entries;
	size_t n_tunables;
	struct tunable *tunables;
};

/*
 * Loads the file of `directory`; without a file, or with an earlier boot's, the table is empty.
 * Returns 0 or a negative errno, as statefile_open() does. The caller frees.
 */
int saved_open(const char *directory, struct saved_values **ret);

struct saved_values *saved_free(struct saved_values *saved);

struct saved_value *saved_find(const struct saved_values *saved, uint32_t policy,
			       enum control control);

/* The entry for the same file as `like`, or NULL. */
struct tunable *saved_find_tunable(const struct saved_values *saved, const struct tunable *like);

/*
 * Whether the tunable's governor is a saved value that still has to be put back: on policyN for a
 * policy's own, on any for a shared one.
 */
bool saved_awaits_governor(const struct saved_values *saved, const struct tunable *tunable);

/* An entry, for saved_add(). The words have less than CONTROL_VALUE_SIZE bytes. */
struct saved_value saved_entry(uint32_t policy, enum control control, const char *value,
			       const char *put);
/* The same for a frequency, which changes all the time. */
struct saved_value saved_entry_khz(uint32_t policy, enum control control, uint32_t khz);

/*
 * Adds the controls of one domain, and the tunables of its governor, and saves. One that is in the
 * table already and still holds what we put (a crash before us that could not be undone), or that
 * another domain has added, keeps its first saved value. Returns 0 or a negative errno (-ENOSPC):
 * then table and file are as before. -E2BIG beyond SAVED_CONTROLS_MAX or _TUNABLES_MAX; -EINVAL for
 * a value, such as a governor's name, with which the file would be refused.
 */
int saved_add(struct saved_values *saved, const struct saved_value *entries, size_t n,
	      const struct tunable *tunables, size_t n_tunables);

/* Whether a control that holds `now` has what we put there, or what the kernel shows for it. */
bool saved_is_ours(const struct saved_value *entry, const char *now);

/*
 * Another saved value for a control of the table, as another program changed it while we held
 * nothing else there, and saves. Returns 0 (also without an entry) or a negative errno.
 */
int saved_replace(struct saved_values *saved, uint32_t policy, enum control control,
		  const char *value);

/* That a preference of the table is hidden now, or is not any more; saves. 0 or a negative errno.
 */
int saved_hide(struct saved_values *saved, struct saved_value *entry, bool hidden);

/* Drops one control from the table only. */
void saved_drop(struct saved_values *saved, uint32_t policy, enum control control);

/* Drops tunables[index] from the table only; those behind it move up. */
void saved_drop_tunable(struct saved_values *saved, size_t index);

/* Writes the file, or removes it when the table is empty. 0 or a negative errno. */
int saved_save(const struct saved_values *saved);
