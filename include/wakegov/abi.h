/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the BPF programs and the tracer share. The maps of CPUs and task slots are mapped into the
 * daemon: it reads them without a system call. Every field has one writing side, named below.
 */

#include <linux/types.h>

#include "wakegov/latency.h"
#include "wakegov/own.h"
#include "wakegov/quantile.h"
#include "wakegov/util_acct.h"

#define WAKEGOV_SLOT_BITS     10
#define WAKEGOV_SLOTS	      (1 << WAKEGOV_SLOT_BITS) /* hot tasks: those that are told about */
#define WAKEGOV_SLOT_PROBES   16   /* slots tried for a task before it is counted as dropped */
#define WAKEGOV_SLOT_IOS      4	   /* devices followed per task */
#define WAKEGOV_HOT	      1024 /* counters of hot tasks, by pid */
#define WAKEGOV_DEVICES	      64   /* block devices followed */
#define WAKEGOV_UNPLACED      256  /* remembered of those that found no place */
#define WAKEGOV_NO_DEVICE     0xffffffffU
#define WAKEGOV_FLIGHT_SETS   1024 /* overflow sets, for requests of CPUs without a free place */
#define WAKEGOV_FLIGHT_WAYS   2
#define WAKEGOV_CPU_FLIGHTS   5	 /* a CPU's own places for requests that it sent: two cache lines */
#define WAKEGOV_CLAMP_CLASSES 64 /* clamp classes; 0: tasks without a clamp */
#define WAKEGOV_RULED	      1024 /* counters of tasks that have a clamp class, by pid */
#define WAKEGOV_RULED_TASKS   65536
#define WAKEGOV_MATCHING      65536 /* tasks that match rules */
#define WAKEGOV_PROCESSES     4096  /* whose program and arguments are known at a time: 16 MiB */
#define WAKEGOV_EXE_SIZE      512
#define WAKEGOV_EXE_DEPTH     64  /* names in a path, and mounts on its way up */
#define WAKEGOV_NAME_SIZE     256 /* NAME_MAX and a NUL */
#define WAKEGOV_COMMAND_SIZE  3072
#define WAKEGOV_RING_BYTES    (64 * 1024)
#define WAKEGOV_COMM_SIZE     16
#define WAKEGOV_DISK_SIZE     32
#define WAKEGOV_NO_DOMAIN     0xffffffffU
#define WAKEGOV_CACHES	      64 /* last-level caches, or clusters, among which tasks are placed */
#define WAKEGOV_NO_CACHE      0xffffffffU
#define WAKEGOV_PLACED_GROUPS 64

/* The programs, in the order in which `wakegovctl status` lists them. */
enum wakegov_program {
	WAKEGOV_BLOCK_COMPLETE, /* before the starts: what is started meets its completion */
	WAKEGOV_BLOCK_MERGE,
	WAKEGOV_BLOCK_START,
	WAKEGOV_BLOCK_ISSUE,
	WAKEGOV_SCHED_SWITCH,
	WAKEGOV_SCHED_WAKING,
	WAKEGOV_SCHED_MIGRATE,
	WAKEGOV_PROCESS_FORK,
	WAKEGOV_WAKEUP_NEW,
	WAKEGOV_PROCESS_EXEC,
	WAKEGOV_PROCESS_EXIT,
	WAKEGOV_IRQ_ENTRY,
	WAKEGOV_IRQ_EXIT,
	WAKEGOV_SOFTIRQ_ENTRY,
	WAKEGOV_SOFTIRQ_EXIT,
	WAKEGOV_CPU_FREQUENCY,
	WAKEGOV_CPU_LIMITS,
	WAKEGOV_SUSPEND_RESUME,
	WAKEGOV_TICK,
	WAKEGOV_TASK_RENAME,
	WAKEGOV_CGROUP_MOVE,
	WAKEGOV_TASK_DUMP, /* not at a tracepoint: asked for by the daemon */
	WAKEGOV_PROGRAMS,
};

/* When a CPU is to be told about; the kernel side clears it with the telling. */
enum wakegov_arm {
	WAKEGOV_ARM_BAND = 1 << 0,    /* its utilisation leaves the band */
	WAKEGOV_ARM_IDLE = 1 << 1,    /* it goes idle */
	WAKEGOV_ARM_CLASSES = 1 << 2, /* a task of one of its watched clamp classes runs */
};

