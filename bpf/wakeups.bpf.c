// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts how long chosen tasks wait from a wake-up to their first run. An object of its own:
 * src/tracer/wakeups.c loads it for wakegovctl benefit, and the daemon does not have it.
 */
#include "wakegov/wakeups.h"
#include "kernel.h"

/*
 * The tasks of a process, those of all processes of a name, or the children of a process; and all
 * that these tasks start later. Set before the programs are loaded.
 */
const volatile __u32 of_tgid;
const volatile char of_program[16];
const volatile __u32 of_parent;

__u32 n_found; /* tasks that were there already */
__u64 wakeups[WAKEGOV_WAKEUP_BUCKETS];

struct wakeup {
	__u64 woken_ns; /* 0: it has run since */
};

/* A task is chosen when it has one. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wakeup);
} chosen SEC(".maps");

static inline struct wakeup *wakeup_of(struct task_struct *task)
{
	/* Faster than a look-up that fails. */
	if (!task->bpf_storage)
		return NULL;
	return bpf_task_storage_get(&chosen, task, NULL, 0);
}

static inline struct wakeup *choose(struct task_struct *task)
{
	return bpf_task_storage_get(&chosen, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static inline bool is_asked_for(struct task_struct *task)
{
	char program[sizeof(of_program)] = "";

	if ((__u32)task->tgid == of_tgid)
		return true;
	if (!of_program[0])
		return false;
	BPF_CORE_READ_STR_INTO(&program, task, group_leader, comm);
	return !bpf_strncmp(program, sizeof(program), (const char *)of_program);
}

SEC("iter/task")
int find_tasks(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (task && is_asked_for(task) && choose(task))
		n_found++;
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	if (is_asked_for(task))
		choose(task);
	return 0;
}

/* The child is woken up for the first time at once. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct wakeup *wakeup;

	if (!wakeup_of(parent) && (__u32)parent->tgid != of_parent)
		return 0;
	wakeup = choose(child);
	if (wakeup)
		wakeup->woken_ns = bpf_ktime_get_ns();
	return 0;
}

/* From here the time in which an idle CPU wakes up counts too; not so from sched_wakeup. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct wakeup *wakeup = wakeup_of(task);

	if (wakeup)
		wakeup->woken_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct wakeup *left = wakeup_of(prev), *entered = wakeup_of(next);

	/* A task that did not sleep was woken up while it still ran. */
	if (left && (preempt || !prev_state))
		left->woken_ns = 0;
	if (entered && entered->woken_ns) {
		__u32 bucket = wakegov_wakeup_bucket(bpf_ktime_get_ns() - entered->woken_ns);

		if (bucket < WAKEGOV_WAKEUP_BUCKETS)
			__sync_fetch_and_add(&wakeups[bucket], 1);
		entered->woken_ns = 0;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
