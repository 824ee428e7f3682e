/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the two halves of the engine share: what it knows (engine.c), what follows (merge.c). */

#include "core/domain.h"
#include "core/engine.h"

struct cpu {
	uint32_t util_q;
	bool running;
	uint64_t idle_since_ns;
};

struct engine {
	const struct topology *topology;
	struct policy policy;
	struct task_table *tasks;
	struct cpu *cpus;	/* topology->n_cpus */
	struct domain *domains; /* topology->n_domains */
};

/* The domain of a CPU, or NULL when it has none. */
struct domain *engine_domain_of(const struct engine *engine, uint32_t cpu);
