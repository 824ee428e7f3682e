/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The interface between the BPF programs and the tracer. The maps of CPUs and task slots are mapped
 * into the daemon, which reads them without a system call. Each field is written by one side only,
 * named below.
 */

#include <linux/types.h>
#include <stdbool.h>

#include "wakegov/chain.h"
#include "wakegov/quantile.h"
#include "wakegov/record.h"
#include "wakegov/util_acct.h"

/*
 * The utilisation clamps that a task has requested for itself, by sched_setattr(2) or uclampset(1),
 * or that its cgroup allows, in one word. 0: none.
 */

#define WAKEGOV_CAPACITY_MAX 1024	/* SCHED_CAPACITY_SCALE */
#define WAKEGOV_OWN_GROUP    (1U << 31) /* the maximum is its cgroup's, or that of the sysctls */

static inline __u32 wakegov_own(__u32 min_cap, __u32 max_cap)
{
	return min_cap | (WAKEGOV_CAPACITY_MAX - max_cap) << 16;
}

static inline __u32 wakegov_own_min(__u32 own)
{
	return own & 0xffff;
}

static inline __u32 wakegov_own_max(__u32 own)
{
	return WAKEGOV_CAPACITY_MAX - ((own & ~WAKEGOV_OWN_GROUP) >> 16);
}

/*
 * Shares of a table that tasks of several users fill. A user gets a place only while the user holds
 * fewer places than are free. So one user alone gets half of the table, and the next user always
 * finds places. Users with the same remainder of their uid share one count.
 */

#define WAKEGOV_USERS 1024

struct wakegov_shares {
	__u32 held[WAKEGOV_USERS];
};

static inline __u32 *wakegov_shares_of(struct wakegov_shares *shares, __u32 uid)
{
	return &shares->held[uid % WAKEGOV_USERS];
}

static inline bool wakegov_shares_allow(struct wakegov_shares *shares, __u32 uid, __u32 used,
					__u32 size)
{
	return used < size && *wakegov_shares_of(shares, uid) < size - used;
}

#define WAKEGOV_SLOT_BITS     10
#define WAKEGOV_SLOTS	      (1 << WAKEGOV_SLOT_BITS) /* hot tasks, which are reported */
#define WAKEGOV_SLOT_PROBES   16   /* slots tried for a task before it is counted as dropped */
#define WAKEGOV_SLOT_IOS      4	   /* devices followed per task */
#define WAKEGOV_HOT	      1024 /* counters of hot tasks, by pid */
#define WAKEGOV_DEVICES	      64   /* block devices followed */
#define WAKEGOV_UNPLACED      256  /* remembered disks that found no place */
#define WAKEGOV_NO_DEVICE     0xffffffffU
#define WAKEGOV_CLAMP_CLASSES 64   /* clamp classes; 0: tasks without a clamp */
#define WAKEGOV_RULED	      1024 /* counters of tasks that have a clamp class, by pid */
#define WAKEGOV_RULED_TASKS   65536
#define WAKEGOV_MATCHING      65536	  /* tasks that match rules */
#define WAKEGOV_CHILDREN      256	  /* places of children that wait, by pid */
#define WAKEGOV_CHILD_FILLED  0xffffffffU /* a place that is being filled */
#define WAKEGOV_ENDS	      1024	  /* counters of exits, by pid */
#define WAKEGOV_PROCESSES     4096 /* processes with known program and arguments: 16 MiB … */
#define WAKEGOV_USER_PLACES   3072 /* … and how many of them users but root may fill */
#define WAKEGOV_EXE_SIZE      512
#define WAKEGOV_EXE_DEPTH     64  /* names in a path, and mounts on its way up */
#define WAKEGOV_NAME_SIZE     256 /* NAME_MAX and a NUL */
#define WAKEGOV_COMMAND_SIZE  3072
#define WAKEGOV_RING_BYTES    (64 * 1024)
#define WAKEGOV_DISK_SIZE     32
#define WAKEGOV_NO_DOMAIN     0xffffffffU
#define WAKEGOV_LOOK_WINDOWS  5	 /* a look for tasks that never wait lasts this many window_ns */
#define WAKEGOV_CACHES	      64 /* last-level caches, or clusters, among which tasks are placed */
#define WAKEGOV_NO_CACHE      0xffffffffU
#define WAKEGOV_PLACED_GROUPS 64
#define WAKEGOV_FULL_NS	      5000000ULL /* a cache without an idle CPU for this long is full */
#define WAKEGOV_DOMAINS	      1024
/* A CPU is idle when no tick meets a task for this long: two ticks of HZ=100. */
#define WAKEGOV_NO_TICK_NS  20000000ULL
#define WAKEGOV_CHAIN_PAIRS 2048 /* pairs of places for tasks of chains */
/* A chain counts on a CPU for this long after it was last there. */
#define WAKEGOV_CHAIN_HOLD_NS 50000000ULL
/*
 * The same for an input event's work, which may never return there; another of its tasks there ends
 * it too. Twice the time: each key press costs that much more time at the highest frequency.
 */
