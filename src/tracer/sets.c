// SPDX-License-Identifier: GPL-2.0-only
/* Clamp sets: which task is in which, and when tasks of each last ran on a CPU. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/tracer_private.h"

_Static_assert((int)CLAMP_SETS_MAX == WAKEGOV_SETS, "clamp sets");

void tracer_set_sets(struct tracer *tracer, const struct tracer_sets *sets)
{
	volatile struct wakegov_settings *settings = &tracer->programs.skel->bss->settings;

	for (uint32_t i = 0; i < sets->n; i++)
		settings->set_cap[i] = sets->cap[i];
	settings->floored = sets->floored;
	settings->follow_co_runner = sets->co_runners;
	settings->burst_limit_ns = sets->burst_limit_ns;
	settings->n_sets = sets->n > 1 ? sets->n : 0;
	tracer_attach_needed(tracer, !tracer_counts_only(tracer));
}

void tracer_forget_sets(struct tracer *tracer)
{
	tracer->programs.skel->bss->settings.co_runner_generation++;
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		struct wakegov_cpu *shared = &tracer->cpus[cpu];

		shared->capped_set = 0;
		memset(shared->runs, 0, sizeof(shared->runs));
		memset(tracer->seen_runs[cpu], 0, sizeof(tracer->seen_runs[cpu]));
	}
}

/*
 * The kernel side takes the entry away when the task exits, so only one that is there is replaced:
 * the kernel does that for one entry a call.
 */
static void take_set_back(struct tracer *tracer, int fd, uint32_t pid)
{
	const uint32_t none = 0;

	batch_flush(&tracer->sets, fd);
	bpf_map_update_elem(fd, &pid, &none, BPF_EXIST);
	/* It exited before it was told about the last time. */
	if (syscall(SYS_tkill, pid, 0) < 0 && errno == ESRCH)
		bpf_map_delete_elem(fd, &pid);
}

void tracer_set_task_set(struct tracer *tracer, const struct task_set *set)
{
	int fd = bpf_map__fd(tracer->programs.skel->maps.task_sets);

	if (set->set)
		batch_add(&tracer->sets, fd, BATCH_SET, set->pid, set->set);
	else
		take_set_back(tracer, fd, set->pid);
	__atomic_fetch_add(&tracer->programs.skel->bss->ruled_tasks[set->pid % WAKEGOV_RULED],
			   (set->set != 0) - (set->before != 0), __ATOMIC_RELAXED);
}

int tracer_send_task_sets(struct tracer *tracer)
{
	int r = batch_send(&tracer->sets, bpf_map__fd(tracer->programs.skel->maps.task_sets));

	/* Last: from now on it is looked for. */
	__atomic_fetch_add(&tracer->programs.skel->bss->settings.set_generation, 1,
			   __ATOMIC_RELEASE);
	return r;
}

bool tracer_read_set_run(struct tracer *tracer, uint32_t cpu, uint32_t set, uint64_t now_ns,
			 struct input *ret)
{
	const volatile struct wakegov_cpu *shared = &tracer->cpus[cpu];
	const volatile struct wakegov_set_run *run = &shared->runs[set];
	uint64_t *seen_ns = &tracer->seen_runs[cpu][set];
	bool runs = run->ran_ns && shared->load.running && set == shared->met_set &&
		    shared->load.running == shared->met_pid && (set || shared->met_counts);

	if (run->ran_ns == *seen_ns && !runs)
		return false;
	*seen_ns = run->ran_ns;
	*ret = (struct input){
		.now_ns = now_ns,
		.type = INPUT_SET_RUN,
		.set_run = {
			.cpu = cpu,
			.ran_ns = runs ? now_ns : run->ran_ns,
			.long_running_ns = runs && shared->met_counts ? now_ns
									      : run->long_running_ns,
			.ran_pid = run->ran_pid,
			.long_running_pid = run->long_running_pid,
		},
	};
	return true;
}
