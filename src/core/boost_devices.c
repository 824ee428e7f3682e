// SPDX-License-Identifier: GPL-2.0-only
/* The block devices in use: when each is sampled. */
#include <stddef.h>

#include "core/engine_private.h"
#include "shared/time.h"

/*
 * Time between samples for the number of users and the CPU of completions, which are shown and used
 * for advice.
 */
#define LOOK_NS (500 * NS_PER_MS)

static void look_at(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_device *device = &engine->devices[index];

	device->n_users = 0;
	engine_for_each_due(engine, DUE_ON_DEVICE, index, task)
		device->n_users += !io_boost_is_over(&task->io_boost);
	device->next_ns = device->n_users ? now_ns + LOOK_NS : UINT64_MAX;
	if (device->n_users)
		boosts_see_users(engine, index, now_ns);
}

void boosts_look_at_devices(struct engine *engine, uint64_t now_ns)
{
	if (now_ns < engine->devices_next_ns)
		return;
	engine->devices_next_ns = UINT64_MAX;
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		if (engine->devices[i].next_ns <= now_ns)
			look_at(engine, i, now_ns);
		if (engine->devices[i].next_ns < engine->devices_next_ns)
			engine->devices_next_ns = engine->devices[i].next_ns;
	}
}

void boosts_attend_device(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_device *device = &engine->devices[index];

	if (device->next_ns != UINT64_MAX)
		return;
	device->next_ns = now_ns;
	engine->devices_next_ns = now_ns;
}

void boosts_forget_device(struct engine *engine, uint32_t index)
{
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (engine->groups[i].used && engine->groups[i].device == index)
			boosts_forget_group(engine, i);
	io_device_init(&engine->devices[index]);
}