/*
 * What the daemon must not miss: it is kept until the daemon takes it. A record only wakes the
 * daemon up, and where that finds the ring full the daemon is awake.
 */
enum wakegov_news {
	WAKEGOV_NEWS_CPU = 1 << 0,    /* the CPU left its band, or went idle: its record was lost */
	WAKEGOV_NEWS_LIMITS = 1 << 1, /* the limits of the CPU's domain changed */
	WAKEGOV_NEWS_RESUME = 1 << 2, /* the machine was suspended, and its devices are back */
	WAKEGOV_NEWS_CLAMPS = 1 << 3, /* clamps_seen was set */
};

/*
 * When tasks of a clamp class last ran on a CPU. The tasks of a class have the same caps and
 * floors. A task *counts* when its bursts are long enough for a change of frequency; see
 * burst.bpf.h. Of class 0 only those that count are kept.
 */
struct wakegov_class_run {
	__u64 ran_ns;
	__u64 long_running_ns; /* one that counts */
	__u32 ran_pid;
	__u32 long_running_pid;
};

/*
 * How long the bursts of a clamp class are at full capacity, where a rule says how long they may
 * take: nine of ten are at most as long. Written by the kernel side, on any CPU: where two meet,
 * one burst is lost.
 */
struct wakegov_bursts {
	struct wakegov_quantile length_ns;
	__u64 told_ns;	  /* of that, what the daemon was told of last; 0: nothing */
	__u64 told_at_ns; /* when that was */
};

/*
 * A request that was started and has not ended. The kernel allocates requests once and uses them
 * again and again, so their addresses name them; whose end is lost is found when it starts anew.
 * Shallow queues keep to the first places of the CPU, which stay in its cache; only what finds
 * those taken goes by the hash of its address.
 */
struct wakegov_flight {
	__u64 request; /* 0: free */
	__u64 start_ns;
	__u32 owner; /* the id of the sender's slot; 0: it has none */
	__u16 device;
	__u16 overflow; /* it lies in the map of overflow sets, not with a CPU */
};

/* The places for requests whose addresses have the same hash. */
struct wakegov_flights {
	struct wakegov_flight ways[WAKEGOV_FLIGHT_WAYS];
} __attribute__((aligned(64)));

/* A last-level cache, or a cluster: placing.bpf.h. */
struct wakegov_cache {
	__u32 n_cpus;	     /* of them online; written by the daemon */
	__u32 n_busy;	     /* as far as they have switched tasks since the placing began */
	__u64 full_since_ns; /* when the last idle one of them began to work */
} __attribute__((aligned(64)));

/* Tasks that a rule or class places together. Written by the kernel side; all but watch grow. */
struct wakegov_placed_group {
	__u64 wakeups; /* of one of them by another … */
	__u64 inside;  /* … in the waker's cache */
	__u64 run_ns[WAKEGOV_CACHES];
	__u32 latencies[WAKEGOV_LATENCIES]; /* from a wake-up to the first run: latency.h */
	__u32 n_runnable;   /* tasks that want to run, as far as they have been seen */
	__u32 max_runnable; /* since the daemon, reading it, made it 0 */
	__u64 watch; /* caches, as bits, to be told of when one is full; the daemon sets them */
	__u32 watch_wake; /* to be told of when one of its tasks wakes; likewise */
	__u32 pad;
};

/* One of its tasks, by thread id. */
struct wakegov_placed {
	__u16 group;
	__u16 runnable; /* it is one of the group's n_runnable */
	__u32 waker_cache;
	__u64 woken_ns;	    /* 0: it does not wait for its first run after a wake-up */
	__u64 ran_since_ns; /* 0: it does not run */
};

struct wakegov_cpu {
	/*
	 * What each switch touches, beside its count: two cache lines.
	 * Written by the kernel side, on the CPU itself but for what is said below
	 */
	struct account_cpu load __attribute__((aligned(64))); /* the daemon writes capacity */
	__u64 met_ns; /* when the task that runs was switched to, or last met by a tick */

