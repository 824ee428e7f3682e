/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The only subsystem that uses libbpf: loads the programs of bpf/, receives their records, and
 * reads their totals as inputs for the core. Times are bpf_ktime_get_ns()'s CLOCK_MONOTONIC.
 */

#include <stdint.h>

#include "core/engine.h"
#include "core/input.h"
#include "core/rule.h"
#include "core/settings.h"
#include "core/topology.h"
#include "wakegov/piece.h"
#include "wakegov/record.h"

struct tracer;
struct wakegov_limits;

/* The record is borrowed. */
typedef void (*tracer_handler_t)(void *userdata, const struct wakegov_record *record);

/*
 * Loads and attaches the programs. Programs that this kernel does not support are left out, and
 * listed by tracer_program(); only the one for switches is indispensable. Requests are counted, but
 * learning and chains wait for tracer_learn() and tracer_follow_chains(). topology is borrowed. On
 * failure returns a negative errno and sets *ret_why to a static sentence that says what is missing
 * and what to do.
 */
int tracer_new(const struct topology *topology, const struct policy_io_boost *policy,
	       struct tracer **ret, const char **ret_why);
struct tracer *tracer_free(struct tracer *tracer);

/* Whether this kernel's schedutil adds its margin before it clamps. */
bool tracer_clamps_last(const struct tracer *tracer);

/*
 * Enables WAKEGOV_RECORD_CHILD, and WAKEGOV_RECORD_OWN of every task; both are off at first.
 * WAKEGOV_RECORD_OWN of tasks with a clamp class is always on.
 */
void tracer_follow_clamps(struct tracer *tracer, bool children, bool own);

/*
 * Sets whether chains are followed: inputs of CPUs then contain them. Off at first. A call without
 * a change costs nothing.
 */
void tracer_follow_chains(struct tracer *tracer, bool follow);
/* Reports new tasks, where no governor of the kernel gives them account_new_task()'s share. */
void tracer_follow_new_tasks(struct tracer *tracer, bool follow);

/* Becomes readable when there are records. */
int tracer_fd(const struct tracer *tracer);
/*
 * Passes the waiting records to handler, and state that survives a lost record: changed limits,
 * resumes, CPUs to sample. Stops after as many bytes as the ring holds, so that tasks that cause
 * records without a pause cannot keep it from returning. Returns 1 if more may be waiting, else 0,
 * or a negative errno.
 */
int tracer_consume(struct tracer *tracer, tracer_handler_t handler, void *userdata);

/* Sets the I/O rate at which tasks are reported, after a reload. */
void tracer_set_policy(struct tracer *tracer, const struct policy_io_boost *policy);

/* Sets the CPU's present frequency, at start, if the kernel has not reported one yet. */
void tracer_set_frequency(struct tracer *tracer, uint32_t cpu, uint32_t khz);
/* Sets the CPU's measured frequency, used for accounting until the kernel sets another. */
void tracer_set_measured(struct tracer *tracer, uint32_t cpu, uint32_t khz);
/* Sets the frequency at which the CPU has its capacity. */
void tracer_set_reference(struct tracer *tracer, uint32_t cpu, uint32_t khz);
/* What is known of the pieces of a thread. Returns false where nothing wakes it from outside. */
bool tracer_piece(const struct tracer *tracer, uint32_t pid, struct piece *ret);
/*
 * The name of the task with this pid at the arrival of its chain on this CPU. Returns false, with
 * nothing written, if the CPU has another chain.
 */
bool tracer_chain_name(const struct tracer *tracer, uint32_t cpu, uint32_t pid,
		       char ret[static TASK_COMM_SIZE]);
/* The frequency that the kernel last reported, 0: none yet, and when. */
uint32_t tracer_reported_khz(const struct tracer *tracer, uint32_t cpu, uint64_t *ret_ns);
/* The last process that set the governor of the CPU's domain; at_ns is 0 if there was none. */
struct wakegov_writer tracer_last_writer(const struct tracer *tracer, uint32_t cpu);
/*
 * Reads in one call the limits of the domain that fd, an open file of it, belongs to, and the
 * requests, which the files do not show. Returns false, with nothing read, if fd is not in sysfs.
 */
bool tracer_read_limits(const struct tracer *tracer, int fd, struct wakegov_limits *ret);
/*
 * Announces a change of limits of the domain with this first CPU: a change that results in these,
 * if `known`, emits no record.
 */
