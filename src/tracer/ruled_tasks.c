// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the daemon tells the kernel side of tasks with rules, and reads of them: their clamp classes
 * and when these ran, the groups and caches of placed tasks, and idle latencies.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/placement.h"
#include "tracer/tracer_private.h"

_Static_assert((int)CLAMP_CLASSES_MAX == WAKEGOV_CLAMP_CLASSES, "clamp classes");
_Static_assert((int)PLACEMENT_CACHES_MAX == WAKEGOV_CACHES, "caches");
_Static_assert((int)PLACEMENT_GROUPS_MAX == WAKEGOV_PLACED_GROUPS, "groups");
_Static_assert(PLACEMENT_NO_CACHE == WAKEGOV_NO_CACHE, "no cache");
_Static_assert(POLICY_IDLE_LATENCY_NONE == WAKEGOV_IDLE_ANY, "no limit");

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

void tracer_set_cpu_cache(struct tracer *tracer, uint32_t cpu, uint32_t cache)
{
	tracer->cpus[cpu].cache = cache;
}

void tracer_set_cache_size(struct tracer *tracer, uint32_t cache, uint32_t n_cpus)
{
	tracer->caches[cache].n_cpus = n_cpus;
}

void tracer_place(struct tracer *tracer, bool placing)
{
	volatile struct wakegov_settings *settings = &tracer->programs.bss->settings;

	if (placing == settings->placing)
		return;
	if (placing) {
		for (uint32_t cache = 0; cache < WAKEGOV_CACHES; cache++)
			tracer->caches[cache].n_busy = 0;
		settings->placing_generation++;
	}
	settings->placing = placing;
	tracer_attach_needed(tracer);
}

int tracer_place_task(struct tracer *tracer, uint32_t pid, uint32_t group)
{
	const struct wakegov_placed placed = { .group = group };
	int fd = tracer->programs.maps[MAP_PLACED];
	struct wakegov_placed known;

	/* The kernel side has already added and counted a child. */
	if (bpf_map_lookup_elem(fd, &pid, &known) == 0 && known.group == group)
		return 0;
	return bpf_map_update_elem(fd, &pid, &placed, BPF_ANY) < 0 ? -errno : 0;
}

void tracer_unplace_task(struct tracer *tracer, uint32_t pid)
{
	bpf_map_delete_elem(tracer->programs.maps[MAP_PLACED], &pid);
}

void tracer_watch_caches(struct tracer *tracer, uint32_t group, uint64_t caches)
{
	__atomic_store_n(&tracer->programs.bss->placed_watched[group], caches, __ATOMIC_RELAXED);
}

static int map_fd(const struct tracer *tracer)
{
	return tracer->programs.maps[MAP_IDLE_LATENCIES];
}

static void count_tasks(struct tracer *tracer)
{
	uint32_t first;

	tracer->programs.bss->settings.idle_latencies = bpf_map_get_next_key(map_fd(tracer), NULL,
									     &first) == 0;
}

void tracer_set_idle_latency(struct tracer *tracer, uint32_t pid, uint32_t us)
{
	if (us == POLICY_IDLE_LATENCY_NONE)
		bpf_map_delete_elem(map_fd(tracer), &pid);
	else
		bpf_map_update_elem(map_fd(tracer), &pid, &us, BPF_ANY);
	count_tasks(tracer);
}

void tracer_clear_idle_latencies(struct tracer *tracer)
{
	uint32_t pid;

	while (bpf_map_get_next_key(map_fd(tracer), NULL, &pid) == 0)
		bpf_map_delete_elem(map_fd(tracer), &pid);
	count_tasks(tracer);
}

void tracer_set_held_idle_latency(struct tracer *tracer, uint32_t us)
{
	__atomic_store_n(&tracer->programs.bss->idle_held_us, us, __ATOMIC_RELAXED);
}

/* A task that has run all the time has no switch: look it up. */
uint32_t tracer_pop_idle_latency(struct tracer *tracer)
{
	uint32_t us = __atomic_exchange_n(&tracer->programs.bss->idle_asked_us, WAKEGOV_IDLE_ANY,
					  __ATOMIC_RELAXED);

	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		uint32_t running = __atomic_load_n(&tracer->cpus[cpu].load.running,
						   __ATOMIC_RELAXED);
		uint32_t its_us;

		if (running && bpf_map_lookup_elem(map_fd(tracer), &running, &its_us) == 0 &&
		    its_us < us)
			us = its_us;
	}
	return us;
}
