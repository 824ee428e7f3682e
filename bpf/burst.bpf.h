/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Bursts: the CPU time from a task's wake-up to its next sleep, and with them which caps and floors
 * are at work on a CPU. A task *counts* when a change of frequency would come in time for it: when
 * its present burst, or its mean one, is long. Bursts are taken at full capacity, so that none is
 * long because a cap made the clock slow.
 *
 * Nobody is told of a burst. The CPU keeps when tasks of each clamp class last ran, and says so
 * only when one of a class that the daemon waits for does. Without rules that clamp, nothing is
 * done here.
 */

#include "clamped.bpf.h"

#define MEAN_WEIGHT 8 /* a burst is an eighth of the mean … */
/*
 * … and is worth little more than one that is just long: what counts is that most of them are. One
 * now and then is long because the CPU was taken away, or the task's memory was.
 */
#define MEAN_MOST_16THS 17
#define CO_RUNNER_GAP_NS \
	100000000ULL /* a task that comes and goes is told about as often at most */
#define CO_RUNNER_HOLD_NS 100000000ULL /* others run beside a capped task that ran so long ago */
#define BURSTS_GAP_NS	  100000000ULL /* of each class, the daemon hears as often at most */
#define OWN_GAP_NS	  10000000ULL /* one whose clamps change all the time is told about as often */
#define NO_CAP		  WAKEGOV_CAPACITY_MAX
#define FULL_LEVEL_LOG	  30 /* capacity 1024 · 2^20 */
#define RUN_MOST_NS	  1000000000ULL
/*
 * The daemon hears of bursts that are longer by a 16th, or shorter by three. After a second without
 * a word one is enough, so that what it knows of bursts that do not vary is no further off.
 */
#define BURST_STEPS	 16
#define BURST_STEPS_LESS 3
#define BURSTS_REST_NS	 1000000000ULL

static inline bool may_be_ruled(__u32 pid)
{
	return ruled_tasks[pid % WAKEGOV_RULED];
}

static inline void set_co_runner(struct task_run *run, __u32 pid, __u32 class)
{
	if (!run->co_runner && class)
		__sync_fetch_and_add((__u32 *)&ruled_tasks[pid % WAKEGOV_RULED], 1);
	else if (run->co_runner && !class)
		__sync_fetch_and_add((__u32 *)&ruled_tasks[pid % WAKEGOV_RULED], -1);
	run->co_runner = class;
}

/* The daemon's word is looked for once after each time that it spoke. */
static inline void learn_class(struct task_run *run, __u32 pid)
{
	__u32 *class;

	if (run->generation == settings.set_generation)
		return;
	run->generation = settings.set_generation;
	class = bpf_map_lookup_elem(&task_classes, &pid);
	if (class)
		run->class = *class;
}

static inline struct task_run *find_run(struct task_struct *task)
{
	return has_storage(task) ? bpf_task_storage_get(&task_runs, task, NULL, 0) : NULL;
}

/* Never with a run queue locked: memory may have to be found. */
static inline struct task_run *take_run(struct task_struct *task)
{
	struct task_run *run = bpf_task_storage_get(&task_runs, task, NULL,
						    BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!run)
		return NULL;
	learn_class(run, task->pid);
	if (run->co_runner_generation != settings.co_runner_generation) {
		run->co_runner_generation = settings.co_runner_generation;
		set_co_runner(run, task->pid, 0);
	}
	return run;
}

