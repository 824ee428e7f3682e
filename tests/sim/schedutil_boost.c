// SPDX-License-Identifier: GPL-2.0-only
/* schedutil's io-wait boost: each wake-up doubles it, each evaluation without one halves it. */
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

void schedutil_boost_update(struct schedutil *su, const struct sim *sim, uint32_t cpu,
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

uint32_t schedutil_boost_cap(struct schedutil *su, const struct sim *sim, uint32_t cpu)
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
