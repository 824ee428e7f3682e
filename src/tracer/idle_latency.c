// SPDX-License-Identifier: GPL-2.0-only
/* Passes the tasks' idle latencies to the kernel side, and reads which of these tasks work. */
#include "tracer/idle_latency.h"

#include <bpf/bpf.h>

#include "tracer/tracer_private.h"

_Static_assert(POLICY_IDLE_LATENCY_NONE == WAKEGOV_IDLE_ANY, "no limit");

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