#define WAKEGOV_INPUT_HOLD_NS 6000000ULL
#define WAKEGOV_CHAIN_STEP_NS 2000000ULL  /* its time there may be too early by this */
#define WAKEGOV_IDLE_ANY      0xffffffffU /* an idle latency: none is asked for */

/* The programs, in the order in which `wakegovctl status` lists them. */
enum wakegov_program {
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
	WAKEGOV_SOFTIRQ_RAISE,
	WAKEGOV_CPU_FREQUENCY,
	WAKEGOV_CPU_LIMITS,
	WAKEGOV_SUSPEND_RESUME,
	WAKEGOV_TICK,
	WAKEGOV_INPUT_EVENT,
	WAKEGOV_TASK_RENAME,
	WAKEGOV_CGROUP_MOVE,
	WAKEGOV_TASK_DUMP, /* not at a tracepoint: the daemon runs it */
	WAKEGOV_PROGRAMS,
};

/* The events for which a CPU emits a record; the kernel side clears the bit with the record. */
enum wakegov_arm {
	WAKEGOV_ARM_BAND = 1 << 0,    /* its utilisation leaves the band */
	WAKEGOV_ARM_IDLE = 1 << 1,    /* it goes idle */
	WAKEGOV_ARM_CLASSES = 1 << 2, /* a task of one of its watched clamp classes runs */
};

/*
 * News that the daemon must not miss: they stay until the daemon takes them. The record only wakes
 * the daemon; if the ring is full, the daemon is awake already.
 */
enum wakegov_news {
	WAKEGOV_NEWS_CPU = 1 << 0,    /* a CPU record was lost: it left its band or is idle */
	WAKEGOV_NEWS_LIMITS = 1 << 1, /* the limits of the CPU's domain changed */
	WAKEGOV_NEWS_RESUME = 1 << 2, /* the machine was suspended, and its devices are back */
	WAKEGOV_NEWS_CLAMPS = 1 << 3, /* clamps_seen was set */
};

/*
 * When tasks of a clamp class last ran on a CPU. The tasks of a class have the same caps and
 * floors. A task is long-running when its bursts are long enough for a change of frequency; see
 * burst.bpf.h. For class 0 only long-running tasks are recorded.
 */
struct wakegov_class_run {
	__u64 ran_ns;
	__u64 long_running_ns; /* when a long-running one did */
	__u32 ran_pid;
	__u32 long_running_pid;
};

/*
 * The 90th percentile of the bursts of a clamp class at full capacity, for classes with a response
 * time. Written by the kernel side, on any CPU: when two CPUs write at once, one burst is lost.
 */
struct wakegov_bursts {
	struct wakegov_quantile length_ns;
	__u64 told_ns;	  /* the last reported value; 0: none */
	__u64 told_at_ns; /* time of that report */
};

/* A last-level cache, or a cluster: placing.bpf.h. */
struct wakegov_cache {
	__u32 n_cpus;	     /* its online CPUs; written by the daemon */
	__u32 n_busy;	     /* busy CPUs, of those that have switched tasks since placing began */
	__u64 full_since_ns; /* when its last idle CPU became busy */
} __attribute__((aligned(64)));

/* A placed task, by thread id. */
struct wakegov_placed {
	__u32 group;
	__u32 pad;
	__u64 waits_since_ns; /* when it was woken or preempted; 0: it runs or sleeps */
};

/* The chain with the highest need on a CPU within the hold time. */
struct wakegov_chain {
	__u64 seen_ns;	/* when it, or one of almost its need, was last there; 0: never … */
	__u64 clock_ns; /* … the same time by the run queue's clock … */
	__u64 chain_ns; /* … and by the chains' clock */
	__u32 need_q;	/* its utilisation */
	__u32 pid;	/* its task that ran here … */
	__u32 waker;	/* … and that task's waker; 0: the work is waited for */
};

