/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Tasks that are kept to some CPUs, and where they were allowed to run before. What a task is kept
 * to is within that and its cpuset. What somebody else sets meanwhile is theirs: the task is left
 * alone from then on. What a cpuset takes away is not; nor is that the kernel ends an affinity of
 * which no CPU is online.
 *
 * An original that is as much as the cpuset has is put back as "every CPU": so it grows with the
 * cpuset, as it did. Children inherit their parents' affinity: affinities_forked() knows what they
 * had without us.
 *
 * A task is known by its number and the time of its start. Before a task is written to, a line goes
 * to DIRECTORY/affinities, a log (shared/statefile.h); masks are hexadecimal:
 *
 *	task 4711 88123 all 3		number, start in ticks, its own mask, what we write now
 */

#include <stddef.h>
#include <stdint.h>

#include "actuator/restore.h"
#include "shared/cpu_mask.h"

#define AFFINITIES_MAX 16384 /* tasks; others are left as they are, and counted as refused */

enum affinities_outcome {
	AFFINITIES_DONE,
	AFFINITIES_UNCHANGED,  /* nothing to write */
	AFFINITIES_GONE,       /* the task has exited */
	AFFINITIES_TAKEN_OVER, /* somebody else set its affinity */
	AFFINITIES_OUTSIDE,    /* it may not run on any of these CPUs: it is as it was */
};

struct affinities;

struct affinities_counts {
	uint32_t kept;	  /* tasks, now */
	uint64_t refused; /* by the kernel, or because there is no room */
	uint64_t foreign; /* tasks of which somebody set the affinity while they were kept */
};

/* directory is borrowed; it must exist. NULL without memory. */
struct affinities *affinities_new(const char *directory);
/* Puts nothing back: see affinities_release(). */
struct affinities *affinities_free(struct affinities *affinities);

/* Keeps the task to these CPUs. Returns an outcome or a negative errno; then it is as it was. */
int affinities_keep(struct affinities *affinities, uint32_t pid, const struct cpu_mask *cpus);
/* Puts back what it had. Returns an outcome or a negative errno. */
int affinities_let_go(struct affinities *affinities, uint32_t pid);

/*
 * parent forked child, which may have what is ours from it. Its own is its parent's from now on;
 * whether it is kept itself is the caller's. Returns whether it has something of ours.
 */
bool affinities_forked(struct affinities *affinities, uint32_t parent, uint32_t child);
/* Whether the task is, or was, kept or a child of one that was. */
bool affinities_knows(const struct affinities *affinities, uint32_t pid);
/* The task has exited, or is to be judged as a new one. */
void affinities_forget(struct affinities *affinities, uint32_t pid);

/*
 * Puts back what every task had, and removes the log if that went well. report (may be NULL) is
 * told of those that failed or that somebody changed, and of the rest in one. Returns 0 or the
 * first error.
 */
int affinities_release(struct affinities *affinities, restore_report_t report, void *userdata);
/*
 * The same from the log of a daemon that was killed, with the children that inherited from its
 * tasks. Harmless without a log. Returns 0 or a negative errno: for which statefile_refusal() says
 * whether the file was refused.
 */
int affinities_restore(const char *directory, restore_report_t report, void *userdata);

void affinities_count(const struct affinities *affinities, struct affinities_counts *ret);
