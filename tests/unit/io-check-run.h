/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One check, driven by hand: a device, and the looks that the check asks for. */

#include "test-core.h"

#include "core/io_check.h"

#define LOOK_NS	  (10 * NS_PER_MS)
#define SETTLE_NS (5 * NS_PER_MS)
#define START_NS  (1000 * NS_PER_S)

/* A device that completes rate_per_s without the boost and boosted_per_s with it. */
struct run {
	struct io_check check;
	struct policy_io_boost policy;
	uint64_t now_ns;
	uint64_t count;
	uint32_t rate_per_s;
	uint32_t boosted_per_s;
	uint32_t predicted_ppm;
	uint32_t swing_percent; /* up and down by so much, by turns */
	uint32_t looks;
};

static inline struct run begin(uint32_t rate_per_s, uint32_t boosted_per_s, uint32_t predicted_ppm)
{
	struct run run = {
		.now_ns = START_NS,
		.rate_per_s = rate_per_s,
		.boosted_per_s = boosted_per_s,
		.predicted_ppm = predicted_ppm,
	};
	struct policy policy;

	policy_init(&policy);
	run.policy = policy.io_boost;
	io_check_init(&run.check);
	io_check_begin(&run.check, run.now_ns);
	return run;
}

/* One look, when the check wants it; true when its state changed. */
static inline bool look(struct run *run)
{
	uint64_t next_ns = io_check_next_ns(&run->check, &run->policy, run->now_ns);
	enum io_check_state before = run->check.state;
	uint32_t rate_per_s = io_check_grants(&run->check) ? run->boosted_per_s : run->rate_per_s;
	bool changed;

	rate_per_s = rate_per_s *
		     (run->looks++ % 2 ? 100 + run->swing_percent : 100 - run->swing_percent) / 100;
	assert_true(next_ns > run->now_ns);
	if (next_ns == UINT64_MAX)
		next_ns = run->now_ns + LOOK_NS;
	run->count += (next_ns - run->now_ns) * rate_per_s / NS_PER_S;
	run->now_ns = next_ns;
	changed = io_check_update(&run->check, &run->policy, run->count, run->predicted_ppm,
				  run->now_ns);
	/* A result that is over ends in a baseline, which may go to no other state at once. */
	if (before < IO_CHECK_PAID)
		assert_int_equal(changed, run->check.state != before);
	return run->check.state != before;
}

/* Looks until the state is another, and returns for how long. */
static inline uint64_t look_until_changed(struct run *run, enum io_check_state expected)
{
	uint64_t start_ns = run->now_ns;

	while (!look(run))
		assert_true(run->now_ns - start_ns < 100 * NS_PER_S);
	assert_int_equal(run->check.state, expected);
	return run->now_ns - start_ns;
}
