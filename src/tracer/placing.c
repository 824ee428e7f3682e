// SPDX-License-Identifier: GPL-2.0-only
/* The interface to bpf/placing.bpf.h, which reports where placed tasks wait. */
#include "tracer/placing.h"

#include <bpf/bpf.h>
#include <errno.h>

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
