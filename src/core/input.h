/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Everything that the core learns, one struct per fact, with the time at which it held. A recording
 * is a list of inputs and of the times of decisions: under the same policy it gives the same
 * decisions.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wakegov/record.h"

#define TASK_IOS_MAX	  4  /* block devices followed per task */
#define INPUT_DEVICES_MAX 64 /* block devices followed in all */

enum input_type {
	INPUT_CPU,	  /* how busy a CPU is */
	INPUT_TASK,	  /* the totals of a task that does I/O */
	INPUT_TASK_END,	  /* a task exited */
	INPUT_DEVICE,	  /* the totals of a block device */
	INPUT_DEVICE_END, /* a device disappeared; its index may name another one later */
	INPUT_LIMITS,	  /* scaling_min_freq and scaling_max_freq of a domain */
	INPUT_DOMAIN,	  /* whether decisions are made for a domain */
	INPUT_TASK_RULES, /* which rules a task matches now */
	INPUT_CLASS_RUN,  /* tasks with clamps ran on a CPU */
	INPUT_CO_RUNNER,  /* a task is a co-runner of capped ones */
	INPUT_REFERENCE,  /* the frequency at which a domain has its capacity */
	INPUT_OWN_CLAMPS, /* own clamps of a task: new, changed or none */
	INPUT_BURSTS,	  /* the length of bursts of a clamp class */
	INPUT_OPP,	  /* a domain has one more OPP, above the others */
	INPUT_WAITED,	  /* whether a task's pieces are waited for, so that it may keep a clamp */
	INPUT_LAST = INPUT_WAITED,
};

/* The chain with the highest need that was on a CPU lately: include/wakegov/chain.h. */
struct input_chain {
	uint32_t util_q;  /* capacity · 2^20; 0: there was none */
	uint32_t pid;	  /* its task on this CPU … */
	uint32_t waker;	  /* … and the one that works for it, in turn with it; 0: it is
			   * waited for, and it counts for a shorter time, for which … */
	uint64_t seen_ns; /* … this is earlier: when it was last here */
};

struct input_cpu {
	uint32_t cpu;
	uint32_t util_q;	/* as of now_ns; capacity · 2^20 */
	bool running;		/* not idle */
	uint64_t idle_since_ns; /* less than an eighth of the time at work does not end it */
	uint32_t est_q;		/* the known need of its task; 0: not known */
	uint64_t burst_ns;	/* time without an idle moment, if it matters; or 0 */
	struct input_chain chain;
	uint32_t served_pid; /* a task with I/O, for which a kernel thread worked here … */
	uint64_t served_ns;  /* … and when; 0: never */
};

/* The I/O of one task on one block device so far. */
struct input_task_io {
	uint32_t device; /* index < INPUT_DEVICES_MAX */
	uint64_t ios;	 /* requests that the task sent */
};

/* The totals of a block device at the bottom of its stack so far. */
struct input_device {
	uint32_t device;
	uint64_t completions;
	uint64_t in_flight_ns;	 /* summed time of its requests that have ended */
	uint32_t depth;		 /* requests in flight, of all tasks */
	uint32_t completion_cpu; /* where an interrupt last ended the wait of one of its tasks */
};

struct input_task {
	uint32_t pid;
	uint32_t tgid;
	uint32_t handle; /* the tracer's name for the task, given back when the task is over */
	uint32_t cpu;
	char comm[TASK_COMM_SIZE];
	uint64_t io_waits;  /* wake-ups from an I/O wait so far */
	uint64_t io_starts; /* block requests started so far */
	uint64_t last_io_ns;
	uint32_t level_q; /* at which the utilisation of its CPU accrues now: capacity · 2^20, see
			     decay.h */
	uint64_t worked_ns;    /* time so far in which it ran, or interrupts that then woke it */
	uint64_t waited_ns;    /* … and in which it was runnable and did not run */
	uint64_t in_flight_ns; /* summed time of its requests so far: its part of its disks' */
	bool watched;	       /* the kernel side reports the end of its hold time */
	uint32_t n_ios;	       /* 0: its waits are not for block requests */
	struct input_task_io ios[TASK_IOS_MAX];
};

struct input_limits {
	uint32_t domain;
	uint32_t min_khz;
	uint32_t max_khz;
};

struct input_domain {
	uint32_t domain;
	bool active;
	bool driven; /* decisions are written, so that effects can be measured */
	bool clamps; /* driven by the clamps of its tasks: core/clamp_class.h */
};

/*
 * Sent on changes. A task that ends or no longer matches any rule has 0, and is forgotten. The core
 * looks up the rules' properties in its own policy (core/rule.h), so that a replay under another
 * policy works.
 */
struct input_task_rules {
	uint32_t pid;
	uint32_t tgid;
	char comm[TASK_COMM_SIZE];
	uint64_t matched; /* bit i: rules[i] of the policy */
};

/* When tasks of a clamp class last ran on a CPU. The class is named by its rules, as a task is. */
struct input_class_run {
	uint32_t cpu;
	uint64_t matched; /* bit i: rules[i]; 0: tasks without a clamp */
	uint64_t ran_ns;
	uint64_t long_running_ns; /* when a long-running task did; 0: none */
	uint32_t ran_pid;
	uint32_t long_running_pid;
	uint32_t own; /* own clamps of its tasks: wakegov_own() */
};

/* The 90th percentile of the bursts of a class with a response time. */
struct input_bursts {
	uint64_t length_ns; /* at full capacity */
	uint64_t matched;   /* names the class by its rules, as in input_class_run */
	uint32_t own;
};

/* A short-running task became a co-runner of capped ones, or is one no longer. */
struct input_co_runner {
	uint32_t pid;
	uint64_t matched; /* rules of the capped tasks; 0: no longer beside capped tasks, or no
			     longer short-running */
	uint32_t own;	  /* own clamps of the capped tasks: wakegov_own() */
};

struct input_own_clamps {
	uint32_t pid;
	uint32_t own; /* wakegov_own(); 0: none, or it has exited */
};

struct input_waited {
	uint32_t pid;
	bool keeps; /* a minimum clamp between its pieces */
};

/*
 * The frequency at which CPUs of a domain have their capacity: turbo was switched, or the policy
 * changed.
 */
struct input_reference {
	uint32_t domain;
	uint32_t khz; /* 0: the highest OPP */
};

/* Turbo was switched on, or the highest frequency has risen. A lower one is INPUT_LIMITS. */
struct input_opp {
	uint32_t domain;
	uint32_t khz;
	uint32_t power; /* as in struct topology_domain */
};

struct input {
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	enum input_type type;
	union {
		struct input_cpu cpu;
		struct input_task task;
		uint32_t ended_pid;
		struct input_device device;
		uint32_t ended_device;
		struct input_limits limits;
		struct input_domain domain;
		struct input_task_rules task_rules;
		struct input_class_run class_run;
		struct input_co_runner co_runner;
		struct input_reference reference;
		struct input_own_clamps own_clamps;
		struct input_bursts bursts;
		struct input_opp opp;
		struct input_waited waited;
	};
};
