// SPDX-License-Identifier: GPL-2.0-only
/* The event queue and the random numbers. */
#include <math.h>

#include "test-sim.h"

#include "sim/event_queue.h"
#include "sim/rng.h"

TEST(test_order)
{
	struct sim_events events = {};
	struct sim_event event, last = {};
	struct sim_rng rng;
	int n = 0;

	sim_rng_init(&rng, 7, 0);
	for (uint32_t i = 0; i < 5000; i++) {
		event = (struct sim_event){ .at_ns = sim_rng_below(&rng, 500), .index = i };
		assert_int_equal(sim_events_add(&events, event), 0);
	}
	while (sim_events_take(&events, &event)) {
		assert_true(event.at_ns >= last.at_ns);
		/* Equal times: first in, first out. */
		if (n && event.at_ns == last.at_ns)
			assert_true(event.index > last.index);
		last = event;
		n++;
	}
	assert_int_equal(n, 5000);
	sim_events_deinit(&events);
}

/* From the authors' reference implementation. */
TEST(test_rng_values)
{
	struct sim_rng rng = { .state = 1234567 };

	assert_true(sim_rng_next(&rng) == 6457827717110365317U);
	assert_true(sim_rng_next(&rng) == 3203168211198807973U);
	assert_true(sim_rng_next(&rng) == 9817491932198370423U);
}

TEST(test_rng_around)
{
	static const uint32_t permille[] = { 0, 100, 300, 500 };

	for (size_t i = 0; i < 4; i++) {
		double sum = 0, squares = 0, mean, variation;
		struct sim_rng rng;
		int n = 200000;

		sim_rng_init(&rng, 3, i);
		for (int j = 0; j < n; j++) {
			double value = sim_rng_around(&rng, 100000, permille[i]);

			sum += value;
			squares += value * value;
		}
		mean = sum / n;
		variation = sqrt(squares / n - mean * mean) / mean * 1000;
		assert_true(fabs(mean - 100000) < 500);
		/* At 50 % the end at 0 is felt. */
		assert_true(fabs(variation - permille[i]) < 10);
	}
}
