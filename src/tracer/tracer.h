/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The only room that knows libbpf: loads the programs of bpf/, takes their records, and reads
 * their totals, as inputs for the core. Times are CLOCK_MONOTONIC, as bpf_ktime_get_ns() gives.
 */

#include <stdint.h>

#include "core/engine.h"
#include "core/input.h"
#include "core/settings.h"
#include "core/topology.h"
#include "tracer/facts.h"

struct tracer;

/* What a record says has happened; the totals are read when they are needed. */
enum tracer_event_type {
	TRACER_CPU,	     /* a CPU left its band or went idle */
	TRACER_TASK,	     /* a task began to do I/O, moved to another domain, or exited */
	TRACER_LIMITS,	     /* the limits of a CPU's domain changed */
	TRACER_DEVICE,	     /* a block device was seen for the first time */
	TRACER_RESUME,	     /* the machine was suspended and goes on */
	TRACER_DEVICE_END,   /* one that inputs told of has disappeared */
	TRACER_CHILD,	     /* a task was forked that has utilisation clamps */
	TRACER_OWN,	     /* a task asks for other utilisation clamps than before */
	TRACER_CO_RUNNER,    /* a task runs for short beside capped ones, or does so no longer */
	TRACER_BURSTS,	     /* those of a clamp class are longer or shorter: tracer_burst_ns() */
	TRACER_FACTS,	     /* what rules look at, of a task that is new or changed */
	TRACER_GONE,	     /* a task that was marked as matching rules exited */
	TRACER_SCAN,	     /* several tasks changed at once: tracer_scan_tasks() tells how */
	TRACER_PLACED_CHILD, /* a task that is placed (tracer/placing.h) forked; so the next two */
	TRACER_FULL_CACHE,
	TRACER_GROUP_WAKES,
};

struct tracer_event {
	enum tracer_event_type type;
	uint32_t cpu;	 /* TRACER_CPU, TRACER_LIMITS */
	uint32_t handle; /* TRACER_TASK; TRACER_DEVICE, TRACER_DEVICE_END: its index */
	uint32_t pid;	 /* TRACER_CO_RUNNER, TRACER_CHILD, TRACER_OWN, TRACER_GONE,
			  * TRACER_PLACED_CHILD
			  */
	uint32_t parent; /* TRACER_CHILD, TRACER_PLACED_CHILD: who forked it */
	uint32_t class;	 /* TRACER_BURSTS; TRACER_CO_RUNNER: that of the capped tasks, or 0 */
	uint32_t own;	 /* TRACER_OWN: wakegov/own.h */
	bool ended;	 /* TRACER_OWN: it has exited */
	uint32_t cache;	 /* TRACER_FULL_CACHE; TRACER_PLACED_CHILD: the one that it was forked in */
	uint32_t group;	 /* TRACER_FULL_CACHE, TRACER_GROUP_WAKES */
	struct task_facts facts; /* TRACER_FACTS */
};

typedef void (*tracer_handler_t)(void *userdata, const struct tracer_event *event);

/*
 * Loads and attaches. A program that this kernel does not have is left out and listed by
 * tracer_program(); only when switches cannot be traced there is nothing left to work with.
 * topology is borrowed. On failure returns a negative errno and sets *ret_why to a static sentence
 * that says what is missing and what to do.
 */
int tracer_new(const struct topology *topology, const struct policy_io_boost *policy,
	       struct tracer **ret, const char **ret_why);
struct tracer *tracer_free(struct tracer *tracer);

/*
 * Whether TRACER_CHILD is wanted, and TRACER_OWN of every task; at first neither is. Of tasks with
 * a clamp class TRACER_OWN always comes.
 */
void tracer_follow_clamps(struct tracer *tracer, bool children, bool own);

/* Becomes readable when there are records. */
int tracer_fd(const struct tracer *tracer);
/*
 * Hands the records that are there to handler, and what outlives a lost record: changes of limits,
 * resumes, CPUs to look at. It takes as many as the ring holds, which are all that were there when
 * it began: tasks that cause records without a pause, as by new names, must not keep it from
 * returning. Returns 1 if there may be more by now, else 0, or a negative errno.
 */
int tracer_consume(struct tracer *tracer, tracer_handler_t handler, void *userdata);