void tracer_expect_limits(struct tracer *tracer, uint32_t cpu, const struct wakegov_limits *limits);
/* The level at which the CPU's utilisation accrues now. */
uint32_t tracer_level_q(const struct tracer *tracer, uint32_t cpu);
/* Whether a task other than the daemon runs there. */
bool tracer_cpu_works(const struct tracer *tracer, uint32_t cpu);

/*
 * Limits the memory of task storage. A task without storage counts only in its CPU's utilisation,
 * and is short-running for its rules. Without this call there is no limit.
 */
void tracer_limit_storage(struct tracer *tracer, uint64_t bytes);

/*
 * Sets the event for which this CPU emits its next record. Returns false if it should report that
 * it goes idle, and is idle already: no record will come.
 */
bool tracer_arm(struct tracer *tracer, uint32_t cpu, const struct engine_band *band);

/* Reads the CPU's utilisation as of now_ns. */
void tracer_read_cpu(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns, struct input *ret);

/*
 * Reads when tasks of a clamp class last ran on the CPU (now_ns if one runs); the caller fills in
 * the class's rules. Returns false when none ran since the last call.
 */
bool tracer_read_class_run(struct tracer *tracer, uint32_t cpu, uint32_t class, uint64_t now_ns,
			   struct input *ret);

/* The 90th percentile of the class's bursts in ns at full capacity; 0: none has ended yet. */
uint64_t tracer_burst_ns(const struct tracer *tracer, uint32_t class);

/* The clamp classes, for the kernel side. */
struct tracer_classes {
	uint32_t n;			 /* 1: no rule clamps, and bursts are not measured */
	uint32_t cap[CLAMP_CLASSES_MAX]; /* 0…1024 */
	uint64_t floored;		 /* classes, as bits, that have a floor */
	uint64_t timed;	 /* classes, as bits, whose bursts WAKEGOV_RECORD_BURSTS reports */
	bool co_runners; /* report tasks that run beside capped ones */
	uint64_t burst_limit_ns;
};

void tracer_set_classes(struct tracer *tracer, const struct tracer_classes *classes);
/* The class numbers get new meanings: forgets everything under the old ones. */
void tracer_forget_classes(struct tracer *tracer);
/*
 * Sets the class of one task; takes effect with tracer_apply_task_classes(). Returns 0 or a
 * negative errno.
 */
int tracer_set_task_class(struct tracer *tracer, const struct task_class *class);
void tracer_apply_task_classes(struct tracer *tracer);

/*
 * Placed tasks: bpf/placing.bpf.h reports where they wait. The caller numbers caches and groups.
 */

/* Sets the cache of a CPU; PLACEMENT_NO_CACHE: none in the table. */
void tracer_set_cpu_cache(struct tracer *tracer, uint32_t cpu, uint32_t cache);
/* Sets the number of the cache's online CPUs. */
void tracer_set_cache_size(struct tracer *tracer, uint32_t cache, uint32_t n_cpus);

/* Starts or stops. At the start every CPU counts as idle until its next switch. */
void tracer_place(struct tracer *tracer, bool placing);

/* Adds the task to the group. Returns 0 or a negative errno. */
int tracer_place_task(struct tracer *tracer, uint32_t pid, uint32_t group);
void tracer_unplace_task(struct tracer *tracer, uint32_t pid);

/*
 * Requests one report (WAKEGOV_RECORD_FULL_CACHE) for each of these caches, as bits: when a task of
 * the group had to wait there while the cache was full.
 */
void tracer_watch_caches(struct tracer *tracer, uint32_t group, uint64_t caches);

/*
 * Tasks with an idle latency, and whether they work: check_idle_latency() in bpf/cpu.bpf.h.
 * POLICY_IDLE_LATENCY_NONE stands for no limit.
 */

/* Sets one task's. While no task has one, switches skip the check. */
void tracer_set_idle_latency(struct tracer *tracer, uint32_t pid, uint32_t us);
/* Removes those of all tasks. */
void tracer_clear_idle_latencies(struct tracer *tracer);

/* Sets the held latency; WAKEGOV_RECORD_IDLE_LATENCY is emitted once for a task with less. */
void tracer_set_held_idle_latency(struct tracer *tracer, uint32_t us);
/* The lowest of the tasks that run now or have run since the last call. */
uint32_t tracer_pop_idle_latency(struct tracer *tracer);

