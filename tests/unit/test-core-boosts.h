/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the tests of the I/O boost share: two domains of two CPUs, and kinds of tasks. */

#include "test-core-world.h"

#include "config/keys.h"
#include "core/io_model.h"

#define LOWEST_KHZ  800000
#define HIGHEST_KHZ 2400000

/* device_us of the device and host_us of the host, at the highest level of all. */
static inline struct fake_io boosts_sync_io(uint32_t device, uint64_t device_us, uint64_t host_us)
{
	return (struct fake_io){
		.kind = FAKE_IO_SYNC,
		.device = device,
		.device_ns = device_us * NS_PER_US,
		.work = host_us * NS_PER_US * IO_LEVEL_MAX,
	};
}

/* 90 µs of the device, 10 µs of the host: at 2 GHz 102 µs, at 2.2 GHz 100.9. */
#define TENTH                                           \
	((struct fake_io){ .kind = FAKE_IO_SYNC,        \
			   .device_ns = 90 * NS_PER_US, \
			   .work = 10 * NS_PER_US * IO_LEVEL_MAX })

static inline struct fake_io boosts_io(enum fake_io_kind kind, uint32_t device, uint64_t device_us,
				       uint64_t host_us)
{
	struct fake_io io = boosts_sync_io(device, device_us, host_us);

	io.kind = kind;
	return io;
}

static inline void boosts_start(const struct policy *policy)
{
	struct policy usual;

	policy_init(&usual);
	world_init(test_topology_usual(2, 2), policy ? policy : &usual);
	world_round();
	/* Past the rate limit. */
	world_run_until(world->now_ns + 10 * NS_PER_MS);
}

/* A test that begins there. */
#define BOOSTS_TEST(name) WORLD_TEST(name, boosts_set_up)

static inline int boosts_set_up(void **state)
{
	boosts_start(NULL);
	return 0;
}

static inline void boosts_run(uint64_t ns)
{
	world_run_until(world->now_ns + ns);
}

static inline void boosts_assert_target(uint32_t domain, uint32_t khz, enum reason reason)
{
	assert_int_equal(world_last(domain)->target_khz, khz);
	assert_string_equal(reason_names[world_last(domain)->reason], reason_names[reason]);
}

static inline void boosts_assert_state(uint32_t task, enum io_boost_state state)
{
	const struct io_task *t = world_task(task);

	assert_non_null(t);
	assert_string_equal(io_boost_state_names[t->io_boost.state], io_boost_state_names[state]);
}

/* Goes on until the task is in that state, for at most as long; returns how long it took. */
static inline uint64_t boosts_run_to(uint32_t task, enum io_boost_state state, uint64_t most_ns)
{
	uint64_t start_ns = world->now_ns;

	while (world->now_ns < start_ns + most_ns &&
	       !(world_task(task) && world_task(task)->io_boost.state == state))
		boosts_run(NS_PER_MS);
	boosts_assert_state(task, state);
	return world->now_ns - start_ns;
}

/* A task whose boost pays; for what comes after. */
static inline void boosts_start_paying(uint32_t task, uint32_t cpu, const struct fake_io *io)
{
	world_start_io(task, 100 + task, cpu, io);
	boosts_run_to(task, IO_BOOST_PAYS, 2 * NS_PER_S);
}

static inline const struct io_group *boosts_group(uint32_t task)
{
	const struct io_group *group = engine_group(world->engine,
						    world_task(task)->io_boost.group);

	assert_non_null(group);
	return group;
}

static inline const struct io_device *boosts_device(uint32_t device)
{
	return engine_device(world->engine, device);
}