/* The threshold at which tasks are told about, after a reload. */
void tracer_set_policy(struct tracer *tracer, const struct policy_io_boost *policy);

/* The CPU's present frequency where the kernel has not reported a change yet: at start. */
void tracer_set_frequency(struct tracer *tracer, uint32_t cpu, uint32_t khz);
/* What the CPU was measured to run at; it is accounted so until the kernel sets another. */
void tracer_set_measured(struct tracer *tracer, uint32_t cpu, uint32_t khz);
/* The frequency by which its capacity is measured is another. */
void tracer_set_reference(struct tracer *tracer, uint32_t cpu, uint32_t khz);
/* What the kernel set it to, as far as it has reported; 0: not known. */
uint32_t tracer_reported_khz(const struct tracer *tracer, uint32_t cpu);
/* The level at which it accrues by now. */
uint32_t tracer_level_q(const struct tracer *tracer, uint32_t cpu);
/* Whether a task runs there, other than the daemon. */
bool tracer_cpu_works(const struct tracer *tracer, uint32_t cpu);

/*
 * What to watch this CPU for until the next record about it. False: it was to be told when it goes
 * idle and is so already, which will not be told.
 */
bool tracer_arm(struct tracer *tracer, uint32_t cpu, const struct engine_band *band);

/* How busy the CPU is, brought up to now_ns. */
void tracer_read_cpu(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns, struct input *ret);

/*
 * When tasks of a clamp class last ran on the CPU, now_ns if one does; which rules make the class
 * is left to the caller. Returns false when none did since the last call, or ever.
 */
bool tracer_read_class_run(struct tracer *tracer, uint32_t cpu, uint32_t class, uint64_t now_ns,
			   struct input *ret);

/*
 * How long the bursts of a clamp class are at full capacity, nine of ten of them, in ns; 0: none
 * has ended yet.
 */
uint64_t tracer_burst_ns(const struct tracer *tracer, uint32_t class);

/* What the kernel side is to know of the clamp classes that there are. */
struct tracer_classes {
	uint32_t n;			 /* 1: no rule clamps anything, and nothing is measured */
	uint32_t cap[CLAMP_CLASSES_MAX]; /* 0…1024 */
	uint64_t floored;		 /* classes, as bits, that have a floor */
	uint64_t timed;			 /* of these, those whose bursts TRACER_BURSTS tells of */
	bool co_runners;		 /* tell of those that run beside capped tasks */
	uint64_t burst_limit_ns;
};

void tracer_set_classes(struct tracer *tracer, const struct tracer_classes *classes);
/* The numbers mean other sets from now on: what was kept under them is forgotten. */
void tracer_forget_classes(struct tracer *tracer);
/* The class of one task, in force once tracer_send_task_classes() was called. */
void tracer_set_task_class(struct tracer *tracer, const struct task_class *class);
/* Returns a negative errno when one could not be told; a task that is gone can. */
int tracer_send_task_classes(struct tracer *tracer);

/*
 * The totals of the task behind handle, or the fact that it ended. Returns 0, or -ENOENT when the
 * slot is free.
 */
int tracer_read_task(struct tracer *tracer, uint32_t handle, uint64_t now_ns, struct input *ret);
/*
 * From now on TRACER_TASK tells, once, that the task did no I/O for hold_ns, and until then its
 * samples say that it is watched. 0: not, any more. A task that the kernel can't watch is not.
 */
void tracer_watch_hold(struct tracer *tracer, uint32_t handle, uint64_t hold_ns);
/* Stop following the task; it is told about again when it crosses the threshold again. */
void tracer_release_task(struct tracer *tracer, uint32_t handle);

/*
 * Whether block requests are followed from their start to their end, as they are at first; if not,
 * they are counted for the tasks that start them, and the totals that need more stand still. What
 * is in flight when it begins is not known, and is in no depth. To call with what is so already
 * costs nothing.
 */
void tracer_follow_requests(struct tracer *tracer, bool follow, uint64_t now_ns);

/*
 * Detaches all programs: nothing is traced, and the machine's work is as fast as without us. When
 * it resumes, no CPU has worked and no task has waited in between, for all that is known; tasks
 * that do I/O are followed on, and those that ended meanwhile are said to have. Rules need a scan
 * of all tasks then, and frequencies are to be set. Requests are only counted, until they are to be
 * followed.
 */