/* Two places for chains, each held by the task with that number; 0: free. */
struct wakegov_chain_pair {
	__u32 pids[2];
	__u32 users[2]; /* the owner's uid plus one; 0: no tick has met the task */
	struct chain_task chains[2];
};

/*
 * The limits of a domain. The requests, policy->min_freq_req and max_freq_req, differ from what the
 * files show.
 */
struct wakegov_limits {
	__u32 fd;      /* read_limits() is passed the caller's descriptor of a file of it … */
	__u32 known;   /* … and sets 0 if that is not in sysfs; else 0: nothing is expected */
	__u32 min_khz; /* what was last requested … */
	__u32 max_khz;
	__u32 in_force_min_khz; /* … and the result, with the limits of others */
	__u32 in_force_max_khz;
	__u32 hardware_max_khz; /* the driver's highest frequency, which turbo changes */
	__u32 pad;
	__u64 governor; /* the address of the domain's governor; 0: unknown */
};

/* The process that set a governor; cgroup is the last part of its path, as of a unit. */
struct wakegov_writer {
	__u64 at_ns;
	char comm[TASK_COMM_SIZE];
	char cgroup[48];
};

/* A task that ran on this CPU lately, and on no other since; see comes_unseen(). */
struct wakegov_recent {
	__u32 pid;	/* 0: none */
	__u32 est_q;	/* its remembered need */
	__u32 jiffy;	/* the jiffy in which it was last accounted here … */
	__u32 is_short; /* … and whether the CPU had worked for a moment only */
};

/* A CPU switches between few tasks. The place is the remainder of the pid. */
#define WAKEGOV_RECENT 8

struct wakegov_cpu {
	/*
	 * Each switch touches these two cache lines, and the switch counter. The kernel side writes
	 * them, on the CPU itself, unless a comment below says otherwise.
	 */
	struct account_cpu load __attribute__((aligned(64))); /* the daemon writes capacity */

	/* written by the daemon */
	__u64 band_burst_ns; /* 0: no burst is too long */
	__u32 band_low_q;
	__u32 band_high_q;
	__u32 armed;	     /* enum wakegov_arm; cleared by the kernel side */
	__u32 long_burst_ns; /* a burst of this length at full capacity is long */

	__u32 accounted_jiffy; /* when a switch was last accounted; written by the kernel side */

	struct wakegov_chain chain; /* by the kernel side, on the CPU itself */
	struct chain_compared compared;
	__u32 chain_high_q;	/* a chain that needs more emits a record; both sides write it */
	__u32 waiting_q;	/* need of a chain that is waited for; 0: none; by the daemon */
	__u8 context;		/* enum context in chain.bpf.h: of the current task */
	__u8 full;		/* its own utilisation keeps it at the highest frequency */
	__u32 input_interrupts; /* the interrupts in which the last input event came here … */
	__u32 input_jiffy;	/* … and its jiffy */
	__u64 chain_since_ns;	/* start of the on-time of the running task's chain; 0: no chain */
	__u64 asked_ns;		/* when it was last asked whether it is quiet … */
	__u64 asked_switches;	/* … and its switches until then */
	__u64 preempt_count;	/* the kernel's address of it, on x86; 0: not known yet */
	__u64 interrupted_ns;	/* start of a device's interrupt that ended idleness; 0: none */
	__u32 served_pid;	/* the hot task for which a kernel thread worked here last … */
	__u64 served_ns;	/* … and when; by the kernel side */
	__u64 realtime_ns;	/* when a real-time task last came here … */
	__u32 realtime_q;	/* … and what it needs; by the kernel side */

	/* written by the kernel side */
	struct wakegov_recent recent[WAKEGOV_RECENT];
	__u64 came_ran_ns;		 /* sum_exec_runtime of the task when it came unseen */
	char chain_comm[TASK_COMM_SIZE]; /* name of the task chain.pid */

	/* the fields that each request touches: a cache line */
	__u32 last_device __attribute__((aligned(64))); /* of the last request sent here */
	__u32 pad;
	__u64 events[WAKEGOV_PROGRAMS]; /* by program; those of requests come first */

	__u64 ticks; /* ticks that met a task, the daemon's excepted */
	/* when a tick last did its work here, by both clocks */
	__u64 ticked_ns;
	__u64 ticked_jiffies;
	__u32 watched; /* while only ticks are traced: the CPU whose domain the next tick checks */

