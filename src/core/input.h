/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Everything that the core ever learns, one struct per fact, with the time at which it held. A
 * list of inputs and of the moments of decision is a recording: fed back under the same policy it
 * gives the same decisions.
 */

#include <stdbool.h>
#include <stdint.h>

#define TASK_COMM_SIZE 16

enum input_type {
	INPUT_CPU,	/* how busy a CPU is */
	INPUT_TASK,	/* the totals of a task that does I/O */
	INPUT_TASK_END, /* it exited */
	INPUT_LIMITS,	/* scaling_min_freq and scaling_max_freq of a domain */
	INPUT_DOMAIN,	/* a domain is there to be decided for, or no longer */
};

struct input_cpu {
	uint32_t cpu;
	uint32_t util_q;	/* as of now_ns; capacity · 2^20 */
	bool running;		/* not idle */
	uint64_t idle_since_ns; /* work for less than an eighth of the time does not end it */
};

struct input_task {
	uint32_t pid;
	uint32_t tgid;
	uint32_t handle; /* the tracer's name for it, given back when it lapses */
	uint32_t cpu;
	char comm[TASK_COMM_SIZE];
	uint64_t io_waits;  /* wake-ups from an I/O wait so far */
	uint64_t io_starts; /* block requests that it started so far */
	uint64_t last_io_ns;
};

struct input_limits {
	uint32_t domain;
	uint32_t min_khz;
	uint32_t max_khz;
};

struct input_domain {
	uint32_t domain;
	bool active;
};

struct input {
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	enum input_type type;
	union {
		struct input_cpu cpu;
		struct input_task task;
		uint32_t ended_pid;
		struct input_limits limits;
		struct input_domain domain;
	};
};
