// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/placing.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "tracer/tracer_private.h"

_Static_assert((int)PLACEMENT_CACHES_MAX == WAKEGOV_CACHES, "caches");
_Static_assert((int)PLACEMENT_GROUPS_MAX == WAKEGOV_PLACED_GROUPS, "groups");
_Static_assert(PLACEMENT_NO_CACHE == WAKEGOV_NO_CACHE, "no cache");

void tracer_set_cpu_cache(struct tracer *tracer, uint32_t cpu, uint32_t cache)
{
	tracer->cpus[cpu].cache = cache;
}

void tracer_set_cache_size(struct tracer *tracer, uint32_t cache, uint32_t n_cpus)
{
	tracer->caches[cache].n_cpus = n_cpus;
}

void tracer_place(struct tracer *tracer, bool placing, uint64_t full_limit_ns)
{
	volatile struct wakegov_settings *settings = &tracer->programs.bss->settings;

	if (placing == settings->placing)
		return;
	settings->full_limit_ns = full_limit_ns;
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

	/* The kernel side has added a child itself, and counts it. */
	if (bpf_map_lookup_elem(fd, &pid, &known) == 0 && known.group == group)
		return 0;
	return bpf_map_update_elem(fd, &pid, &placed, BPF_ANY) < 0 ? -errno : 0;
}

void tracer_unplace_task(struct tracer *tracer, uint32_t pid)
{
	bpf_map_delete_elem(tracer->programs.maps[MAP_PLACED], &pid);
}

void tracer_clear_group(struct tracer *tracer, uint32_t group)
{
	memset(&tracer->groups[group], 0, sizeof(tracer->groups[group]));
}

void tracer_watch_group(struct tracer *tracer, uint32_t group, uint64_t caches, bool wakes)
{
	__atomic_store_n(&tracer->groups[group].watch, caches, __ATOMIC_RELAXED);
	__atomic_store_n(&tracer->groups[group].watch_wake, wakes, __ATOMIC_RELAXED);
}

void tracer_read_group(const struct tracer *tracer, uint32_t group, struct placement_counts *ret)
{
	const struct wakegov_placed_group *shared = &tracer->groups[group];

	ret->run_ns = shared->run_ns;
	ret->wait_ns = shared->wait_ns;
	ret->work = shared->work;
	memcpy(ret->latencies, shared->latencies, sizeof(ret->latencies));
}

uint64_t tracer_cache_busy_ns(const struct tracer *tracer, uint32_t cache, uint64_t now_ns)
{
	uint32_t generation = tracer->programs.bss->settings.placing_generation;
	uint64_t busy_ns = 0, since_ns;

	for (uint32_t i = 0; i < tracer->topology->n_cpus; i++) {
		const volatile struct wakegov_cpu *cpu = &tracer->cpus[i];

		if (cpu->cache != cache || cpu->placing_generation != generation)
			continue;
		since_ns = cpu->busy_since_ns;
		busy_ns += cpu->busy_ns;
		if (since_ns && since_ns < now_ns)
			busy_ns += now_ns - since_ns;
	}
	return busy_ns;
}