/*
 * Reads the totals of the task behind handle, or its end. Returns 0, or -ENOENT when the slot is
 * free.
 */
int tracer_read_task(struct tracer *tracer, uint32_t handle, uint64_t now_ns, struct input *ret);
/*
 * From now on WAKEGOV_RECORD_TASK reports once that the task has done no I/O for hold_ns; until
 * then its samples have `watched` set. hold_ns 0 ends this. If the kernel side cannot watch the
 * task, `watched` stays clear.
 */
void tracer_watch_hold(struct tracer *tracer, uint32_t handle, uint64_t hold_ns);
/* Stops following the task, until its rate reaches the threshold again. */
void tracer_release_task(struct tracer *tracer, uint32_t handle);

/*
 * Begins or ends a learning period, in which a program sees the start of each block request: its
 * device, and the bytes of a task's requests. Outside of learning periods, most requests are known
 * only by the bytes that the kernel accounts to tasks, and totals that need more stand still. A
 * call without a change costs nothing.
 */
void tracer_learn(struct tracer *tracer, bool learn);

/*
 * Detaches all programs, so that the machine's work is as fast as without wakegov. After
 * tracer_resume(), the pause counts neither as work of CPUs nor as waits of tasks; tasks with a
 * slot are still followed, and those that exited are reported. The caller then scans all tasks for
 * the rules and sets frequencies. Nothing is learnt until tracer_learn().
 */
void tracer_pause(struct tracer *tracer);
void tracer_resume(struct tracer *tracer); /* does nothing unless paused */
bool tracer_is_paused(const struct tracer *tracer);

/*
 * Whether ticks alone can be traced: no rule, clamp class, placement or own clamp of a task needs
 * switches.
 */
bool tracer_may_trace_only_ticks(const struct tracer *tracer);

/*
 * Counts the ticks that met a task since the last call. tracer_tick_share() is then the share of
 * that time in which the CPU worked, in 1024ths, exact to two ticks; or while all is traced, its
 * utilisation as such a share.
 */
void tracer_count_ticks(struct tracer *tracer, uint64_t now_ns);
uint32_t tracer_tick_share(const struct tracer *tracer, uint32_t cpu);

/*
 * Traces only ticks, and the creation, exit and moves of tasks: nothing runs at switches, wake-ups,
 * interrupts and requests. Meanwhile a CPU that has worked counts as still working. When all is
 * traced again, its utilisation is that of the last tracer_count_ticks(). A call without a change
 * costs nothing. Nothing is learnt until tracer_learn().
 */
void tracer_trace_only_ticks(struct tracer *tracer, bool only);
bool tracer_only_ticks(const struct tracer *tracer); /* whether it is so */
/*
 * Whether no tick met a task in one of the domains for a while; this is reported once until
 * tracer_watch_ticks(). And whether one did on a CPU.
 */
bool tracer_ticks_ended(const struct tracer *tracer);
void tracer_watch_ticks(struct tracer *tracer);
bool tracer_cpu_ticks(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns);

#define TRACER_DISK_SIZE 32

/*
 * Reads the kernel's totals of a block device; 0 if it does not count them. Returns 0, or -ENOENT
 * when there is no such device, or when it is stacked on others, which are counted instead.
 */
int tracer_read_device(struct tracer *tracer, uint32_t index, uint64_t now_ns, struct input *ret);
/* The device's name in /sys/block, also of a stacked one. Returns 0 or -ENOENT. */
int tracer_device_name(const struct tracer *tracer, uint32_t index, char ret[TRACER_DISK_SIZE]);

/* Call this after WAKEGOV_RECORD_DEVICE: finds out from /sys whether the device is stacked. */
void tracer_classify_device(struct tracer *tracer, uint32_t index);
/*
 * Forgets devices that are gone. handler gets WAKEGOV_RECORD_DEVICE_END once for each that
 * tracer_read_device() or tracer_read_task() named; its index is then free. Reads a file per
 * device: call it a few times a second while tasks are followed.
 */
void tracer_check_devices(struct tracer *tracer, tracer_handler_t handler, void *userdata);

/* The changes of tasks that are reported for the rules; without `tasks` none is. */
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
 * Marks or unmarks a task that matches rules: the forks and the exit of a marked task are reported.
 */
