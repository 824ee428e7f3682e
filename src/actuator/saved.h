/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The values of the controls before us, and how they are restored.
 *
 * Before the first write to a control, its value goes to DIRECTORY/originals (saved_add()), with
 * the value that we are about to write; only then the control is written. A clean end restores each
 * control, drops its line, and removes the file with the last one (restore.c). After any
 * other end of the daemon, ExecStopPost= of its unit runs `wakegovd --restore`, which does the same
 * from the file alone. A daemon that finds a file at its start keeps the values in it: the first
 * saved value is the one from before us. A control that holds our value is ours, and gets its saved
 * value. Any other value was set by another program, and stays. A kill between save and write
 * leaves a line for an unchanged control, and restoring that changes nothing. Between two values of
 * ours a control is restored (restore_and_set()), so that no kill leaves a value that the file does
 * not know. Speeds and limits change too often for that: their line says `*`, any value found there
 * counts as ours, and the daemon drops the line when it sees another writer. A line stays while
 * restoring it fails or its domain is offline; a file of an earlier boot is ignored.
 *
 *	/sys/devices/system/cpu/cpufreq/policy0/scaling_governor schedutil userspace
 *	/sys/devices/system/cpu/cpufreq/policy0/scaling_setspeed 1400000 *
 *	/sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us 7777 *
 *
 * A line has a control's path, its value before us, and our value. For a tunable of the replaced
 * governor the third word is `*` until the governor is back. Then it is the kernel's default, with
 * which the tunable came back and which stays if our write fails. For a governor it is `*` as soon
 * as its restoring begins. When another program replaces our value of a control, the line stays
 * with our last value: the program may restore what it found, and then that is ours to restore.
 *
 * While the performance governor of intel_pstate and amd-pstate is in charge, the preference reads
 * as `performance` and accepts nothing else. Afterwards intel_pstate has the former preference
 * again, and amd-pstate keeps `performance`. The line then says `power*`: both are ours.
 *
 * A file with a line that we would not have written is refused as a whole: a line can name only
 * five files of a policyN, and files directly in cpufreq/GOVERNOR/ or cpufreq/policyN/GOVERNOR/.
 * The form of the file is shared/statefile.h's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actuator/control.h"
#include "core/topology.h"

#define SAVED_FILE "originals"
#define SAVED_ANY  "*"
/* Every control of the maximum of domains and CPUs, and this many tunables. */
#define SAVED_MAX ((size_t)TOPOLOGY_DOMAINS_MAX * CONTROL_N + TOPOLOGY_CPUS_MAX + 4096)

/* With NUL. The kernel's names of tunables have up to 21 characters, their values ten digits. */
#define SAVED_VALUE_SIZE 32

struct saved_value {
	char path[CONTROL_PATH_SIZE];
	char value[SAVED_VALUE_SIZE]; /* before us */
	char ours[SAVED_VALUE_SIZE];  /* what we put there, or SAVED_ANY */
	/* By the path: */
	enum control control;
	uint32_t policy; /* the N of policyN, or CONTROL_SHARED */
	/* A preference: the performance governor shows its own word instead. */
	bool hidden;
	/* In this process: schedutil has seen this maximum's end (actuator/limits.h); … */
	bool visited;
	bool tried; /* … restoring this tunable failed and was reported */
};

/* The table in memory, and where its file lies. */
struct saved_values {
	char *directory;
	size_t n;
	struct saved_value *entries;
};

/*
 * Loads the file of `directory`; without a file, or with an earlier boot's, the table is empty.
 * Returns 0 or a negative errno, as statefile_open() does. The caller frees.
 */
int saved_open(const char *directory, struct saved_values **ret);

struct saved_values *saved_free(struct saved_values *saved);

/* The entry of a path or of a control of policyN or cpuN, or NULL. */
struct saved_value *saved_find_path(const struct saved_values *saved, const char *path);
struct saved_value *saved_find(const struct saved_values *saved, uint32_t number,
			       enum control control);

/* Whether `now` is our value of the control, or what the kernel shows for it. */
bool saved_is_ours(const struct saved_value *entry, const char *now);

/* Whether the entry is a tunable of this governor, of policyN or shared. */
bool saved_is_tunable_of(const struct saved_value *entry, uint32_t policy, const char *governor);

/* An entry, for saved_add(). */
struct saved_value saved_entry_at(const char *path, const char *value, const char *ours);
struct saved_value saved_entry(uint32_t number, enum control control, const char *value,
			       const char *ours);