	/* written by the daemon */
	__u64 band_burst_ns; /* 0: no burst is too long */
	__u32 band_low_q;
	__u32 band_high_q;
	__u32 armed;	     /* enum wakegov_arm; cleared by the kernel side */
	__u32 long_burst_ns; /* a burst of that length at full capacity counts */
	__u64 watch_ran;     /* sets, as bits: to be told about when one of their tasks runs … */
	__u64 watch_long_running; /* … or one that counts does */

	/* What each request touches, and all that one touches that is only counted: a cache line.
	 */
	__u32 count_only __attribute__((aligned(64))); /* requests are; written by the daemon */
	__u32 follow_devices; /* starts and completions are both seen; written by the daemon */
	__u32 last_device;    /* where the last request went that was sent here */
	__u32 pad;
	__u64 events[WAKEGOV_PROGRAMS]; /* those of requests are the first */

	__u64 drops_ring;    /* records that found the ring buffer full */
	__u64 drops_slots;   /* tasks that found no slot */
	__u64 drops_devices; /* requests to devices without a place, in all or of one task */
	__u32 capped_class;  /* of the capped tasks that ran here last, the one with the highest cap
			      */
	__u64 capped_ns;     /* when one of them last ran */
	__u32 met_pid;	     /* who was last looked at here … */
	__u16 met_class;     /* … its clamp class … */
	__u16 met_counts;    /* … and whether it counts */

	/* added to by the kernel side, taken away by the daemon */
	__u32 news; /* enum wakegov_news */

	/* written by the kernel side on a frequency change; first by the daemon */
	__u32 freq_khz; /* and load.level_q with it, which the daemon sets to what it measures */
	__u32 level_before_q; /* what that was before … */
	__u64 level_since_ns; /* … this time */

	/* written by the daemon */
	__u32 max_khz; /* 0: the CPU has no known frequency */
	__u32 domain;
	__u32 cache; /* WAKEGOV_NO_CACHE: none that is followed */

	/* written by the kernel side, on the CPU itself, while tasks are placed */
	__u32 placing_generation; /* of settings, that what follows is of */
	__u64 busy_ns;		  /* total of past busy times */
	__u64 busy_since_ns;	  /* 0: it is idle */

	/* written by the kernel side, those of requests that were sent here */
	struct wakegov_flight flights[WAKEGOV_CPU_FLIGHTS] __attribute__((aligned(64)));

