// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/idle_latency.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "tracer/tracer_private.h"

_Static_assert(POLICY_IDLE_LATENCY_NONE == WAKEGOV_IDLE_ANY, "no limit");

static int map_fd(const struct tracer *tracer)
{
	return tracer->programs.maps[MAP_IDLE_LATENCIES];
}

void tracer_follow_idle_latencies(struct tracer *tracer, bool follow)
{
	tracer->programs.bss->settings.idle_latencies = follow;
}

int tracer_set_idle_latency(struct tracer *tracer, uint32_t pid, uint32_t us)
{
	int r = us == POLICY_IDLE_LATENCY_NONE
			? bpf_map_delete_elem(map_fd(tracer), &pid)
			: bpf_map_update_elem(map_fd(tracer), &pid, &us, BPF_ANY);

	return r < 0 ? -errno : 0;
}

void tracer_set_idle_limit(struct tracer *tracer, uint32_t cpu, uint32_t us)
{
	__atomic_store_n(&tracer->cpus[cpu].idle_limit_us, us, __ATOMIC_RELAXED);
}

/* A task that has run all the time did not begin to: it is looked up. */
uint32_t tracer_pop_idle_latency(struct tracer *tracer, uint32_t cpu, uint32_t *ret_pid)
{
	struct wakegov_cpu *shared = &tracer->cpus[cpu];
	uint32_t us = __atomic_exchange_n(&shared->idle_seen_us, WAKEGOV_IDLE_ANY,
					  __ATOMIC_RELAXED);
	uint32_t running = __atomic_load_n(&shared->load.running, __ATOMIC_RELAXED), running_us;

	*ret_pid = shared->idle_seen_pid;
	if (running && bpf_map_lookup_elem(map_fd(tracer), &running, &running_us) == 0 &&
	    running_us < us) {
		*ret_pid = running;
		us = running_us;
	}
	return us;
}
