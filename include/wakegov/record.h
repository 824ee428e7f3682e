/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Events, as the BPF programs emit them and the tracer passes them on. Totals are read when they
 * are needed.
 */

#include <linux/types.h>

#define TASK_COMM_SIZE 16 /* of the kernel's names, with the NUL */

enum wakegov_record_type {
	WAKEGOV_RECORD_CPU,	     /* cpu left its band, or went idle */
	WAKEGOV_RECORD_TASK,	     /* slot was taken, moved to another domain, had no I/O for its
				      * hold time, or lost its task */
	WAKEGOV_RECORD_NEWS,	     /* news are pending; see enum wakegov_news */
	WAKEGOV_RECORD_DEVICE,	     /* a block device was seen for the first time */
	WAKEGOV_RECORD_CO_RUNNER,    /* pid is a short-running task beside capped tasks of a class;
				      * class 0: no longer */
	WAKEGOV_RECORD_CHILD,	     /* parent forked pid, which has clamps */
	WAKEGOV_RECORD_OWN,	     /* pid changed its own clamps, or exited */
	WAKEGOV_RECORD_WAITED,	     /* class 1: pid may keep a minimum clamp between its pieces;
				      * 0: no longer */
	WAKEGOV_RECORD_BURSTS,	     /* the bursts of a class became longer or shorter */
	WAKEGOV_RECORD_FACTS,	     /* a new or changed task, for the rules */
	WAKEGOV_RECORD_CHILDREN,     /* the first of several new children waits for its report */
	WAKEGOV_RECORD_GONE,	     /* pid, which matched rules, exited */
	WAKEGOV_RECORD_LOOK,	     /* class 1: a task without a slot may do I/O without waiting
				      * for it; 0: the look for such tasks is over */
	WAKEGOV_RECORD_SCAN,	     /* a process of several threads changed: dump them */
	WAKEGOV_RECORD_PLACED_CHILD, /* parent, which is placed, forked pid */
	WAKEGOV_RECORD_FULL_CACHE,   /* a task of the group had to wait: the cache is full */
	WAKEGOV_RECORD_IDLE_LATENCY, /* a task with a lower idle latency than the held one runs */

	/* The tracer makes these itself. */
	WAKEGOV_RECORD_LIMITS,	   /* the limits of the domain of cpu changed */
	WAKEGOV_RECORD_RESUME,	   /* the machine was suspended and goes on */
	WAKEGOV_RECORD_DEVICE_END, /* a device that was reported in inputs has disappeared */
};

struct wakegov_record {
	__u32 type;
	union {
		__u32 cpu;
		__u32 parent;
		__u32 cache;
		__u32 ended;	  /* of a task: 1 */
		__u32 generation; /* settings.co_runner_generation of the class's number */
	};
	union {
		__u32 slot;
		__u32 pid;
		__u32 device; /* its index */
		__u32 group;
	};
	union {
		__u32 class;
		__u32 own; /* wakegov_own() */
	};
};

/* The facts of one thread that rules match. */
struct task_facts {
	__u32 pid;
	__u32 tgid;
	__u64 start_ns;	 /* since boot; distinguishes tasks with the same pid */
	__u64 cgroup_id; /* in the unified hierarchy: the inode of its directory */
	__u32 uid;	 /* the effective one */
	__u32 scheduler; /* SCHED_OTHER and the like */
	__s16 nice;
	__u16 kernel_thread;
	__u32 parent; /* the process that started it */
	__u32 ends;   /* for tracer_task_lives(); 0: the task is exiting */
	__u32 cpu;    /* where it runs or ran last */
	char comm[TASK_COMM_SIZE];
};

/* WAKEGOV_RECORD_FACTS */
struct wakegov_facts_record {
	struct wakegov_record head;
	struct task_facts facts;
};

/* The facts of a record of that type. The ring aligns records to eight bytes. */
static inline const struct task_facts *wakegov_record_facts(const struct wakegov_record *record)
{
	const struct wakegov_facts_record *whole = (const void *)record;

	return &whole->facts;
}
