/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What runs on the machine: one or more groups of equal threads. Plain data, from a SPEC. */

#include <stdbool.h>
#include <stdint.h>

#include "sim/platform.h"

#define WORKLOAD_GROUPS_MAX  8
#define WORKLOAD_THREADS_MAX 1024
#define WORKLOAD_TEXT_SIZE   256

/* How a thread waits for its I/O. */
enum workload_engine {
	WORKLOAD_PSYNC,	   /* one request at a time, in_iowait while it sleeps */
	WORKLOAD_IO_URING, /* depth requests, in_iowait while it sleeps */
	WORKLOAD_LIBAIO,   /* depth requests, never in_iowait */
	WORKLOAD_BUSY,	   /* no I/O: computes, then thinks */
	WORKLOAD_CHAIN,	   /* no I/O: its threads work in turn, depth of them at a time */
	WORKLOAD_FORK,	   /* no I/O: the first waits for the others, which begin and end */
};

struct workload_group {
	enum workload_engine engine;
	uint32_t threads;
	uint32_t depth;
	uint32_t device;
	uint64_t cpus;	 /* a bit per CPU that it may run on */
	uint32_t cycles; /* per request, or per round of a busy thread, or turn of a chain's */
	uint32_t first_cycles; /* of the first of a chain, or before each child */
	uint32_t batch_cycles;
	uint64_t think_ns;  /* sleep after each batch */
	uint64_t period_ns; /* of rounds that do not take longer; 0: they have none */
	uint64_t look_ns;   /* a chain's thread that was woken takes over so much later */
};

struct workload {
	char text[WORKLOAD_TEXT_SIZE]; /* the SPEC, for the output */
	uint32_t n_groups;
	struct workload_group groups[WORKLOAD_GROUPS_MAX];
	struct platform_spell flush;   /* the devices start no request meanwhile */
	struct platform_spell thermal; /* frequencies are limited meanwhile */
	uint32_t thermal_percent;      /* to this share of the highest */
};

/*
 * Reads one SPEC for a platform; the defaults of cycles come from there. Returns 0, or a negative
 * errno and *ret_message, "what was found, what was expected", which the caller frees.
 */
int workload_parse(const char *text, const struct platform *platform, struct workload *ret,
		   char **ret_message);

/* What --help says about SPEC. */
extern const char workload_help[];
