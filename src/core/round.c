// SPDX-License-Identifier: GPL-2.0-only
/* The round: the same steps for the daemon, the simulator, replay and what-if. */
#include "core/engine_private.h"

/* A CPU that goes idle during a decision makes its domain due again, without an event. */
#define DECISIONS_MOST 4

void engine_sample(struct engine *engine, const struct engine_ops *ops, void *userdata,
		   uint64_t now_ns)
{
	const struct io_task *task = NULL;

	while ((task = engine_next_due(engine, task, now_ns)))
		ops->sample_task(userdata, task, now_ns);
	/* After the tasks, as they name the devices. */
	for (uint32_t i = 0; now_ns >= engine->devices_next_ns && i < INPUT_DEVICES_MAX; i++)
		if (now_ns >= engine->devices[i].next_ns)
			ops->sample_device(userdata, i, now_ns);
	engine_advance(engine, now_ns);
}

static void decide(struct engine *engine, uint32_t domain, const struct engine_ops *ops,
		   void *userdata, uint64_t now_ns)
{
	for (int i = 0; i < DECISIONS_MOST && engine_is_due(engine, domain, now_ns); i++) {
		if (ops->sample_domain)
			ops->sample_domain(userdata, domain, now_ns);
		ops->on_decision(userdata, engine_decide(engine, domain, now_ns));
		if (!ops->now_ns)
			return;
		now_ns = ops->now_ns();
	}
}

static void decide_block(struct engine *engine, uint32_t block, const struct engine_ops *ops,
			 void *userdata, uint64_t now_ns)
{
	uint32_t end = (block + 1) * ENGINE_BLOCK, n = engine->topology->n_domains;

	for (uint32_t domain = block * ENGINE_BLOCK; domain < end && domain < n; domain++)
		if (now_ns >= engine->due_ns[domain])
			decide(engine, domain, ops, userdata, now_ns);
}

void engine_round(struct engine *engine, const struct engine_ops *ops, void *userdata,
		  uint64_t now_ns)
{
	uint32_t handle;

	engine_sample(engine, ops, userdata, now_ns);
	for (uint32_t block = 0; block < engine_count_blocks(engine->topology); block++)
		if (now_ns >= engine->block_due_ns[block])
			decide_block(engine, block, ops, userdata, now_ns);
	while (engine_pop_ended(engine, &handle))
		if (ops->release_task)
			ops->release_task(userdata, handle);
}