	/* written by the kernel side, on the CPU itself */
	struct wakegov_class_run runs[WAKEGOV_CLAMP_CLASSES] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/*
 * A block device, the whole disk. Its *idle time* is the time at depth 0: the CPU side has not yet
 * sent the next request.
 */
struct wakegov_device {
	__u64 seq;	     /* the kernel's number of the disk and of what is in it; 0: free */
	__u64 queue;	     /* the address of its requests' queue */
	__u64 flow;	     /* see below */
	__u64 idle_since_ns; /* 0: it is not idle, or nothing is known yet */
	__u64 idle_ns;	     /* total of past idle times; the present one is not in it */
	__u64 anomalies;     /* completions without a start and the reverse */
	__u32 completion_cpu;
	__u32 ignored;	  /* written by the daemon: stacked, counted at the bottom only */
	__u32 n_overflow; /* its requests in overflow sets; mostly 0, and then not searched there */
	char name[WAKEGOV_DISK_SIZE]; /* as the kernel calls it */
} __attribute__((aligned(64)));

/*
 * A device's depth and its completions so far, in one word so that one atomic addition moves both:
 * requests completed above, requests in flight, a moment long it may be -1, below.
 */
#define WAKEGOV_DEPTH_BITS 24
#define WAKEGOV_COMPLETED  ((1ULL << WAKEGOV_DEPTH_BITS) - 1) /* one more above, one less below */

static inline __s32 wakegov_flow_depth(__u64 flow)
{
	return (__s32)((__u32)flow << (32 - WAKEGOV_DEPTH_BITS)) >> (32 - WAKEGOV_DEPTH_BITS);
}

/* A depth below 0 has borrowed from the completions. */
static inline __u64 wakegov_flow_completions(__u64 flow)
{
	return (flow - (__u64)(__s64)wakegov_flow_depth(flow)) >> WAKEGOV_DEPTH_BITS;
}

/* What one task did to one device. */
struct wakegov_slot_io {
	__u32 device;	   /* index; WAKEGOV_NO_DEVICE: free */
	__u32 used;	   /* when last, in units of 2^20 ns */
	__u64 ios;	   /* requests that it sent */
	__u64 host_ns;	   /* host times that ended with a request to this device */
	__u64 host_cpu_ns; /* the part of them in which it did not sleep of its own accord */
};

/*
 * A task whose I/O rate crossed the threshold. Taken by the kernel side, given back by the daemon.
 * Its depth is started - completed: the one is written by the task, the other where requests end.
 */
struct wakegov_slot {
	/*
	 * what each request and each wait touches is one cache line, if it is only counted, and
	 * the next one as far as ios[0]
	 */
	__u32 pid; /* 0: free */
	__u32 id;  /* generation and index: never another task's, never 0 */
	__u32 exited;
	__u32 started;	 /* requests that are or were in flight, modulo 2^32 */
	__u32 completed; /* of these */
	__u32 cpu;
	__u64 idle_since_ns; /* when the last of its requests in flight was completed */
	__u64 last_start_ns;
	__u64 io_starts;      /* block requests that it started */
	__u64 sleep_ns;	      /* since when it sleeps of its own accord; 0: it does not */
	__u64 think_ns;	      /* slept so with nothing in flight, since its last request */
	__u64 starts_ns;      /* the sum of the times of all starts, modulo 2^64 … */
	__u64 completions_ns; /* … and of all completions: what is in flight, as it sums up */
	__u64 io_waits;	      /* times that it slept in an I/O wait */
	__u32 max_depth;      /* since the daemon, reading it, made it 0 */
	__u32 tgid;
	struct wakegov_slot_io ios[WAKEGOV_SLOT_IOS];
	__u64 last_wait_ns;
	__u64 told_move_ns;
	__u64 hold_ns; /* set by the daemon: to be told after so long without I/O; 0 again then */
	__u64 task;    /* the kernel's address of the task … */
	__u64 bytes;   /* … and what it had read and written when that was looked at */
	char comm[WAKEGOV_COMM_SIZE];
} __attribute__((aligned(64)));

/* Its last I/O, as far as it is written down. */
static inline __u64 wakegov_slot_last_ns(const struct wakegov_slot *slot)
{
	__u64 last_ns = slot->last_start_ns;

	if (slot->idle_since_ns > last_ns)
		last_ns = slot->idle_since_ns;
	return slot->last_wait_ns > last_ns ? slot->last_wait_ns : last_ns;
}

/* What the programs that watch hold times and read bytes are run with. */
struct wakegov_watch {
	__u64 hold_ns;
	__u32 slot;
	__u32 pad;
};

enum wakegov_record_type {
	WAKEGOV_RECORD_CPU,    /* cpu left its band, or went idle */
	WAKEGOV_RECORD_TASK,   /* slot was taken, moved to another domain, has no I/O any more,
				  or its task exited */
	WAKEGOV_RECORD_NEWS,   /* there are some; see enum wakegov_news */
	WAKEGOV_RECORD_DEVICE, /* a block device was seen for the first time; slot is its index */
	WAKEGOV_RECORD_CO_RUNNER, /* a task, slot its pid, runs for short beside capped ones, class
			     theirs */
	WAKEGOV_RECORD_CLAMPED,	  /* cpu's pid, a parent, forked slot's, which has clamps */
	WAKEGOV_RECORD_OWN,    /* slot's task, by pid, asks for other clamps than before: class is
				  wakegov_own() of them; cpu is 1 when it has exited */
	WAKEGOV_RECORD_BURSTS, /* those of a class take longer than it was told, or are shorter */
	WAKEGOV_RECORD_FACTS,  /* a task that rules may be for is there, or changed; see below */
	WAKEGOV_RECORD_GONE,   /* slot is the pid of one that matched rules and exited */
	WAKEGOV_RECORD_LOOK, /* class 1: a task without a slot may do I/O that it does not wait for;
				0: the look for such tasks took its time */
	WAKEGOV_RECORD_SCAN, /* a process of several threads changed: they are to be dumped */
	WAKEGOV_RECORD_PLACED_CHILD, /* cpu's pid, a parent that is placed, forked slot's, in the
					cache class */
	WAKEGOV_RECORD_FULL_CACHE,   /* a task of the group slot has to wait: cpu's cache is full */
	WAKEGOV_RECORD_GROUP_WAKES,  /* a task of the group slot woke up */
};

struct wakegov_record {
	__u32 type;
	__u32 cpu;
	__u32 slot;
	__u32 class; /* WAKEGOV_RECORD_BURSTS; WAKEGOV_RECORD_CO_RUNNER, 0: no longer */
};

/* What rules look at, of one thread. */
struct wakegov_facts {
	__u32 pid;
	__u32 tgid;
	__u64 start_ns;	 /* since boot: another task with this pid has another */
	__u64 cgroup_id; /* in the unified hierarchy: the inode of its directory */
	__u32 uid;	 /* the effective one */
	__u32 policy;	 /* SCHED_OTHER and the like */
	__s16 nice;
	__u16 kernel_thread;
	__u32 parent; /* the process that started it */
	char comm[WAKEGOV_COMM_SIZE];
};

/* WAKEGOV_RECORD_FACTS */
struct wakegov_facts_record {
	struct wakegov_record head;
	struct wakegov_facts facts;
};

/* What a process runs, for rules by exe and by command. By process id; written by the kernel side.
 */
struct wakegov_process {
	__u64 mm;	       /* the address of its memory, which every exec replaces */
	__u32 exe_bytes;       /* 0: not known */
	__u32 exe_is_long;     /* it does not fit */
	__u32 command_bytes;   /* of it that fit */
	__u32 command_is_read; /* it is known, though it may be empty */
	/* the names on its path, each with its NUL, from the file up to the root */
	char exe[WAKEGOV_EXE_SIZE + WAKEGOV_NAME_SIZE];
	char command[WAKEGOV_COMMAND_SIZE]; /* arguments, each with its NUL */
};

/* What changes of tasks matter to the rules of the policy. */
enum wakegov_follow {
	WAKEGOV_FOLLOW_TASKS =
		1 << 0, /* there are rules: forks, execs and exits of those that match */
	WAKEGOV_FOLLOW_RENAMES = 1 << 1,
	WAKEGOV_FOLLOW_CGROUPS = 1 << 2,
	WAKEGOV_FOLLOW_PROCESSES = 1 << 3, /* what they run */
	WAKEGOV_FOLLOW_COMMANDS = 1 << 4,  /* with their arguments */
	WAKEGOV_FOLLOW_EXECS = 1 << 5,	   /* any task's, not only those of tasks that match */
};

/* Settings that a reload may change; in the BPF object's .bss, which is mapped. */
struct wakegov_settings {
	__u64 window_ns;       /* over which I/O is counted */
	__u32 window_ios;      /* that many in a window make a task worth telling; 0: none does */
	__u32 own_tgid;	       /* the daemon's process, never told about */
	__u64 move_gap_ns;     /* least time between two records of one task's moves */
	__u64 follow_since_ns; /* requests were last begun to be followed then */
	__u32 by_bytes;	       /* no program sees requests start */
	__u32 pad;
	__u64 look_next_ns; /* not before, a task is told of by its bytes */
	__u64 look_end_ns;  /* the daemon is told then that a look is over; 0: there is none */

	/* bursts and clamp classes */
	__u32 n_clamp_classes;	    /* 0: no rule clamps anything, and nothing is measured */
	__u32 class_generation;	    /* incremented on changes of task_classes */
	__u64 burst_limit_ns;	    /* a burst that took so long counts, however slow the clock */
	__u32 follow_co_runner;	    /* those are to be told about */
	__u32 co_runner_generation; /* one more: none has been told about */
	__u32 class_cap[WAKEGOV_CLAMP_CLASSES]; /* the highest of its domains; 1024: none */
	__u64 floored;				/* sets, as bits, that have a floor */
	__u64 timed; /* sets, as bits, whose bursts are to take no longer than a rule says */
	__u32 follow_clamps; /* children that have some are to be told about */
	__u32 follow_own;    /* every task that changes its own; else those with a class */
	__u32 follow;	     /* enum wakegov_follow */

	/* placement */
	__u32 placing;		  /* a rule or class with one has tasks */
	__u32 placing_generation; /* one more: no CPU is known to work */
	__u64 full_limit_ns;	  /* a cache without an idle CPU for so long is full */
};
