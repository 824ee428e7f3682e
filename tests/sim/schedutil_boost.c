// SPDX-License-Identifier: GPL-2.0-only
/* The boosts that need only the CPU: mainline's, and the crude one. */
#include "sim/schedutil.h"

#define BOOST_MIN 128
#define BOOST_MAX 1024

/* A boost that was not looked at for a tick is over. */
static bool reset_stale(struct schedutil_cpu *c, const struct sim *sim, bool from_io_wait)
{
	if (sim->now_ns - c->updated_ns <= sim->platform->scheduler.tick_ns)
		return false;
	c->boost = from_io_wait ? BOOST_MIN : 0;
	c->pending = from_io_wait;
	return true;
}

static void mainline_update(struct schedutil *su, struct sim *sim, uint32_t cpu,
			    const struct sim_thread *thread)
{
	struct schedutil_cpu *c = &su->cpus[cpu];

	if (c->boost && reset_stale(c, sim, thread != NULL))
		return;
	if (!thread || c->pending)
		return;
	c->pending = true;
	c->boost = c->boost ? c->boost * 2 : BOOST_MIN;
	if (c->boost > BOOST_MAX)
		c->boost = BOOST_MAX;
}

static uint32_t mainline_cap(struct schedutil *su, struct sim *sim, uint32_t cpu)
{
	struct schedutil_cpu *c = &su->cpus[cpu];
	uint32_t capacity = sim->domains[sim->cpus[cpu].domain].info->capacity;

	if (!c->boost || reset_stale(c, sim, false))
		return 0;
	if (!c->pending) {
		c->boost /= 2;
		if (c->boost < BOOST_MIN)
			c->boost = 0;
	}
	c->pending = false;
	return c->boost * capacity / BOOST_MAX;
}

const struct schedutil_boost schedutil_mainline_boost = {
	.on_update = mainline_update,
	.cap = mainline_cap,
};

static void all_update(struct schedutil *su, struct sim *sim, uint32_t cpu,
		       const struct sim_thread *thread)
{
	if (thread)
		su->cpus[cpu].held_until_ns = sim->now_ns + sim->platform->scheduler.tick_ns;
}

static uint32_t all_cap(struct schedutil *su, struct sim *sim, uint32_t cpu)
{
	return sim->now_ns < su->cpus[cpu].held_until_ns ? BOOST_MAX : 0;
}

const struct schedutil_boost schedutil_boost_all = {
	.on_update = all_update,
	.cap = all_cap,
};
