/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The log of affinities, which affinities.c writes and affinities_restore.c reads. */

#include "actuator/affinities.h"
#include "actuator/restore_tasks.h"

#define AFFINITIES_FILE "affinities"

/* One line of the log. */
struct affinity {
	uint32_t pid;
	uint64_t start;	     /* ticks since boot */
	struct cpu_mask own; /* the task's own */
	struct cpu_mask put; /* as we wrote it */
};

/* Whether `now` is the mask that we wrote, or what cpuset and online CPUs have made of it. */
bool affinity_is_ours(const struct affinity *affinity, const struct cpu_mask *now);

/* Restores the task's own affinity if it still has the one that we wrote. */
void affinity_restore(struct restore_tasks *run, const struct affinity *affinity);

int affinities_log_rewrite(const char *directory, const struct affinity *const *affinities,
			   size_t n);
int affinities_log_add(int fd, const struct affinity *affinity);
/* The lines in order, in an array that the caller frees. */
int affinities_log_read(const char *directory, struct affinity **ret, size_t *ret_n);
int affinities_log_remove(const char *directory);
