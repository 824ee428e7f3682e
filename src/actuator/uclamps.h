/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks that carry clamps of ours, and what they carried before. What a task asks for itself,
 * or was given by uclampset(1) or another program, is never lost: it is merged with ours (the
 * higher floor, the lower cap; the cap wins where they cross) and put back when ours ends. What
 * somebody changes while ours is there is taken for the new value of their own.
 *
 * Children inherit the clamps of the task that forks them; uclamps_forked() gives them back what
 * their parent had without us. RESET_ON_FORK would do that too, but is the user's own attribute,
 * and drops real-time priorities with it.
 *
 * A task is known by its number and the time of its start, so that a number that came to be
 * another's is not mistaken. Before a task is written to, its line goes to the journal,
 * DIRECTORY/clamps; see actuator/uclamps_journal.h.
 */

#include <stddef.h>
#include <stdint.h>

#include "actuator/restore.h"
#include "actuator/uclamp_task.h"

/* Least time between two changes of one task. */
#define UCLAMPS_RATE_LIMIT_NS 4000000ULL

enum uclamps_outcome {
	UCLAMPS_DONE,
	UCLAMPS_UNCHANGED, /* nothing to write */
	UCLAMPS_LATER,	   /* changed too recently: uclamps_flush() writes it when it is time */
	UCLAMPS_GONE,	   /* the task has exited */
};

struct uclamps;

struct uclamps_counts {
	uint32_t tasks; /* that carry clamps of ours */
	uint64_t writes;
	uint64_t refused; /* by the kernel: each task counts, and is told of, once */
	uint64_t foreign; /* clamps that somebody changed while ours were there */
	uint64_t forked;  /* children that were given back their parents' own */
};

/* directory is borrowed; it must exist. NULL without memory. */
struct uclamps *uclamps_new(const char *directory);

/* Puts nothing back: see uclamps_release. */
struct uclamps *uclamps_free(struct uclamps *clamps);

/*
 * Has the task carry ours, UCLAMP_LEAST and UCLAMP_MOST for none. Returns an outcome or a negative
 * errno; then the task is as it was, and is left alone until it is to carry none or all are
 * looked at.
 */
int uclamps_set(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns);

/*
 * Looks at what a task of ours carries now. What somebody changed, the task itself too, is its own
 * from now on, and ours is merged with it anew: a cap of ours is not got rid of by asking for more.
 * Returns an outcome or a negative errno; UCLAMPS_UNCHANGED for a task that carries none of ours.
 */
int uclamps_check(struct uclamps *clamps, uint32_t pid, uint64_t now_ns);
/* Likewise of every task; one that was refused is tried again. */
void uclamps_check_all(struct uclamps *clamps, uint64_t now_ns);

/* When uclamps_flush() has something to do; UINT64_MAX: nothing. */
uint64_t uclamps_next_ns(const struct uclamps *clamps);

/* Writes what had to wait and may be written now. What fails then is counted only. */
void uclamps_flush(struct uclamps *clamps, uint64_t now_ns);

/*
 * parent forked child, which may carry what is ours on it. Returns UCLAMPS_DONE when something was
 * given back, UCLAMPS_UNCHANGED, UCLAMPS_GONE or a negative errno.
 */
int uclamps_forked(struct uclamps *clamps, uint32_t parent, uint32_t child);

/*
 * Puts back what every task had, and removes the journal if that went well. report (may be NULL) is
 * told of those that failed or that somebody changed, and of the rest in one. Returns 0 or the
 * first error.
 */
int uclamps_release(struct uclamps *clamps, restore_report_t report, void *userdata);

/*
 * The same from the journal of a daemon that was killed, with the children that inherited from its
 * tasks and have not been given back. Harmless without a journal. Returns 0 or a negative errno:
 * for which statefile_refusal() says whether the file was refused.
 */
int uclamps_restore(const char *directory, restore_report_t report, void *userdata);

void uclamps_count(const struct uclamps *clamps, struct uclamps_counts *ret);

/* What the task carried before ours, and the merged that it carries now. False: none of ours. */
bool uclamps_find(const struct uclamps *clamps, uint32_t pid, struct uclamp *ret_own,
		  struct uclamp *ret_merged);