/* The same for a frequency, which changes often. */
struct saved_value saved_entry_khz(uint32_t policy, enum control control, uint32_t khz);

/* Whether path and words make a line that the file may have. */
bool saved_is_valid(const struct saved_value *entry);

/*
 * Adds entries, and saves. An entry that is in the table already keeps its first saved value if the
 * control still holds our value (a crash that could not be undone), or if another domain added it.
 * Returns 0 or a negative errno (-ENOSPC): then table and file are as before. -E2BIG beyond
 * SAVED_MAX; -EINVAL for an entry with which the file would be refused.
 */
int saved_add(struct saved_values *saved, const struct saved_value *entries, size_t n);

/* Drops an entry (may be NULL) from the table only; later entries move up. */
void saved_drop(struct saved_values *saved, struct saved_value *entry);

/* Writes the file, or removes it when the table is empty. 0 or a negative errno. */
int saved_save(const struct saved_values *saved);

/*
 * Restores saved values, control by control, for a clean release and, after a crash, for `wakegovd
 * --restore`. Order within a domain: limits, governor, its tunables, energy preference, speed. The
 * speed is restored only if the governor was `userspace` before us.
 *
 * Tunables are written only if no domain had the governor just before it was restored: the kernel
 * had freed them with our switch, and created them again with its defaults. Otherwise a domain that
 * we do not drive has kept the governor, or another program has restored it, and the tunables stay.
 * The first restored domain decides for all that share them.
 */

enum restore_outcome {
	RESTORE_DONE,	    /* written */
	RESTORE_UNCHANGED,  /* it has its saved value already */
	RESTORE_TAKEN_OVER, /* it has neither our value nor the saved one, and is left alone */
	RESTORE_GONE,	    /* the domain or the tunable no longer exists */
	RESTORE_OFFLINE,    /* every CPU is offline; the value stays in the file */
	RESTORE_HIDDEN,	    /* a preference under the performance governor; stays likewise */
	RESTORE_FAILED,	    /* the value stays in the file */
};

struct restore_result {
	uint32_t policy;  /* the N of policyN, or CONTROL_SHARED, also for a CPU's */
	const char *name; /* of the control, or of a tunable with its governor; valid in the call */
	enum restore_outcome outcome;
	const char *value;   /* the saved value; valid during the call */
	const char *current; /* for RESTORE_TAKEN_OVER: the present value */
	int error;	     /* for RESTORE_FAILED: a negative errno */
};

/* Called for each control in order; for a tunable only if it was, or could have been, written. */
typedef void (*restore_report_t)(void *userdata, const struct restore_result *result);

/*
 * Restores the values in DIRECTORY/originals. Lines stay if they failed or their domain is offline;
 * without lines the file is removed. Idempotent, also without file or directory. Returns 0, the
 * number of controls that must wait, or the first negative errno (if statefile_refusal() has a
 * reason, the file was refused and nothing was written).
 */
int restore_saved(const char *directory, restore_report_t report, void *userdata);

/*
 * Call it before restoring several domains of a table in a row: schedutil then sees all limits
 * within one wait.
 */
void restore_visit(struct saved_values *saved);

/*
 * The same for one domain of a table in memory; saves the table. Shared tunables stay in it until
 * every domain of their governor is restored. report may be NULL.
 */
int restore_domain(struct saved_values *saved, uint32_t policy, restore_report_t report,
		   void *userdata);

/*
 * The same except for a control that another program took over from `ours`: its line stays, with
 * `ours` as our value. With a speed the governor `userspace` stays too.
 */
int restore_others(struct saved_values *saved, uint32_t policy, enum control control,
		   const char *ours);

/*
 * Writes a value to a control that holds `now`. A former value of ours there is restored first, and
 * then the new one is saved, so that a kill at any point leaves a value that the file knows.
 * Returns 0, or a negative errno with the control restored and its line dropped, unless that failed
 * as well (-EBUSY: offline); -ESTALE when another program has just written it.
 */
int restore_and_set(struct saved_values *saved, enum control control, uint32_t number,
		    const char *now, const char *value);

/*
 * One sentence for the journal, such as "restored policy0 scaling_governor to schedutil" or
 * "restored schedutil/rate_limit_us to 7777", always ended by a NUL, and cut to size.
 */
void restore_describe(const struct restore_result *result, char *ret_text, size_t size);
