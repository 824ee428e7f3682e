/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A burst is a task's CPU time from its wake-up to its next sleep. Bursts decide which caps and
 * floors hold on a CPU. A task is long-running when its present burst or its mean burst is long:
 * only then does a change of frequency come in time for it. Bursts are scaled to full capacity, so
 * that a slow clock under a cap makes no burst long. A real-time task always counts as
 * long-running, so that the caps of others do not bound it.
 *
 * No event is emitted per burst. Each CPU records when tasks of each clamp class last ran, and
 * emits an event only for a class that the daemon waits for. Without rules that clamp, none of this
 * runs.
 */

#include "clamped.bpf.h"

#define MEAN_WEIGHT 8 /* a new burst has an eighth of the weight in the mean … */
/*
 * … and is cut to little more than a long burst, so that the mean is long only if most bursts are:
 * a single burst can be long because the CPU, or the task's memory, was taken away.
 */
#define MEAN_MOST_16THS	  17ULL
#define CO_RUNNER_GAP_NS  100000000ULL /* a task that comes and goes is reported no more often */
#define CO_RUNNER_HOLD_NS 100000000ULL /* others are co-runners this long after a capped task */
#define BURSTS_GAP_NS	  100000000ULL /* least time between two BURSTS records of a class */
#define OWN_GAP_NS	  10000000ULL  /* least time between two OWN records of a task */
#define NO_CAP		  WAKEGOV_CAPACITY_MAX
#define FULL_LEVEL_LOG	  30 /* capacity 1024 · 2^20 */
#define RUN_MOST_NS	  1000000000ULL
/*
 * A BURSTS record is emitted when bursts get longer by a 16th, or shorter by three 16ths. After a
 * second without a record one 16th is enough in both directions, so the daemon's value of steady
 * bursts is off by a 16th at most.
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

/* Looks the task up once after each change of task_classes by the daemon. */
static inline void learn_class(struct task_run *run, __u32 pid)
{
	__u32 *class;

	if (run->generation == settings.class_generation)
		return;
	run->generation = settings.class_generation;
	class = bpf_map_lookup_elem(&task_classes, &pid);
	if (class)
		run->class = *class;
}

static inline struct task_run *find_run(struct task_struct *task)
{
	return bpf_task_storage_get(&task_runs, task, NULL, 0);
}

extern int LINUX_KERNEL_VERSION __kconfig;

/*
 * Before Linux 6.4 an allocation may wake kswapd or a kworker, and deadlock where the kernel is
 * waking that very thread and holds its locks. Later kernels allocate storage without waking
 * anything, but no type or field says so in each kernel. (libbpf searches modules for a missing
 * type, and the unit lacks the capability for that.)
 */
static inline bool may_add_run(const struct task_struct *task)
{
	return LINUX_KERNEL_VERSION >= KERNEL_VERSION(6, 4, 0) || !(task->flags & PF_KTHREAD);
}