	__u64 drops_ring;    /* records lost because the ring buffer was full */
	__u64 drops_slots;   /* tasks for which there was no slot */
	__u64 drops_devices; /* requests to devices without a place, per machine or per task */
	__u32 capped_class;  /* class of the capped tasks that ran here last, the one with the
				highest cap */
	__u64 capped_ns;     /* when one of them last ran */
	__u64 met_ns;	     /* when the running task was switched in, or last met by a tick */
	__u32 met_pid;	     /* the last task that was examined here … */
	__u16 met_class;     /* … its clamp class … */
	__u16 met_counts;    /* … and whether it is long-running */

	/* set by the kernel side, cleared by the daemon */
	__u32 news; /* enum wakegov_news */

	/* written by the kernel side on a frequency change; the daemon writes the first value */
	__u32 freq_khz; /* sets load.level_q; the daemon replaces that by the measured level */
	__u32 level_before_q; /* the level before … */
	__u64 level_since_ns; /* … the change at this time */

	struct wakegov_writer writer; /* who last set the domain's governor */

	/* written by the daemon */
	__u64 watch_ran; /* clamp classes, as bits: report when one of their tasks runs … */
	__u64 watch_long_running;	  /* … or a long-running one */
	struct wakegov_limits own_limits; /* limits that we wrote to the domain: they are no news */
	__u32 max_khz;			  /* 0: the CPU has no known frequency */
	__u32 domain;
	__u32 cache; /* WAKEGOV_NO_CACHE: none in the table */

	/* written by the kernel side, on the CPU itself, while tasks are placed */
	__u32 placing_generation; /* settings.placing_generation of is_busy */
	__u8 is_busy;

	/* written by the kernel side, on the CPU itself */
	struct wakegov_class_run runs[WAKEGOV_CLAMP_CLASSES] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* A block device, the whole disk. */
struct wakegov_device {
	__u64 seq;	      /* diskseq, which changes with the medium; 0: free */
	__u64 queue;	      /* address of its request queue */
	__u32 completion_cpu; /* where an interrupt last ended a task's wait for it */
	__u32 ignored;	      /* written by the daemon: stacked, counted at the bottom only */
	char name[WAKEGOV_DISK_SIZE]; /* the kernel's name */
} __attribute__((aligned(64)));

/* The I/O of one task on one device. */
struct wakegov_slot_io {
	__u32 device; /* index; WAKEGOV_NO_DEVICE: free */
	__u32 used;   /* last use, in units of 2^20 ns */
	__u64 ios;    /* requests that the task sent … */
	__u64 writes; /* … and how many of them were writes */
};

/*
 * A task whose I/O rate reached the threshold. The kernel side takes a slot, the daemon gives it
 * back.
 */
struct wakegov_slot {
	/* A counted wait touches this cache line only; a counted request also touches the next. */
	__u32 pid;  /* 0: free */
	__u32 id;   /* generation and index: unique, never 0 */
	__u32 live; /* the pid until the task exits: the only field that a look-up compares */
	__u32 cpu;
	__u32 device; /* index of the device of its last counted request */
	__u32 tgid;
	__u64 last_start_ns;
	__u64 last_wait_ns;
	__u64 io_starts;     /* block requests started */
	__u64 io_waits;	     /* number of sleeps in an I/O wait */
	__u64 sync_waits;    /* those of them that could not be interrupted */
	__u64 interrupts_ns; /* time of interrupts on idle CPUs, and of kernel threads, until they
				woke the task */
	struct wakegov_slot_io ios[WAKEGOV_SLOT_IOS];
	__u64 told_move_ns;
	__u64 hold_ns;	  /* set by the daemon: time without I/O until a report, which resets it */
	__u64 request_ns; /* set by the daemon: expected duration of its requests */
	__u64 task;	  /* the kernel's address of the task */
	/* As of the last read: bytes read and written, … */
	__u64 bytes;
	__u64 ran_ns;	/* … CPU time, … */
	__u64 delay_ns; /* … and time spent runnable without a CPU */
	char comm[TASK_COMM_SIZE];
} __attribute__((aligned(64)));

/* The time of its last recorded I/O. Requests sent at that time may still be in flight. */
static inline __u64 wakegov_slot_last_ns(const struct wakegov_slot *slot)
{
	__u64 sent_ns = slot->last_start_ns ? slot->last_start_ns + slot->request_ns : 0;

	return slot->last_wait_ns > sent_ns ? slot->last_wait_ns : sent_ns;
}

/* The argument of the programs that watch hold times and read tasks. */
struct wakegov_watch {
	__u64 hold_ns;
	__u32 slot;
	__u32 pad;
};

/*
 * The program of a process, by process id, for rules by exe and by command. Written by the kernel
 * side.
 */
struct wakegov_process {
	__u64 mm;	       /* address of its mm, which every exec replaces */
	__u32 exe_bytes;       /* 0: not known */
	__u32 exe_is_long;     /* the path does not fit */
	__u32 command_bytes;   /* the bytes that fit */
	__u32 command_is_read; /* it is known, and may be empty */
	__u32 uid;	       /* the real user, whose share the entry is counted in */
	__u32 pad;
	/* the names on its path from the file up to the root, each with its NUL */
	char exe[WAKEGOV_EXE_SIZE + WAKEGOV_NAME_SIZE];
	char command[WAKEGOV_COMMAND_SIZE]; /* arguments, each with its NUL */
};

/* The changes of tasks that the policy's rules need. */
enum wakegov_follow {
	WAKEGOV_FOLLOW_TASKS =
		1 << 0, /* there are rules: forks, execs and exits of those that match */
	WAKEGOV_FOLLOW_RENAMES = 1 << 1,
	WAKEGOV_FOLLOW_CGROUPS = 1 << 2,
	WAKEGOV_FOLLOW_PROCESSES = 1 << 3, /* the programs of processes */
	WAKEGOV_FOLLOW_COMMANDS = 1 << 4,  /* with their arguments */
	WAKEGOV_FOLLOW_EXECS = 1 << 5,	   /* execs of any task, not only of matching ones */
};

/*
 * A child whose parent matches rules. It inherits their effect at once, and is reported only after
 * a while. The side that resets pid to 0 reports the child or drops it.
 */
struct wakegov_child {
	__u32 pid;    /* 0: none */
	__u32 parent; /* the thread that forked it */
	__u32 clamped;
	__u32 pad;
	__u64 born_ns;
	struct task_facts facts; /* as of the fork */
};

/* Settings that a reload may change; in the BPF object's .bss, which is mapped. */
struct wakegov_settings {
	__u64 window_ns;    /* length of the window in which I/O is counted */
	__u32 window_ios;   /* I/Os in a window that make a task reported; 0: no task is */
	__u32 own_tgid;	    /* the daemon's process, which is never reported */
	__u64 move_gap_ns;  /* least time between two records of one task's moves */
	__u32 by_bytes;	    /* requests are computed from bytes: no program traces their starts */
	__u32 learns;	    /* a learning period is under way */
	__u64 look_next_ns; /* earliest report of a task by its bytes */
	__u64 look_end_ns;  /* end of the present look, which is reported; 0: none */
	__u64 look_seen_ns; /* time of the last request in the look; 0: none yet */