static inline __u64 min_ns(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/*
 * What the last ran_ns were at full capacity. The frequency may have changed meanwhile; of two
 * changes the last one counts.
 */
static inline __u64 at_full_capacity(const struct wakegov_cpu *cpu, __u64 ran_ns, __u64 now_ns)
{
	__u64 since_ns = now_ns - cpu->level_since_ns, before_ns = 0;

	if (since_ns < ran_ns)
		before_ns = ran_ns - since_ns;
	return ((ran_ns - before_ns) * cpu->load.level_q + before_ns * cpu->level_before_q) >>
	       FULL_LEVEL_LOG;
}

static inline bool is_timed(__u32 class)
{
	return settings.timed >> class % WAKEGOV_CLAMP_CLASSES & 1;
}

/*
 * What the task ran since it was last looked at, at a switch or a tick. However long ago that was,
 * one look makes no burst long, and no mean much longer: the CPU may have been taken away
 * meanwhile, as a virtual machine's is.
 */
static inline void look(struct task_run *run, struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u64 ran_ns = min_ns(now_ns - cpu->met_ns, RUN_MOST_NS);
	__u64 full_ns = at_full_capacity(cpu, ran_ns, now_ns);

	/* Of whom nothing is known yet, real time is enough: it may have much to do. */
	run->full_burst_ns += min_ns(full_ns, cpu->long_burst_ns * 4 / 3);
	run->seen_ns += min_ns(run->mean_ns ? full_ns : ran_ns, cpu->long_burst_ns * 2 / 3);
	run->real_ns += min_ns(ran_ns, settings.burst_limit_ns / 2);
	if (is_timed(run->class))
		run->whole_ns += full_ns;
	cpu->met_ns = now_ns;
}

static inline bool counts(const struct task_run *run, const struct wakegov_cpu *cpu)
{
	return run->seen_ns >= cpu->long_burst_ns || run->mean_ns >= cpu->long_burst_ns ||
	       run->real_ns >= settings.burst_limit_ns;
}

static inline bool has_capped(const struct wakegov_cpu *cpu, __u64 now_ns)
{
	return cpu->capped_class && now_ns < cpu->capped_ns + CO_RUNNER_HOLD_NS;
}

static inline __u32 cap_of(__u32 class)
{
	return settings.class_cap[class % WAKEGOV_CLAMP_CLASSES];
}

static inline void note_capped(struct wakegov_cpu *cpu, __u32 class, __u64 now_ns)
{
	if (cap_of(class) >= NO_CAP)
		return;
	if (!has_capped(cpu, now_ns) || cap_of(class) > cap_of(cpu->capped_class))
		cpu->capped_class = class;
	if (cpu->capped_class == class)
		cpu->capped_ns = now_ns;
}

/* Returns whether the daemon waits for this. */
VERIFIED_ONCE int note_run(struct wakegov_cpu *cpu, __u32 class, __u32 pid, bool is_long,
			   __u64 now_ns)
{
	__u64 bit = 1ULL << class % WAKEGOV_CLAMP_CLASSES;
	struct wakegov_class_run *class_run;

	if (!cpu)
		return false; /* for the verifier: never so */
	class_run = &cpu->runs[class % WAKEGOV_CLAMP_CLASSES];

	cpu->met_pid = pid;
	cpu->met_class = class;
	cpu->met_counts = is_long;
	if (!class && !is_long)
		return false;
	class_run->ran_ns = now_ns;
	class_run->ran_pid = pid;
	if (is_long) {
		class_run->long_running_ns = now_ns;
		class_run->long_running_pid = pid;
	}
	note_capped(cpu, class, now_ns);
	return cpu->armed & WAKEGOV_ARM_CLASSES &&
	       (cpu->watch_ran & bit || (is_long && cpu->watch_long_running & bit));
}

static inline void tell_co_runner(struct task_run *run, struct task_struct *task, __u32 class,
				  __u64 now_ns)
{
	if (!tell_class(WAKEGOV_RECORD_CO_RUNNER, task->thread_info.cpu, task->pid, class))
		return; /* tried again when it wakes up the next time */
	set_co_runner(run, task->pid, class);
	run->told_ns = now_ns;
}

/*
 * Where a task can be told about that gave itself other clamps, or was given some: when it wakes
 * up, and at a tick. The change itself passes no tracepoint.
 */
static inline void look_at_own(struct task_run *run, struct task_struct *task, __u64 now_ns)
{
	__u32 own = own_clamps(task);

	if (own == run->own || now_ns - run->own_told_ns < OWN_GAP_NS ||
	    !(run->class || settings.follow_own))
		return;
	if (!tell_class(WAKEGOV_RECORD_OWN, 0, task->pid, own))
		return;
	run->own = own;
	run->own_told_ns = now_ns;
}

/* Where the ring is full, the next burst tells of it. */
VERIFIED_ONCE int note_burst(__u32 class, __u64 length_ns, __u64 now_ns)
{
	struct wakegov_bursts *of = &bursts[class % WAKEGOV_CLAMP_CLASSES];
	__u64 step_ns = of->told_ns / BURST_STEPS, less_ns, most_ns;

	wakegov_quantile_add(&of->length_ns, length_ns);
	most_ns = of->length_ns.value;
	less_ns = now_ns - of->told_at_ns < BURSTS_REST_NS ? BURST_STEPS_LESS * step_ns : step_ns;
	if (most_ns <= of->told_ns + step_ns && most_ns + less_ns >= of->told_ns)
		return 0;
	if (of->told_ns && now_ns - of->told_at_ns < BURSTS_GAP_NS)
		return 0;
	if (tell_class(WAKEGOV_RECORD_BURSTS, 0, 0, class)) {
		of->told_ns = most_ns;
		of->told_at_ns = now_ns;
	}
	return 0;
}

static inline void end_burst(struct task_run *run, const struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u64 full_ns = min_ns(run->full_burst_ns, MEAN_MOST_16THS * cpu->long_burst_ns / 16);

	if (run->mean_ns)
		run->mean_ns = (run->mean_ns * (MEAN_WEIGHT - 1ULL) + full_ns) / MEAN_WEIGHT;
	else
		run->mean_ns = full_ns;
	if (is_timed(run->class))
		note_burst(run->class, run->whole_ns, now_ns);
	run->full_burst_ns = 0;
	run->whole_ns = 0;
	run->seen_ns = 0;
	run->real_ns = 0;
}

static inline bool judge(struct wakegov_cpu *cpu, struct task_struct *task, struct task_run *run,
			 bool is_long, __u64 now_ns)
{
	if (is_long && run->co_runner)
		tell_co_runner(run, task, 0, now_ns);
	return note_run(cpu, run->class, task->pid, is_long, now_ns);
}

/* The task stops running; true: the daemon waits for what it was. */
static __noinline bool leave_cpu(struct wakegov_cpu *cpu, struct task_struct *task, bool sleeps,
				 __u64 now_ns)
{
	struct task_run *run = find_run(task);
	bool is_long, awaited;

	if (!run)
		return false;
	/* Where only its end shows a burst to be long, no change of frequency comes in time. */
	is_long = counts(run, cpu);
	look(run, cpu, now_ns);
	awaited = judge(cpu, task, run, is_long || (!sleeps && counts(run, cpu)), now_ns);
	if (sleeps)
		end_burst(run, cpu, now_ns);
	return awaited;
}

/* The task begins to run: one that is known to run for long counts at once. */
static __noinline bool enter_cpu(struct wakegov_cpu *cpu, struct task_struct *task, __u64 now_ns)
{
	struct task_run *run;

	if (!(cpu->armed & WAKEGOV_ARM_CLASSES))
		return false;
	run = find_run(task);
	return run && note_run(cpu, run->class, task->pid, counts(run, cpu), now_ns);
}

/* A tick meets whoever runs for long, sooner or later. */
static inline bool meet_task(struct wakegov_cpu *cpu, struct task_struct *task, __u64 now_ns)
{
	struct task_run *run = take_run(task);

	if (!run)
		return false;
	look_at_own(run, task, now_ns);
	look(run, cpu, now_ns);
	return judge(cpu, task, run, counts(run, cpu), now_ns);
}

/* Who wakes up where a capped task runs is to carry its cap while its bursts are short. */
static inline void check_co_runner(struct task_struct *task, struct task_run *run,
				   const struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u32 capped = has_capped(cpu, now_ns) ? cpu->capped_class : 0;

	if (settings.floored >> run->class % WAKEGOV_CLAMP_CLASSES & 1 ||
	    run->mean_ns >= cpu->long_burst_ns || cap_of(run->class) <= cap_of(capped))
		capped = 0;
	if (capped == run->co_runner || now_ns - run->told_ns < CO_RUNNER_GAP_NS)
		return;
	tell_co_runner(run, task, capped, now_ns);
}

/* A wake-up, on the CPU where the task last ran. Those without a clamp class matter beside capped
 * ones. */
static inline void wake_task(struct task_struct *task)
{
	struct wakegov_cpu *cpu;
	struct task_run *run;
	__u64 now_ns;

	if (!settings.n_clamp_classes && !settings.follow_own)
		return;
	cpu = cpu_at(task->thread_info.cpu);
	if (!cpu)
		return;
	if (!may_be_ruled(task->pid) && !(settings.follow_own && has_clamps(task)) &&
	    !(settings.follow_co_runner && has_capped(cpu, cpu->load.switched_ns)))
		return;
	/* The kernel's own deadline and stop tasks have no clamps. */
	if ((__u32)task->tgid == settings.own_tgid || task->prio <= 0)
		return;
	run = take_run(task);
	if (!run)
		return;
	now_ns = bpf_ktime_get_ns();
	look_at_own(run, task, now_ns);
	if (run->co_runner || settings.follow_co_runner)
		check_co_runner(task, run, cpu, now_ns);
}

/* A child has what its parent has, until the daemon knows better. */
static inline void inherit_class(struct task_struct *parent, struct task_struct *child)
{
	struct task_run *from, *to;

	if (!settings.n_clamp_classes)
		return;
	from = may_be_ruled(parent->pid) ? take_run(parent) : find_run(parent);
	if (!from || !(from->class || from->own))
		return;
	to = bpf_task_storage_get(&task_runs, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!to)
		return;
	to->class = from->class;
	to->generation = from->generation;
	to->own = from->own; /* so that it is told when the child has others */
}

static inline void forget_task(struct task_struct *task)
{
	struct task_run *run;
	__u32 pid = task->pid;

	if (!settings.set_generation && !settings.follow_own)
		return;
	bpf_map_delete_elem(&task_classes, &pid);
	run = find_run(task);
	if (!run)
		return;
	if (run->own && settings.follow_own)
		tell_class(WAKEGOV_RECORD_OWN, 1, pid, 0);
	if (run->co_runner)
		tell_co_runner(run, task, 0, bpf_ktime_get_ns());
}
