// SPDX-License-Identifier: GPL-2.0-only
/* The clamp classes: the class of each task, and when tasks of each class last ran on a CPU. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/tracer_private.h"

_Static_assert((int)CLAMP_CLASSES_MAX == WAKEGOV_CLAMP_CLASSES, "clamp classes");

void tracer_set_classes(struct tracer *tracer, const struct tracer_classes *classes)
{
	volatile struct wakegov_settings *settings = &tracer->programs.bss->settings;

	for (uint32_t i = 0; i < classes->n; i++)
		settings->class_cap[i] = classes->cap[i];
	settings->floored = classes->floored;
	settings->timed = classes->timed;
	settings->follow_co_runner = classes->co_runners;
	settings->burst_limit_ns = classes->burst_limit_ns;
	settings->n_clamp_classes = classes->n > 1 ? classes->n : 0;
	tracer_attach_needed(tracer);
}

void tracer_forget_classes(struct tracer *tracer)
{
	tracer->programs.bss->settings.co_runner_generation++;
	memset(tracer->programs.bss->bursts, 0, sizeof(tracer->programs.bss->bursts));
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		struct wakegov_cpu *shared = &tracer->cpus[cpu];

		shared->capped_class = 0;
		memset(shared->runs, 0, sizeof(shared->runs));
		memset(tracer->seen_runs[cpu], 0, sizeof(tracer->seen_runs[cpu]));
	}
}

int tracer_set_task_class(struct tracer *tracer, const struct task_class *class)
{
	int fd = tracer->programs.maps[MAP_TASK_CLASSES];
	/* The kernel side deletes an exiting task's entry, so class 0 may only replace one. */
	int r = bpf_map_update_elem(fd, &class->pid, &class->class,
				    class->class ? BPF_ANY : BPF_EXIST);

	/* The task had exited before its class was last set. */
	if (!class->class && syscall(SYS_tkill, class->pid, 0) < 0 && errno == ESRCH)
		bpf_map_delete_elem(fd, &class->pid);
	__atomic_fetch_add(&tracer->programs.bss->ruled_tasks[class->pid % WAKEGOV_RULED],
			   (class->class != 0) - (class->before != 0), __ATOMIC_RELAXED);
	return r == -ENOENT ? 0 : r;
}

void tracer_apply_task_classes(struct tracer *tracer)
{
	__atomic_fetch_add(&tracer->programs.bss->settings.class_generation, 1, __ATOMIC_RELEASE);
}

uint64_t tracer_burst_ns(const struct tracer *tracer, uint32_t class)
{
	return tracer->programs.bss->bursts[class].length_ns.value;
}

bool tracer_read_class_run(struct tracer *tracer, uint32_t cpu, uint32_t class, uint64_t now_ns,
			   struct input *ret)
{
	const volatile struct wakegov_cpu *shared = &tracer->cpus[cpu];
	const volatile struct wakegov_class_run *run = &shared->runs[class];
	uint64_t *seen_ns = &tracer->seen_runs[cpu][class];
	bool runs = run->ran_ns && shared->load.running && class == shared->met_class &&
		    shared->load.running == shared->met_pid && (class || shared->met_counts);

	if (run->ran_ns == *seen_ns && !runs)
		return false;
	*seen_ns = run->ran_ns;
	*ret = (struct input){
		.now_ns = now_ns,
		.type = INPUT_CLASS_RUN,
		.class_run = {
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