	/*
	 * The work of a switch for rules, classes and clamps. Where there are none, a switch tests
	 * once. follow_own alone does not need every switch of a task.
	 */
	union {
		__u64 at_switch;
		struct {
			union {
				__u32 at_every_switch;
				struct {
					__u8 n_clamp_classes; /* 0: nothing clamps, and nothing is
								 measured */
					__u8 follow;	      /* enum wakegov_follow */
					__u8 placing; /* a rule or class with a placement has tasks
						       */
					__u8 idle_latencies; /* the same with an idle latency */
				};
			};
			__u8 follow_own; /* report own clamps of every task; else of tasks with a
					    class */
		};
	};

	/* bursts and clamp classes */
	__u32 class_generation;	    /* incremented on changes of task_classes */
	__u64 burst_limit_ns;	    /* a burst of this real time is long at any frequency */
	__u32 follow_co_runner;	    /* report co-runners */
	__u32 co_runner_generation; /* incremented: every co-runner is reported again */
	__u32 class_cap[WAKEGOV_CLAMP_CLASSES]; /* highest of its domains; 1024: none */
	__u64 floored;				/* classes, as bits, that have a floor */
	__u64 timed;				/* classes, as bits, with a response time */
	__u32 follow_clamps;			/* report forked children with clamps */
	__u32 new_tasks;			/* new tasks count by account_new_task() */

	__u32 chains; /* chains are followed; a new number each time. 0: they are not followed */

	/* Since when only ticks are traced, and the end of a domain's is news; 0: all is traced. */
	__u64 only_ticks_since_ns;

	/* placement */
	__u32 placing_generation; /* incremented: every CPU's is_busy becomes invalid */

	__s64 max_stored; /* most entries of task storage */
};