void tracer_mark_task(struct tracer *tracer, uint32_t pid, bool matches);

/*
 * Whether the task with this pid whose facts had these `ends` still lives. False may be wrong: the
 * kernel side counts exits for many pids together.
 */
bool tracer_task_lives(const struct tracer *tracer, uint32_t pid, uint32_t ends);

/*
 * Children of matching tasks mostly wait a while before they are reported, and
 * WAKEGOV_RECORD_CHILDREN says that the first one waits. This passes to handler the records in the
 * ring, so that a parent's comes before its child's, and then those of waiting children that began
 * before before_ns: all of them, or, unless pid is 0, the task with that number and the children of
 * that thread or process. Returns when the oldest remaining one began; UINT64_MAX: none waits.
 */
uint64_t tracer_report_children(struct tracer *tracer, uint32_t pid, uint64_t before_ns,
				tracer_handler_t handler, void *userdata);

/*
 * Passes every thread of the machine, except exiting ones, to handle. Returns 0, or a negative
 * errno: -EOPNOTSUPP where the kernel has no iterator over tasks.
 */
int tracer_scan_tasks(struct tracer *tracer, facts_handler_t handle, void *userdata);
/* The same for the threads of one process. */
int tracer_scan_process(struct tracer *tracer, uint32_t tgid, facts_handler_t handle,
			void *userdata);

/*
 * The facts of one thread, from the same iterator. Returns -ESRCH, with *ret untouched, when there
 * is no such thread.
 */
int tracer_find_task(struct tracer *tracer, uint32_t pid, struct task_facts *ret);

/* The program of a process: as recorded at its exec or, for an earlier exec, by a scan. */
void tracer_read_process(struct tracer *tracer, uint32_t tgid, struct process_facts *ret);

enum tracer_program_state {
	TRACER_ATTACHED,
	TRACER_NOT_NEEDED, /* attached only while there is something to learn, or tasks have
			    * clamps */
	TRACER_PAUSED,	   /* tracer_pause() */
	TRACER_UNUSED,	   /* another program replaces it */
	TRACER_MISSING,	   /* this kernel has no such tracepoint, or allows no program there */
	TRACER_FAILED,
};

struct tracer_program {
	const char *name;
	enum tracer_program_state state;
	int error; /* negative errno of TRACER_FAILED */
	uint64_t events;
};

/* Describes the i-th program. Returns false past the last. */
bool tracer_program(const struct tracer *tracer, uint32_t i, struct tracer_program *ret);

struct tracer_drops {
	uint64_t ring;	    /* records lost because the ring buffer was full */
	uint64_t slots;	    /* tasks for which there was no slot */
	uint64_t devices;   /* requests to devices beyond the limits per machine and per task */
	uint64_t missed;    /* program runs that the kernel skipped: recursion */
	uint64_t processes; /* how often a process found no place for its program */
	uint64_t threads;   /* how often a task got no storage: tracer_limit_storage() */
	uint64_t chains;    /* ticks that met a task without a place in chains */
};

void tracer_drops(const struct tracer *tracer, struct tracer_drops *ret);
/* Increases when a change of a task may have gone unreported: tracer_scan_tasks() finds it. */
uint64_t tracer_lost_changes(struct tracer *tracer);

/* devices.c: a disk's attributes in /sys/block. */

/*
 * Whether the disk exists and still has this sequence number, which changes with the disk and the
 * medium.
 */
bool disk_is_there(const char *name, uint64_t seq);

enum disk_direction { DISK_READS, DISK_WRITES, DISK_DIRECTIONS };

/* The kernel's totals of a disk's reads or writes. */
struct disk_requests {
	uint64_t done;
	uint64_t time_ns; /* the sum of their durations, in steps of 1 ms */
};

struct disk_totals {
	struct disk_requests of[DISK_DIRECTIONS];
	uint32_t in_flight; /* now */
};

/*
 * Returns 0, -ENODATA where the kernel does not count (queue/iostats is 0), or another negative
 * errno.
 */
int disk_read_totals(const char *name, struct disk_totals *ret);

/* load_error.c */

/*
 * Why BPF programs could not be loaded, and what to do: a static sentence for a negative errno of
 * libbpf. NULL: for an unusual reason.
 */
const char *load_error_words(int error);

/* The same from the machine's files alone; NULL: no setting forbids it. */
const char *load_error_settings(void);
