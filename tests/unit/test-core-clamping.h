/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Domains that are driven by clamps, and what comes of it for a task. */

#include "test-core-boosts.h"

static inline void drive(bool clamps)
{
	for (uint32_t i = 0; i < world->topology->n_domains; i++)
		world_apply(&(struct input){
			.now_ns = world->now_ns,
			.type = INPUT_DOMAIN,
			.domain = { .domain = i, .active = true, .driven = true, .clamps = clamps },
		});
}

/* The last of the changes for the task so far. */
static inline void find_last(uint32_t pid, struct task_clamp *ret)
{
	struct task_clamp clamp;

	*ret = (struct task_clamp){ 0 };
	while (engine_pop_clamp(world->engine, &clamp))
		if (clamp.pid == pid)
			*ret = clamp;
}
