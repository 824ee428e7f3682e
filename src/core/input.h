/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Everything that the core ever learns, one struct per fact, with the time at which it held. A
 * list of inputs and of the moments of decision is a recording: fed back under the same policy it
 * gives the same decisions.
 */

#include <stdbool.h>
#include <stdint.h>

#define TASK_COMM_SIZE	  16
#define TASK_IOS_MAX	  4  /* block devices followed per task */
#define INPUT_DEVICES_MAX 64 /* block devices followed in all */

enum input_type {
	INPUT_CPU,	  /* how busy a CPU is */
	INPUT_TASK,	  /* the totals of a task that does I/O */
	INPUT_TASK_END,	  /* it exited */
	INPUT_DEVICE,	  /* the totals of a block device */
	INPUT_DEVICE_END, /* it disappeared; its index may come to name another */
	INPUT_LIMITS,	  /* scaling_min_freq and scaling_max_freq of a domain */
	INPUT_DOMAIN,	  /* a domain is there to be decided for, or no longer */
	INPUT_OVERRIDE,	  /* somebody limits a domain for a while, or no longer */
	INPUT_TASK_RULES, /* which rules a task matches now */
	INPUT_CLASS_RUN,  /* tasks with clamps ran on a CPU */
	INPUT_CO_RUNNER,  /* a task runs beside capped ones */
	INPUT_REFERENCE,  /* capacity is measured by another frequency */
	INPUT_OWN_CLAMPS, /* a task asks for clamps itself, for others than before, or for none */
	INPUT_BURSTS,	  /* how long those of a clamp class are */
};

struct input_cpu {
	uint32_t cpu;
	uint32_t util_q;	/* as of now_ns; capacity · 2^20 */
	bool running;		/* not idle */
	uint64_t idle_since_ns; /* work for less than an eighth of the time does not end it */
	uint32_t est_q;		/* what its task is known to need; 0: nothing is known of it */
	uint64_t burst_ns;	/* that it works without an idle moment, where that is news; or 0 */
};

/*
 * What one task did to one block device, so far. *Host time* is the time from the completion of
 * its last request in flight, on any device, to its next request: the device has nothing to do for
 * the task, because the CPU side has not yet sent it.
 */
struct input_task_io {
	uint32_t device;      /* index < INPUT_DEVICES_MAX */
	uint64_t ios;	      /* requests that it sent */
	uint64_t host_ns;     /* host times that ended with a request to this device */
	uint64_t host_cpu_ns; /* the part of them in which it did not sleep of its own accord */
};

/* A block device at the bottom of its stack, so far. */
struct input_device {
	uint32_t device;
	uint64_t completions;
	uint64_t idle_ns;	 /* time at depth 0, the present one included */
	uint32_t depth;		 /* requests in flight, of all tasks */
	uint32_t completion_cpu; /* where the last completion was handled */
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
	uint32_t level_q;      /* at which its CPU accrues now: capacity · 2^20, see decay.h */
	uint64_t in_flight_ns; /* that its requests took so far, those in flight up to now */
	uint32_t depth;	       /* of its requests in flight */
	uint32_t max_depth;    /* most of them in flight at a time since the last sample */
	uint32_t busy_ppm;     /* of its CPU's time lately; 0: not known, or never */
	bool watched;	       /* the kernel side will tell when it does no more I/O */
	uint32_t n_ios;	       /* 0: its waits are for something without block requests */
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
	bool driven; /* what is decided is written: effects can be measured */
	bool clamps; /* by the clamps of its tasks, which the kernel's governor reads: core/clamp.h
		      */
};

/*
 * Told when it changes. A task that ends, or matches none any more, matches 0: it is forgotten.
 * What the rules give is looked up in the core's own policy (core/rule.h), so that a replay under
 * another one works.
 */
struct input_task_rules {
	uint32_t pid;
	uint32_t tgid;
	char comm[TASK_COMM_SIZE];
	uint64_t matched; /* bit i: rules[i] of the policy */
};

/* Limits of a domain for a while (core/override.h); 0 in kHz is not given. */
struct input_override {
	uint32_t id; /* not 0; one with the id of another replaces it */
	uint32_t domain;
	uint32_t min_khz;
	uint32_t max_khz;
	uint32_t frozen_khz; /* the OPP at which it is kept */
	uint32_t uid;	     /* who asked for it; no decision depends on it */
	uint64_t end_ns;     /* not after now_ns: it is cancelled */
};

/*
 * When tasks of a clamp class last ran on a CPU; a task that counts has long bursts. The class goes
 * by the rules that make it, as a task does.
 */
struct input_class_run {
	uint32_t cpu;
	uint64_t matched; /* bit i: rules[i]; 0: tasks without a clamp */
	uint64_t ran_ns;
	uint64_t long_running_ns; /* 0: none that counts did */
	uint32_t ran_pid;
	uint32_t long_running_pid;
	uint32_t own; /* what its tasks ask for themselves: wakegov/own.h */
};

/* Of a class that a rule's response is for; nine of ten bursts are at most as long. */
struct input_bursts {
	uint64_t length_ns; /* at full capacity */
	uint64_t matched;   /* the class goes by its rules, as that of a run */
	uint32_t own;
};

/* A task with short bursts runs beside capped ones. */
struct input_co_runner {
	uint32_t pid;
	uint64_t matched; /* by those; 0: it does so no longer, or its bursts are long */
	uint32_t own;	  /* likewise */
};

struct input_own_clamps {
	uint32_t pid;
	uint32_t own; /* wakegov/own.h; 0: none, or it has exited */
};

/* At which frequency the CPUs of a domain are worth their capacity: turbo was switched, or policy.
 */
struct input_reference {
	uint32_t domain;
	uint32_t khz; /* 0: the highest OPP */
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
		struct input_override override;
		struct input_task_rules task_rules;
		struct input_class_run class_run;
		struct input_co_runner co_runner;
		struct input_reference reference;
		struct input_own_clamps own_clamps;
		struct input_bursts bursts;
	};
};