void tracer_pause(struct tracer *tracer);
void tracer_resume(struct tracer *tracer); /* nothing, unless it is paused */

#define TRACER_DISK_SIZE 32

/*
 * The totals of a block device, the present idle time included. Returns 0, or -ENOENT when there
 * is none of this index, or it is stacked on others: those count.
 */
int tracer_read_device(struct tracer *tracer, uint32_t index, uint64_t now_ns, struct input *ret);
/* Its name in /sys/block, stacked ones' too. Returns 0 or -ENOENT. */
int tracer_device_name(const struct tracer *tracer, uint32_t index, char ret[TRACER_DISK_SIZE]);

/* After TRACER_DEVICE: looks in /sys whether the device is stacked. */
void tracer_classify_device(struct tracer *tracer, uint32_t index);
/*
 * Ends requests of which the kernel has none any more, and forgets devices that are gone; handler
 * gets TRACER_DEVICE_END once for each that tracer_read_device() or tracer_read_task() named, and
 * then its index is free for another. Reads up to five files per device: to be called some times a
 * second while tasks are followed.
 */
void tracer_resync_devices(struct tracer *tracer, tracer_handler_t handler, void *userdata);

/* What changes of tasks are to be told about, for the rules: all of it, or nothing. */
struct tracer_follow {
	bool tasks;    /* there are rules … */
	bool execs;    /* … by which a task may match when it runs another program … */
	bool renames;  /* … some of which go by comm … */
	bool cgroups;  /* … or by cgroup … */
	bool exes;     /* … or by what a process runs … */
	bool commands; /* … and its arguments */
};

void tracer_follow_tasks(struct tracer *tracer, const struct tracer_follow *follow);

/*
 * A task that matches rules, or no longer: its children and its end are told about, once
 * tracer_send_marks() was called.
 */
void tracer_mark_task(struct tracer *tracer, uint32_t pid, bool matches);
void tracer_send_marks(struct tracer *tracer);

/*
 * Hands every thread of the machine to handle, but for those that are about to end. Returns 0, or a
 * negative errno, which is -EOPNOTSUPP where the kernel has no iterator for it.
 */
int tracer_scan_tasks(struct tracer *tracer, facts_handler_t handle, void *userdata);
/* The same for the threads of one process. */
int tracer_scan_process(struct tracer *tracer, uint32_t tgid, facts_handler_t handle,
			void *userdata);

/* The facts of one thread, by the same way. Also -ESRCH: there is none, and *ret is untouched. */
int tracer_find_task(struct tracer *tracer, uint32_t pid, struct task_facts *ret);

/* What a process runs: as it was seen to begin it or, where it had begun before, by a scan. */
void tracer_read_process(struct tracer *tracer, uint32_t tgid, struct process_facts *ret);

enum tracer_program_state {
	TRACER_ATTACHED,
	TRACER_NOT_NEEDED, /* now: it is attached while requests are followed or tasks have clamps
			    */
	TRACER_PAUSED,	   /* tracer_pause() */
	TRACER_UNUSED,	   /* another program does its work better */
	TRACER_MISSING,	   /* this kernel has no such tracepoint */
	TRACER_FAILED,
};

struct tracer_program {
	const char *name;
	const char *purpose; /* what is not seen without it */
	enum tracer_program_state state;
	int error; /* negative errno of TRACER_FAILED */
	uint64_t events;
};

/* The i-th program; false past the last. */
bool tracer_program(const struct tracer *tracer, uint32_t i, struct tracer_program *ret);

struct tracer_drops {
	uint64_t ring;	    /* records that found the ring buffer full */
	uint64_t slots;	    /* tasks that found no slot */
	uint64_t devices;   /* requests to more devices, in all or of one task, than are followed */
	uint64_t anomalies; /* completions without a start, starts without a completion */
	uint64_t missed;    /* program runs that the kernel skipped: recursion */
};

void tracer_drops(const struct tracer *tracer, struct tracer_drops *ret);
/* The first of them alone, without a system call. */
uint64_t tracer_drops_ring(const struct tracer *tracer);
