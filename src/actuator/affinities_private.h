/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The log of affinities, for the table (affinities.c) and the way back (affinities_restore.c). */

#include "actuator/affinities.h"
#include "actuator/restore_tasks.h"

/* The log's name, for messages. */
#define AFFINITIES_FILE "affinities"

/* A line of it. */
struct affinity {
	uint32_t pid;
	uint64_t start;	     /* ticks since boot */
	struct cpu_mask own; /* without us */
	struct cpu_mask put; /* what we write */
};

/* Whether what the task has now is what we put there: in so far as its cpuset allows. */
bool affinity_is_ours(const struct affinity *affinity, const struct cpu_mask *now);

/* Puts back what the task had, where it has what is ours. */
void affinity_restore(struct restore_tasks *run, const struct affinity *affinity);

int affinities_log_rewrite(const char *directory, const struct affinity *const *affinities,
			   size_t n);
int affinities_log_add(int fd, const struct affinity *affinity);
/* In the order of the lines; the caller frees them. */
int affinities_log_read(const char *directory, struct affinity **ret, size_t *ret_n);
int affinities_log_remove(const char *directory);