/* Not for use under a run queue's lock: this may allocate memory. */
static inline struct task_run *find_or_add_run(struct task_struct *task)
{
	struct task_run *run = find_or_add_stored(&task_runs, task);

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
 * Scales the last ran_ns to full capacity. After a change of frequency the time is split at the
 * change; of several changes only the last one is known.
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
 * Adds the CPU time since the last switch or tick. Each step is bounded, as a hypervisor may have
 * taken the CPU away: one step alone makes no burst long and no mean much longer.
 */
static inline void add_run_time(struct task_run *run, struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u64 ran_ns = min_ns(now_ns - cpu->met_ns, RUN_MOST_NS);
	__u64 full_ns = at_full_capacity(cpu, ran_ns, now_ns);

	/* A task without a mean is judged by real time: it may have much to do. */
	run->full_burst_ns += min_ns(full_ns, cpu->long_burst_ns * 4ULL / 3);
	run->seen_ns += min_ns(run->mean_ns ? full_ns : ran_ns, cpu->long_burst_ns * 2ULL / 3);
	run->real_ns += min_ns(ran_ns, settings.burst_limit_ns / 2);
	if (is_timed(run->class))
		run->whole_ns += full_ns;
	cpu->met_ns = now_ns;
}

static inline bool is_long_running(const struct task_run *run, const struct task_struct *task,
				   const struct wakegov_cpu *cpu)
{
	return run->seen_ns >= cpu->long_burst_ns || run->mean_ns >= cpu->long_burst_ns ||
	       run->real_ns >= settings.burst_limit_ns || is_realtime(task);
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

/* Records a run of the class. Returns whether the daemon waits for it. */
VERIFIED_ONCE int note_run(struct wakegov_cpu *cpu, __u32 class, __u32 pid, bool is_long,
			   __u64 now_ns)
{
	__u64 bit = 1ULL << class % WAKEGOV_CLAMP_CLASSES;
	struct wakegov_class_run *class_run;

	if (!cpu)
		return false; /* never NULL; the verifier needs the check */
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

static inline void emit_co_runner(struct task_run *run, struct task_struct *task, __u32 class,
				  __u64 now_ns)
{
	if (!emit_class(WAKEGOV_RECORD_CO_RUNNER, settings.co_runner_generation, task->pid, class))
		return; /* its next wake-up tries again */
	set_co_runner(run, task->pid, class);
	run->told_ns = now_ns;
}

/*
 * Whether the daemon has written the cap of the task's class, and yet it is not in force. The task
 * may have set its own clamps, the daemon ours, and the task its own again between two checks. A
 * comparison with the last report misses that.
 */
static inline bool escapes_cap(const struct task_run *run, const struct task_struct *task)
{
	return settings.follow_clamps && run->class && bpf_core_field_exists(task->uclamp) &&
	       task->prio >= 0 &&
	       BPF_CORE_READ_BITFIELD(task, uclamp[1].value) > cap_of(run->class);
}

/*
 * Reports a change of the task's own clamps. sched_setattr(2) passes no tracepoint, so wake-ups and
 * ticks compare.
 */
static inline void report_own_clamps(struct task_run *run, struct task_struct *task, __u64 now_ns)
{
	__u32 own = own_clamps(task);

	if ((own == run->own && !escapes_cap(run, task)) ||
	    now_ns - run->own_told_ns < OWN_GAP_NS || !(run->class || settings.follow_own))
		return;
	if (!emit_class(WAKEGOV_RECORD_OWN, 0, task->pid, own))
		return;
	run->own = own;
	run->own_told_ns = now_ns;
}

/* If the ring buffer is full, the next burst tries again. */
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
	if (emit_class(WAKEGOV_RECORD_BURSTS, 0, 0, class)) {
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
		emit_co_runner(run, task, 0, now_ns);
	return note_run(cpu, run->class, task->pid, is_long, now_ns);
}

/* The task stops running. Returns whether the daemon waits for its class. */
static __noinline bool leave_cpu(struct wakegov_cpu *cpu, struct task_struct *task, bool sleeps,
				 __u64 now_ns)
{
	struct task_run *run = find_run(task);
	bool is_long, awaited;

	if (!run)
		return false;
	learn_class(run, task->pid);
	/*
	 * A burst that turns out long only at its end does not count: no change of frequency comes
	 * in time for it.
	 */
	is_long = is_long_running(run, task, cpu);
	add_run_time(run, cpu, now_ns);
	awaited = judge(cpu, task, run, is_long || (!sleeps && is_long_running(run, task, cpu)),
			now_ns);
	if (sleeps)
		end_burst(run, cpu, now_ns);
	return awaited;
}

/* The task begins to run. A task with a long mean is long-running at once. */
static __noinline bool enter_cpu(struct wakegov_cpu *cpu, struct task_struct *task, __u64 now_ns)
{
	struct task_run *run;

	if (!(cpu->armed & WAKEGOV_ARM_CLASSES))
		return false;
	run = find_run(task);
	if (!run)
		return false;
	learn_class(run, task->pid);
	return note_run(cpu, run->class, task->pid, is_long_running(run, task, cpu), now_ns);
}

/* Called at a tick: a task that runs for long meets one sooner or later. */
static inline bool tick_bursts(struct wakegov_cpu *cpu, struct task_struct *task, __u64 now_ns)
{
	struct task_run *run = find_or_add_run(task);

	if (!run)
		return false;
	report_own_clamps(run, task, now_ns);
	add_run_time(run, cpu, now_ns);
	return judge(cpu, task, run, is_long_running(run, task, cpu), now_ns);
}

/*
 * A short-running task that wakes up where a capped task runs is a co-runner, with that cap too. A
 * kernel thread is never one: its children, sugov:N among them, would inherit the cap.
 */
static inline void check_co_runner(struct task_struct *task, struct task_run *run,
				   const struct wakegov_cpu *cpu, __u64 now_ns)
{
	__u32 capped = has_capped(cpu, now_ns) ? cpu->capped_class : 0;

	if (settings.floored >> run->class % WAKEGOV_CLAMP_CLASSES & 1 ||
	    run->mean_ns >= cpu->long_burst_ns || is_realtime(task) || task->flags & PF_KTHREAD ||
	    cap_of(run->class) <= cap_of(capped))
		capped = 0;
	if (capped == run->co_runner || now_ns - run->told_ns < CO_RUNNER_GAP_NS)
		return;
	emit_co_runner(run, task, capped, now_ns);
}

/*
 * Called at a wake-up; cpu is where the task last ran. Tasks without a clamp class may be
 * co-runners.
 */
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
	if (!may_be_ruled(task->pid) && !(settings.follow_own && own_clamps(task)) &&
	    !(settings.n_clamp_classes && is_realtime(task)) &&
	    !(settings.follow_co_runner && has_capped(cpu, cpu->load.switched_ns)))
		return;
	/* The kernel's own deadline and stop tasks have no clamps. */
	if ((__u32)task->tgid == settings.own_tgid || (task->prio <= 0 && !is_realtime(task)))
		return;
	run = may_add_run(task) ? find_or_add_run(task) : find_run(task);
	if (!run)
		return;
	now_ns = bpf_ktime_get_ns();
	report_own_clamps(run, task, now_ns);
	if (run->co_runner || settings.follow_co_runner)
		check_co_runner(task, run, cpu, now_ns);
}

/* A child inherits its parent's class until the daemon writes another. */
static inline void inherit_class(struct task_struct *parent, struct task_struct *child)
{
	struct task_run *from, *to;

	if (!settings.n_clamp_classes)
		return;
	from = may_be_ruled(parent->pid) ? find_or_add_run(parent) : find_run(parent);
	if (!from || !(from->class || from->own))
		return;
	to = find_or_add_stored(&task_runs, child);
	if (!to)
		return;
	to->class = from->class;
	to->generation = from->generation;
	to->own = from->own; /* a child with other clamps is reported */
}

/*
 * The task ends, or gets another number. An ending task keeps its class, as its work is not over
 * yet.
 */
static __noinline void forget_task(struct task_struct *task, __u32 pid)
{
	struct task_run *run;

	if (!settings.class_generation && !settings.follow_own)
		return;
	bpf_map_delete_elem(&task_classes, &pid);
	run = find_run(task);
	if (!run)
		return;
	if (run->own && settings.follow_own)
		emit_class(WAKEGOV_RECORD_OWN, 1, pid, 0);
	if (run->co_runner)
		emit_class(WAKEGOV_RECORD_CO_RUNNER, settings.co_runner_generation, pid, 0);
	set_co_runner(run, pid, 0);
	if (pid == (__u32)task->pid)
		return;
	run->own = 0;
	run->class = 0;
}
